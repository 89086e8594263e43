#!/usr/bin/env bash
# The check of the include graph refuses an include upwards or sideways, an internal
# header in the program, CUB outside cuda_sort*, modules that include each other in a
# circle, which it names, and a type that is defined in two files.
# Usage: layers_refused.sh <cmake>
set -eu
cmake=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# expect <passes|fails> <file> <include line> [<file> <include line>]...
expect() {
    expected=$1
    shift
    tree=$*
    rm -rf "$folder/tree"
    while [ $# -gt 0 ]; do
        mkdir -p "$folder/tree/$(dirname "$1")"
        printf '%s\n' "$2" >"$folder/tree/$1"
        shift 2
    done
    outcome=fails
    if "$cmake" -D ROOT="$folder/tree" -P "$HYBRID_SOURCE/tests/tree/layers.cmake" \
        >"$folder/log" 2>&1; then
        outcome=passes
    fi
    if [ "$outcome" != "$expected" ]; then
        echo "a tree of $tree $outcome:"
        cat "$folder/log"
        exit 1
    fi
}

# circle <names>: checks that the last tree was refused for a circle of these modules.
circle() {
    if ! grep -q "include each other in a circle: $1 " <<<"$(tr -s ' \n' ' ' <"$folder/log")"; then
        echo "a tree of $tree is not refused for a circle of $1:"
        cat "$folder/log"
        exit 1
    fi
}

expect passes engine/a.c '#include "pipeline/run/run.h"'
expect passes cli/a.c '#include "hybrid_spmm.h"'
expect passes cli/a.c '#include "own.h"'
expect passes gpu/backend/cuda_sort.cu '#include <cub/cub.cuh>'
expect fails base/a.c '#include "engine/plan/plan.h"'
expect fails pipeline/a.c '#include "gpu/backend/cuda_lane.cuh"'
expect fails cli/a.c '#  include "base/data/csr.h"'
expect fails gpu/a.cu '#include <cub/cub.cuh>'

# A header includes another, whose source file includes the first: a circle of modules,
# but not of files.
expect passes engine/a.h '#include "engine/b.h"' engine/b.c '#include "engine/b.h"'
expect fails engine/a.h '#include "engine/b.h"' engine/b.c '#include "engine/a.h"'
circle 'a, b'
expect fails engine/a.c '#include "engine/b.h"' engine/b.h '#include "c.h"' \
    engine/c.c '#include "engine/a.h"' engine/d.c '#include "engine/a.h"' \
    engine/b.c '#include "engine/e.h"' engine/e.h '#include "base/data/csr.h"'
circle 'a, b, c'
expect fails pipeline/a.c '#include "pipeline/b.h"' pipeline/b.c '#include "pipeline/a.h"'
circle 'a, b'
for folder_of_two in base partition gpu cli; do
    expect fails $folder_of_two/room/a.cu "#include \"$folder_of_two/room/b.cuh\"" \
        $folder_of_two/b.cuh "#include \"$folder_of_two/a.cuh\""
    circle '\(a, b\|b, a\)'
done

# A type has one name, whether a struct, an enum or a typedef; declaring it is no definition.
expect passes base/a.h 'typedef struct hy_a hy_a;' base/b.c 'struct hy_a {'
expect passes gpu/a.cu 'struct hy_mark {' host/a.c 'struct hy_mark {'
expect fails base/a.h 'typedef struct hy_a {' io/b.c 'typedef enum hy_a {'
expect fails base/a.h '} hy_a;' gpu/b.cuh 'struct hy_a {'
expect fails base/a.h 'typedef hybrid_status (*hy_a)(void *arg, int part);' io/b.h 'typedef int hy_a;'
