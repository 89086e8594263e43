#!/usr/bin/env bash
# bench/oversized.sh OUTDIR [OPTION...] - times A*A with less and less device memory, from host
# arrays to host arrays. Writes OUTDIR/oversized.jsonl and OUTDIR/oversized.md: the time and the
# bytes sent to the device, each relative to the whole card. Options, such as --type f64 or
# --pinned, go to every run of hybrid_spmm_bench.
# Environment: BENCH = the program (build/release/bin/hybrid_spmm_bench), PYTHON (python3), RUNS =
# "PROBLEM BUDGET..." for each problem, separated by semicolons; COMMIT if there is no .git.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# == 0)) || [[ $1 == -* ]]; then
    sed -n '2,8s/^# //p' "$0" >&2
    exit 2
fi
out=$1
shift
bench=${BENCH:-$here/../build/release/bin/hybrid_spmm_bench}
runs=${RUNS:-stencil27:160 1G 512M 256M 128M; fem3:100 1G 512M 256M; er:4000000,8 256M 128M; rmat:20,8 256M 64M}
commit=${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
export XDG_CACHE_HOME=/nonexistent # plans use built-in speeds

mkdir -p "$out" || exit 1
failed=0
while read -r problem budgets; do
    for budget in '' $budgets; do
        run=("$bench" spgemm "$problem" --backend cuda --mode end --no-verify --commit "$commit"
            ${budget:+--device-memory "$budget"} --json "$out/oversized.jsonl" "$@")
        "${run[@]}" --reps 3 || failed=1
        "${run[@]}" --reps 1 --warmup 0 --explain || failed=1 # only for the bytes of B that it reports
    done
done < <(tr ';' '\n' <<<"$runs")
"${PYTHON:-python3}" "$here/lib/oversized.py" "$out/oversized.jsonl" >"$out/oversized.md" || failed=1
cat "$out/oversized.md"
exit $failed
