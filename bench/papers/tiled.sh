#!/usr/bin/env bash
# bench/papers/tiled.sh OUTDIR [OPTION...] - times Tiled SpMM (Hidayetoglu and others) in f32 with
# column-major X and Y of 128 columns, in the paper's form and in ours: before the decision chart,
# after it, and after the sort of rows; then other R; and cuSPARSE in the same order. Each line has
# what the model predicts.
# Writes OUTDIR/tiled.{jsonl,md} and the figures tiled.svg and tiled-cusparse.svg. Options go to
# every run of hybrid_spmm_bench.
# Environment: BENCH = the program (build/release/bin/hybrid_spmm_bench), PYTHON (python3),
# DATA = folder of NAME.mtx.xz or NAME.mtx, UNPACKED = folder that keeps unpacked matrices for
# other scripts, LIMIT = seconds after which no further form is timed (110), COMMIT = commit of the
# build if there is no .git.
set -uo pipefail
. "$(dirname "$0")/common.bash"

# Matrices that stand for those of the paper, by the class of its chart.
even='3dtube bcsstk32 cfd1 pkustk04 wave copter2 DD ex11 delaunay_n16 TF18 lp_nug30 viscorocks rajat16'
uneven='gupta2 mult_dcop_02 circuit_4 cnr-2000 REDDIT-BINARY blogcatalog email-Enron actor-movie'
few='rail507_miplib bcsstk13 zenios'

find_files
problems=("@$here/tiled.txt")
for one in $even $uneven $few; do
    for file in "${files[@]}"; do
        [[ ${file##*/} == "$one.mtx" ]] && problems+=("$file")
    done
done
# Forms, most important first: before the chart, after the chart, after the sort.
forms=(paper=1,segment=off,reorder=off paper=1,reorder=off paper=1
    segment=off,reorder=off reorder=off '' R=16 R=4)
peer=(--peer cusparse) # with the first form only; its times are the same
for form in "${forms[@]}"; do
    if ((SECONDS > ${LIMIT:-110})); then
        echo "tiled.sh: no time left for the form '$form'" >&2
        continue
    fi
    timed spmm "${problems[@]}" --variant "spmm.cuda.tiled${form:+:$form}" --mode core --order col \
        --cols 128 --reps 3 --warmup 0 --explain "${peer[@]}"
    peer=()
done
finish
