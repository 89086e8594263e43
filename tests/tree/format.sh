#!/usr/bin/env bash
# Every source file has the format of clang-format 14. Headers have tables that are
# aligned by hand and are not checked.
set -uo pipefail
command -v clang-format >/dev/null || exit 77
case $(clang-format --version) in *"version 14."*) ;; *) exit 77 ;; esac
cd "$HYBRID_SOURCE" || exit 1
find base partition host gpu pipeline engine io cli tests bench examples \
    \( -name '*.c' -o -name '*.cu' -o -name '*.cuh' -o -name '*.inc' \) \
    -exec clang-format --dry-run -Werror {} +
