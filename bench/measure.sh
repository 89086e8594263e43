#!/usr/bin/env bash
# bench/measure.sh OUTDIR [--quick] [OPTION...] - the standard measurement: four problems,
# SpGEMM and SpMM, our CPU and GPU backends, cuSPARSE, SciPy, PyTorch and CuPy. Writes
# OUTDIR/{cuda,host,peers}.jsonl and OUTDIR/summary.md. Further options go to every run of
# hybrid_spmm_bench, such as --variant all or --type f64 (the peers then follow the type).
# Environment: BENCH = the program (build/release/bin/hybrid_spmm_bench), PYTHON (python3),
# STEP = seconds that one step may take, PROBLEMS = other problems, space between.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# == 0)) || [[ $1 == -* ]]; then
    sed -n '2,8s/^# //p' "$0" >&2
    exit 2
fi
out=$1
shift
reps=7 peer_reps=3 budget=60 step=${STEP:-900} threads='0 1' quick=
if [[ ${1-} == --quick ]]; then
    shift
    quick=1 reps=3 peer_reps=1 budget=10 step=${STEP:-150} threads=0
fi
bench=${BENCH:-$here/../build/release/bin/hybrid_spmm_bench}
python=${PYTHON:-python3}
problems=${PROBLEMS:-@$here/problems.txt}
export XDG_CACHE_HOME=/nonexistent # plans by the speeds that are built in
commit=$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)
type=f32 previous=
for option in "$@"; do
    [[ $previous == --type ]] && type=$option
    previous=$option
done

failed=0
run() { # a step that fails or takes too long is named; the next ones still run
    echo "== $*"
    timeout "$step" "$@"
    local status=$?
    ((status == 0)) && return
    failed=1
    echo "measure.sh: exit $status: $*" >&2
}

mkdir -p "$out" || exit 1
dump=$(mktemp -d) || exit 1
trap 'rm -rf "$dump"' EXIT
common=(--reps "$reps" --commit "$commit")

if "$bench" spgemm stencil7:4 --backend cuda --reps 1 >/dev/null 2>&1; then
    for op in spgemm spmm; do
        # shellcheck disable=SC2086 # problems are words
        run "$bench" $op $problems --backend cuda --peer cusparse "${common[@]}" \
            --json "$out/cuda.jsonl" "$@"
    done
else
    echo "no GPU: the CUDA backend and cuSPARSE are left out"
fi
for op in spgemm spmm; do
    for n in $threads; do
        count=()
        ((n > 0)) && count=(--threads "$n")
        # shellcheck disable=SC2086
        run "$bench" $op $problems --backend host --mode end "${common[@]}" "${count[@]}" \
            --json "$out/host.jsonl" "$@"
    done
done
# shellcheck disable=SC2086
run "$bench" spmm $problems --dump "$dump" --type "$type"
for op in spgemm spmm; do
    run "$python" "$here/peers.py" "$dump" --ops $op --type "$type" --reps "$peer_reps" \
        --budget "$budget" --commit "$commit" --json "$out/peers.jsonl"
done
"$python" "$here/summary.py" "$out"/*.jsonl >"$out/summary.md" || failed=1
cat "$out/summary.md"
[[ -n $quick ]] && echo "(quick: few repetitions; not for publication)"
exit $failed
