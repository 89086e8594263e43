#!/usr/bin/env bash
# bench/real.sh OUTDIR [--quick] [--neighbour] [--threads N] [--only PRODUCT] [OPTION...] - times
# ours, SciPy, PyTorch, oneMKL and CuPy on real matrices in one process. bench/lib/real.py says what
# is computed, and has more options. Writes OUTDIR/real.jsonl and OUTDIR/real.md. A program that is
# not installed, or has no GPU, is named and left out.
# Environment: DATA = folder of .mtx or .mtx.xz files (../shared/data), LIBRARY =
# libhybrid_spmm.so (build/release/lib), PYTHON (python3) with NumPy and SciPy, COMMIT = commit of
# the build if there is no .git.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# == 0)) || [[ $1 == -* ]]; then
    sed -n '2,8s/^# //p' "$0" >&2
    exit 2
fi
out=$1
shift
commit=${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
for ((i = 1; i < $#; i++)); do # peers have as many threads as ours
    next=$((i + 1))
    [[ ${!i} == --threads ]] && export OMP_NUM_THREADS=${!next} MKL_NUM_THREADS=${!next}
done

export XDG_CACHE_HOME=/nonexistent # plans use built-in speeds
# malloc keeps freed memory, so that results reuse pages.
export MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=$((1 << 40))
# Waiting OpenMP threads spin for 1 ms only. With --neighbour they spin as long as PyTorch's
# defaults say.
if [[ " $* " == *" --neighbour "* ]]; then
    unset KMP_BLOCKTIME GOMP_SPINCOUNT
else
    export KMP_BLOCKTIME=1 GOMP_SPINCOUNT=20000
fi

mkdir -p "$out"
"${PYTHON:-python3}" "$here/lib/real.py" "${LIBRARY:-$here/../build/release/lib/libhybrid_spmm.so}" \
    "${DATA:-$here/../../shared/data}" --json "$out/real.jsonl" --commit "$commit" "$@"
"${PYTHON:-python3}" "$here/lib/real_table.py" "$out/real.jsonl" >"$out/real.md"
