#!/usr/bin/env bash
# bench/hyspmm.sh OUTDIR [OPTION...] - measures the table of hySpMM (Wu 2015, section 4): A*A of
# problems of the paper's size with spgemm.cuda.esc_dup (the paper's algorithm), esc, hash, and
# cuSPARSE, from host arrays to host arrays with transfers included. Writes OUTDIR/hyspmm.jsonl
# and OUTDIR/hyspmm.md. Options go to every run of hybrid_spmm_bench.
# Environment: BENCH = the program (build/release/bin/hybrid_spmm_bench), PYTHON (python3),
# DATA = folder of NAME.mtx.xz or NAME.mtx, from which cage10, orsirr_1 and sherman3 are added,
# VARIANTS = other variants, separated by spaces.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# == 0)) || [[ $1 == -* ]]; then
    sed -n '2,9s/^# //p' "$0" >&2
    exit 2
fi
out=$1
shift
bench=${BENCH:-$here/../build/release/bin/hybrid_spmm_bench}
data=${DATA:-${HYBRID_DATA_DIR:-$here/../../shared/data}}
variants=${VARIANTS:-spgemm.cuda.esc_dup spgemm.cuda.esc spgemm.cuda.hash}
export XDG_CACHE_HOME=/nonexistent # plans use built-in speeds
commit=$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)

mkdir -p "$out" || exit 1
unpacked=$(mktemp -d) || exit 1
trap 'rm -rf "$unpacked"' EXIT
problems=("@$here/hyspmm.txt")
for name in cage10 orsirr_1 sherman3; do
    if [[ -f $data/$name.mtx ]]; then
        problems+=("$data/$name.mtx")
    elif [[ -f $data/$name.mtx.xz ]] && xz -dc "$data/$name.mtx.xz" >"$unpacked/$name.mtx"; then
        problems+=("$unpacked/$name.mtx")
    else
        echo "hyspmm.sh: no $name in $data: left out" >&2
    fi
done

failed=0
peer=(--peer cusparse) # with the first variant only; its times are the same
for variant in $variants; do
    "$bench" spgemm "${problems[@]}" --backend cuda --variant "$variant" --mode end \
        "${peer[@]}" --commit "$commit" --json "$out/hyspmm.jsonl" "$@" || failed=1
    peer=()
done
"${PYTHON:-python3}" "$here/lib/summary.py" --by-variant "$out/hyspmm.jsonl" >"$out/hyspmm.md" || failed=1
cat "$out/hyspmm.md"
exit $failed
