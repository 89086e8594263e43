#!/usr/bin/env bash
# bench/papers/hyspmm.sh OUTDIR [OPTION...] - measures the table of hySpMM (Wu 2015, section 4): A*A
# with spgemm.cuda.esc_dup (the paper's algorithm), esc (which expands on the GPU, as CUSP does),
# hash, and cuSPARSE, from host arrays to host arrays with transfers included.
# Writes OUTDIR/hyspmm.{jsonl,md}, and hyspmm.svg, the timeline of the paper's pipeline. Options go
# to every run of hybrid_spmm_bench.
# Environment: BENCH = the program (build/release/bin/hybrid_spmm_bench), PYTHON (python3),
# DATA = folder of NAME.mtx.xz or NAME.mtx, from which real matrices of hyspmm.txt are taken,
# UNPACKED = folder that keeps unpacked matrices for other scripts, COMMIT = commit of the build if
# there is no .git, VARIANTS = other variants, separated by spaces, PROFILE = 1: the hit rates of the
# L2 cache in two products, by Nsight Compute (ncu).
set -uo pipefail
. "$(dirname "$0")/common.bash"

problems=()
find_files
while read -r problem _; do
    case $problem in
    '' | '#'*) continue ;;
    *:*) problems+=("$problem") ;;
    *)
        for file in "${files[@]}"; do
            [[ $file == */$problem.mtx ]] && problems+=("$file") && continue 2
        done
        echo "hyspmm.sh: no $problem in $data: left out" >&2
        ;;
    esac
done <"$here/hyspmm.txt"

peer=(--peer cusparse) # with the first variant only; its times are the same
for variant in ${VARIANTS:-spgemm.cuda.esc_dup spgemm.cuda.esc spgemm.cuda.hash}; do
    timed spgemm "${problems[@]}" --variant "$variant" --mode end --reps 5 "${peer[@]}"
    peer=()
done

product=(multiply --backend cuda --type f32)
# Eight chunks show the pipeline: the product as a whole would fit the device.
"$program" "${product[@]}" gen:fem3:42 --variant spgemm.cuda.esc_dup --chunk-rows 28000 \
    --trace "$scratch/trace.json" >>"$out/$name.log" 2>&1 || failed=1

for variant in esc_dup esc; do
    for problem in fem3:30 er:130228,16; do
        profiled "l2 $variant $problem" lts__t_sectors_lookup_hit.sum,lts__t_sectors_lookup_miss.sum \
            "$program" "${product[@]}" "gen:$problem" --variant "spgemm.cuda.$variant"
    done
done
finish
