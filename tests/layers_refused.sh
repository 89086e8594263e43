#!/usr/bin/env bash
# The check of the include graph refuses what it should: an include upwards, one sideways,
# an internal header in the program, and CUB outside gpu/cuda_sort*.
# Usage: layers_refused.sh <cmake>
set -eu
cmake=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# expect <passes|fails> <file> <include line>
expect() {
    rm -rf "$folder/tree"
    mkdir -p "$folder/tree/$(dirname "$2")"
    printf '%s\n' "$3" >"$folder/tree/$2"
    outcome=fails
    if "$cmake" -D ROOT="$folder/tree" -P "$HYBRID_SOURCE/tests/layers.cmake" \
        >"$folder/log" 2>&1; then
        outcome=passes
    fi
    if [ "$outcome" != "$1" ]; then
        echo "a file $2 with $3 $outcome:"
        cat "$folder/log"
        exit 1
    fi
}

expect passes engine/a.c '#include "pipeline/run.h"'
expect passes cli/a.c '#include "hybrid_spmm.h"'
expect passes cli/a.c '#include "own.h"'
expect passes gpu/cuda_sort.cu '#include <cub/cub.cuh>'
expect fails base/a.c '#include "engine/plan.h"'
expect fails pipeline/a.c '#include "gpu/cuda_lane.cuh"'
expect fails cli/a.c '#  include "base/csr.h"'
expect fails gpu/a.cu '#include <cub/cub.cuh>'
