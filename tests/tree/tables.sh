#!/usr/bin/env bash
# Callers ask a table, and not for the kind of an element: the file of a source is read by
# the functions of the source alone.
set -euo pipefail
cd "$HYBRID_SOURCE"

only() { # only <pattern> <files that may contain it> <what to do instead>
    local found
    found=$(grep -rnE "$1" base partition host gpu pipeline engine io cli | grep -vE "^($2):" || true)
    [ -z "$found" ] || {
        printf '%s:\n%s\n' "$3" "$found"
        exit 1
    }
}

only '(\.|->)matrix_file\b' 'partition/move/source_[a-z_]*\.c' \
    'add a function to hy_source_ops, which source.h declares'
