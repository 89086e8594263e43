#!/usr/bin/env bash
# Runs clang-tidy on the C sources of the library and the program, with the checks of
# .clang-tidy. A tree configured for gcc has flags that clang does not know.
# Usage: tidy.sh [<option of clang-tidy>...]
set -uo pipefail
command -v clang-tidy >/dev/null || exit 77
cd "$HYBRID_SOURCE" || exit 1
find base partition host pipeline engine io cli -name '*.c' -print0 |
    xargs -0 -P "$(nproc)" -n 1 clang-tidy -p "$HYBRID_BUILD" --quiet \
        --extra-arg=-Wno-unknown-warning-option "$@"
