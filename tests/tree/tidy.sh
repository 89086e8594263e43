#!/usr/bin/env bash
# Runs clang-tidy on the C sources of the library and the program, with the checks of
# .clang-tidy. A tree configured for gcc has flags that clang does not know: one is left out of
# the commands, and clang is told not to warn about the others.
# Usage: tidy.sh [<option of clang-tidy>...]
set -uo pipefail
command -v clang-tidy >/dev/null || exit 77
cd "$HYBRID_SOURCE" || exit 1
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed 's/ -fno-tree-loop-distribute-patterns//' "$HYBRID_BUILD/compile_commands.json" \
    >"$commands/compile_commands.json"
find base partition host pipeline engine io cli -name '*.c' -print0 |
    xargs -0 -P "$(nproc)" -n 1 clang-tidy -p "$commands" --quiet \
        --extra-arg=-Wno-unknown-warning-option "$@"
