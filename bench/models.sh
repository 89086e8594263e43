#!/usr/bin/env bash
# bench/models.sh OUTDIR [OPTION...] - judges the cost models on real matrices: the predicted times,
# and how much time the library's choices lose against the best of all choices, the CPU included.
# bench/lib/models.py says what is computed, and has the options. Writes OUTDIR/models.jsonl and
# OUTDIR/models.md. Ends with exit code 1 if a figure is beyond its bound (bench/lib/judge.py).
# Environment: DATA = folder of MANIFEST.tsv and .mtx.xz files (HYBRID_DATA_DIR or ../shared/data),
# RATES = file of measured rates (none: built-in rates), LIBRARY = libhybrid_spmm.so
# (build/release/lib), PYTHON (python3) with NumPy and SciPy, COMMIT = commit of the build if there
# is no .git.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# == 0)) || [[ $1 == -* ]]; then
    sed -n '2,10s/^# //p' "$0" >&2
    exit 2
fi
out=$1
shift
commit=${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
python=${PYTHON:-python3}
mkdir -p "$out"
rm -f "$out/models.jsonl"
"$python" "$here/lib/models.py" "${LIBRARY:-$here/../build/release/lib/libhybrid_spmm.so}" \
    "${DATA:-${HYBRID_DATA_DIR:-$here/../../shared/data}}" --json "$out/models.jsonl" \
    --rates "${RATES:-}" --commit "$commit" "$@"
status=0
"$python" "$here/lib/judge.py" "$out/models.jsonl" >"$out/models.md" || status=$?
cat "$out/models.md"
exit "$status"
