#!/usr/bin/env bash
# bench/widths.sh OUTDIR [OPTION...] - times SpMM in core with 1 to 512 columns of X: the planner's
# choice, rows, merge and hrpb. Writes OUTDIR/{planner,rows,merge,hrpb}.jsonl and OUTDIR/widths.md,
# which names widths that are too slow; the exit code is then 1. Other options, such as --type f64
# or --allow-tf32, go to every run of hybrid_spmm_bench.
# Environment: BENCH = the program (build/release/bin/hybrid_spmm_bench), PYTHON (python3),
# PROBLEMS = other problems, separated by spaces, COLS = other widths, separated by commas.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# == 0)) || [[ $1 == -* ]]; then
    sed -n '2,7s/^# //p' "$0" >&2
    exit 2
fi
out=$1
shift
bench=${BENCH:-$here/../build/release/bin/hybrid_spmm_bench}
problems=${PROBLEMS:-stencil27:80 fem3:36 er:1000000,8 rmat:18,8 powerlaw:500000,6,100000}
cols=${COLS:-1,2,3,4,8,9,16,31,32,33,64,100,128,129,256,512}
export XDG_CACHE_HOME=/nonexistent # plans use built-in speeds
commit=$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)

mkdir -p "$out" || exit 1
failed=0
for who in planner rows merge hrpb; do
    variant=(--variant "spmm.cuda.$who")
    [[ $who == planner ]] && variant=()
    echo "== $who"
    # shellcheck disable=SC2086 # problems are words
    "$bench" spmm $problems --backend cuda --mode core --cols "$cols" "${variant[@]}" \
        --commit "$commit" --json "$out/$who.jsonl" "$@" || failed=1
done
"${PYTHON:-python3}" "$here/lib/widths.py" "$out"/{planner,rows,merge,hrpb}.jsonl \
    >"$out/widths.md" || failed=1
cat "$out/widths.md"
exit $failed
