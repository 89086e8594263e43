#!/usr/bin/env bash
# bench/papers/cutespmm.sh OUTDIR [OPTION...] - times the method of cuTeSpMM (spmm.cuda.hrpb) in f32,
# in TF32 and in the paper's form (paper=1) beside the scalar kernels (spmm.cuda.rows and merge), with 32, 128 and 512 columns of
# X, on every matrix of DATA and on generated matrices of each synergy class.
# Writes OUTDIR/cutespmm.{jsonl,md} and the figure cutespmm.svg. Options go to every run of
# hybrid_spmm_bench.
# Environment: BENCH = the program (build/release/bin/hybrid_spmm_bench), PYTHON (python3),
# DATA = folder of NAME.mtx.xz or NAME.mtx, UNPACKED = folder that keeps unpacked matrices for
# other scripts, COMMIT = commit of the build if there is no .git.
set -uo pipefail
. "$(dirname "$0")/common.bash"

find_files
low=(er:200000,8 er:4096,256 rmat:17,8 road:400)
medium=(stencil27:40 stencil27:60 band:200000,1 band:50000,1)
high=(fem3:30 band:200000,4 band:200000,16 band:100000,32)
times() { # VARIANT OPTION...
    timed spmm "${files[@]}" "${low[@]}" "${medium[@]}" "${high[@]}" --variant "spmm.cuda.$1" \
        --mode core --cols 32,128,512 --reps 3 "${@:2}"
}
times rows
times merge
times hrpb --explain
times hrpb --explain --allow-tf32
times hrpb:paper=1 --explain --allow-tf32
finish
