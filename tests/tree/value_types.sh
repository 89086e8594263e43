#!/usr/bin/env bash
# The value types are named in the table and in a few other files, each for a reason:
# everything else follows from base/data/value_type.h, so that adding a type is a small
# change (CONTRIBUTING.md, "A value type").
set -euo pipefail
cd "$HYBRID_SOURCE"
# Files that know each type, and files that use one type for another reason: as a default,
# or as 8 bytes.
allowed="base/data/value_type.c base/data/value_type.h cli/options/types.c
    gpu/papers/hrpb_model.cuh gpu/papers/hrpb_shared.cuh gpu/papers/spmm_cuda_hrpb.cu
    io/text/number_write.c
    cli/operands/operand.c cli/options/types.h io/arrays/dense_read.c
    io/lists/text_options.c io/text/number.h
    pipeline/sink/sink_device.c pipeline/site/lane_set.c"
found=$(grep -rlE 'HYBRID_F(32|64)\b' base partition host gpu pipeline engine io cli | sort)
more=$(comm -13 <(tr -s ' ' '\n' <<<"$allowed" | grep . | sort) - <<<"$found")
[ -z "$more" ] || {
    printf 'take the type from base/data/value_type.h:\n%s\n' "$more"
    exit 1
}
