#!/usr/bin/env bash
# bench/several.sh OUTDIR [OPTION...] - times products on one and on several GPUs of a host, from
# host arrays to host arrays. Writes OUTDIR/several.jsonl and OUTDIR/several.md: for each case the
# time, its ratio to one GPU, the bound that the report names, the achieved share of the bound, and
# that of the reference time. Results are verified.
# Options, such as --type f64, go to every run of hybrid_spmm_bench. Exit code 1 if a case fails or
# does not get its turn.
# Environment: BENCH = the program (build/release/bin/hybrid_spmm_bench), PYTHON (python3), DEVICES =
# "0 0,1 ..." (lists of CUDA devices), LIMIT = seconds for each list (360), REPS = calls that are
# timed (5), SPGEMM and SPMM = problems, RATES = folder in which `hybrid_spmm calibrate` left measured
# speeds (none: built-in ones), COMMIT if there is no .git.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# == 0)) || [[ $1 == -* ]]; then
    sed -n '2,11s/^# //p' "$0" >&2
    exit 2
fi
out=$1
shift
bench=${BENCH:-$here/../build/release/bin/hybrid_spmm_bench}
commit=${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
spgemm=${SPGEMM-rmat:20,8 rmat:21,8 stencil27:160 er:4000000,8}
spmm=${SPMM-rmat:22,8 stencil27:160 er:4000000,8}
export XDG_CACHE_HOME=${RATES:-/nonexistent} # without measured speeds, plans use built-in ones

mkdir -p "$out" || exit 1
failed=0
# measure OPERATION PROBLEM [OPTION...]: one case on $devices, within the time that is left
measure() {
    local left=$((deadline - SECONDS)) code=0
    if ((left <= 0)); then
        echo "several.sh: no time is left for $* on devices $devices" >&2
        failed=1
        return
    fi
    timeout "$left" "$bench" "$@" --devices "$devices" --backend cuda --mode end \
        --reps "${REPS:-5}" --commit "$commit" --json "$out/several.jsonl" "${options[@]}" || code=$?
    ((code == 124)) && echo "several.sh: $* on devices $devices did not end in time" >&2
    ((code == 0)) || failed=1
}
options=("$@")
for devices in ${DEVICES:-0 0,1}; do
    deadline=$((SECONDS + ${LIMIT:-360}))
    for pinned in '' --pinned; do
        for problem in $spgemm; do measure spgemm "$problem" $pinned; done
        for problem in $spmm; do measure spmm "$problem" --cols 128 $pinned; done
    done
done
"${PYTHON:-python3}" "$here/lib/several.py" "$out/several.jsonl" >"$out/several.md" || failed=1
cat "$out/several.md"
exit $failed
