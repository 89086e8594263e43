#!/usr/bin/env bash
# bench/several.sh OUTDIR [OPTION...] - times products on one and on several GPUs of a host, from
# host arrays to host arrays. Writes OUTDIR/several.jsonl and OUTDIR/several.md. Options, such as
# --type f64, go to every run of hybrid_spmm_bench.
# Environment: BENCH = the program (build/release/bin/hybrid_spmm_bench), PYTHON (python3), DEVICES =
# "0 0,1 ..." (lists of CUDA devices), SPGEMM and SPMM = problems, COMMIT if there is no .git.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# == 0)) || [[ $1 == -* ]]; then
    sed -n '2,6s/^# //p' "$0" >&2
    exit 2
fi
out=$1
shift
bench=${BENCH:-$here/../build/release/bin/hybrid_spmm_bench}
commit=${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
spgemm=${SPGEMM-stencil27:160 er:4000000,8 rmat:20,8 rmat:21,8}
spmm=${SPMM-stencil27:160 er:4000000,8 rmat:22,8}
export XDG_CACHE_HOME=/nonexistent # plans use built-in speeds

mkdir -p "$out" || exit 1
failed=0
measure() {
    local operation=$1 devices
    shift
    for devices in ${DEVICES:-0 0,1}; do
        "$bench" "$operation" "$@" --devices "$devices" --backend cuda --mode end --reps 5 \
            --commit "$commit" --json "$out/several.jsonl" || failed=1
    done
}
for pinned in '' --pinned; do
    for problem in $spgemm; do measure spgemm "$problem" --no-verify $pinned "$@"; done
    for problem in $spmm; do measure spmm "$problem" --cols 128 $pinned "$@"; done
done
"${PYTHON:-python3}" "$here/lib/several.py" "$out/several.jsonl" >"$out/several.md" || failed=1
cat "$out/several.md"
exit $failed
