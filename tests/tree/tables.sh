#!/usr/bin/env bash
# Callers ask a table, and not for the kind of an element: the file of a source is read by
# the functions of the source alone, and a schedule is named by its own file and the table
# alone.
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
schedules=$(sed -n 's/^HY_SCHEDULE(\(.*\))$/\1/p' engine/schedules/schedules.def | paste -sd '|')
[ -n "$schedules" ]
only "\\b($schedules)\\b" 'engine/schedules/schedule(_[a-z_]*\.c|s\.def)' \
    'add a field or a function to hy_schedule, which schedule.h declares'
