#!/usr/bin/env bash
# bench/papers/merge.sh OUTDIR [OPTION...] - times row split (spmm.cuda.rows) and merge path
# (spmm.cuda.merge) as Yang, Buluç and Owens (2018) did, in f32:
#   real    every matrix of DATA with 1, 8, 32, 64 and 128 columns of X; cuSPARSE with 64
#   length  dense matrices of 4 M entries, from 2 rows to 2 M rows, with 1 and 64 columns
# With 64 columns the kernels of the paper (paper=1) are timed as well.
# Writes OUTDIR/merge.{jsonl,md} and the figures merge-length.svg and merge-real.svg. Options go to
# every run of hybrid_spmm_bench.
# Environment: BENCH = the program (build/release/bin/hybrid_spmm_bench), PYTHON (python3),
# DATA = folder of NAME.mtx.xz or NAME.mtx, UNPACKED = folder that keeps unpacked matrices for
# other scripts, COMMIT = commit of the build if there is no .git, PROFILE = 1: occupancy and warp
# efficiency for some row lengths, by Nsight Compute (ncu).
set -uo pipefail
. "$(dirname "$0")/common.bash"

find_files
entries=$((1 << 22))
dense=()
for ((rows = 2; rows < entries; rows *= 4)); do
    dense+=("dense:$rows,$((entries / rows))")
done
for variant in rows merge; do
    timed spmm "${files[@]}" --variant spmm.cuda.$variant --mode core --cols 1,8,32,64,128 --reps 5
    timed spmm "${dense[@]}" --variant spmm.cuda.$variant --mode core --cols 1,64 --reps 5
done
for variant in rows merge; do
    timed spmm "${files[@]}" "${dense[@]}" --variant "spmm.cuda.$variant:paper=1" --mode core \
        --cols 64 --reps 5
done
timed spmm "${files[@]}" --variant spmm.cuda.rows --mode core --cols 64 --reps 3 --peer cusparse
timed spmm "${dense[@]}" --variant spmm.cuda.rows --mode core --cols 1,64 --reps 3 --peer cusparse
# The first kernels of both, and cuSPARSE's: how full multiprocessors and warps are
metrics=gpu__time_duration.sum,sm__warps_active.avg.pct_of_peak_sustained_active
metrics+=,smsp__thread_inst_executed_per_inst_executed.ratio
for rows in 2 128 8192 524288; do
    for variant in rows merge; do
        peer=()
        [[ $variant == rows ]] && peer=(--peer cusparse)
        profiled "lanes $variant $rows" $metrics "$bench" spmm "dense:$rows,$((entries / rows))" \
            --backend cuda --variant "spmm.cuda.$variant" --mode core --cols 64 --reps 1 --warmup 0 \
            --no-verify "${peer[@]}"
    done
done
finish
