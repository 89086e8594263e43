#!/usr/bin/env bash
# bench/oversized.sh OUTDIR [OPTION...] - times A*A and A*X with less and less device memory, from
# host arrays to host arrays. Writes to OUTDIR:
#   oversized-raw.jsonl  lines of hybrid_spmm_bench
#   oversized.jsonl      short lines for bench/results
#   oversized.md         tables: times and bytes relative to the whole card, and bytes of B relative
#                        to the least
#   oversized.svg        time against device memory
# Options, such as --threads 8, go to every run of hybrid_spmm_bench. Exit code 1 if a run fails.
# Environment: BENCH = the program (build/release/bin/hybrid_spmm_bench), PYTHON (python3), DATA =
# folder with real matrices as .mtx.xz, LIMIT = seconds for each problem (60), BACKEND (cuda), PARTS =
# those of "squares real f64 pinned each devices host orders dense peers" that are measured (all),
# COMMIT if there is no .git.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# == 0)) || [[ $1 == -* ]]; then
    sed -n '2,14s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
out=$1
shift
bench=${BENCH:-$here/../build/release/bin/hybrid_spmm_bench}
data=${DATA:-${HYBRID_DATA_DIR:-$here/../../shared/data}}
commit=${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
export XDG_CACHE_HOME=/nonexistent # plans use built-in speeds
options=("$@") failed=0 SECONDS=0
mkdir -p "$out" || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

measure() { # OPERATION PROBLEM BUDGETS [OPTION...]: one line for each budget; 0 is the whole card
    echo "== $SECONDS s: $*"
    timeout --foreground "${LIMIT:-60}" "$bench" "$1" "$2" --device-memory "$3" --backend "${BACKEND:-cuda}" \
        --mode end --reps 3 --no-verify --explain --commit "$commit" \
        --json "$out/oversized-raw.jsonl" "${@:4}" "${options[@]}" >>"$out/oversized.log" 2>&1 && return
    echo "oversized.sh: exit code $? of $*, see $out/oversized.log" >&2
    failed=1
}

# The least budget of each problem is a sixteenth of the bytes of B, or what the longest row needs.
squares() {
    measure spgemm stencil27:160 0,1G,512M,256M,128M,57M "$@"
    measure spgemm fem3:100 0,1G,512M,256M,128M,66M "$@"
    measure spgemm er:4000000,8 0,256M,128M,64M,18M "$@"
    measure spgemm er:12500000,8 0,1G,512M,256M,57M --reps 1 "$@"
    measure spgemm rmat:20,8 0,256M,128M,64M --reps 1 "$@"
    measure spgemm wide:1000,32000,4000000 0,256M,128M,64M,18M "$@"
}

few_squares() {
    measure spgemm stencil27:160 0,1G,512M "$@"
    measure spgemm fem3:100 0,512M "$@"
    measure spgemm er:4000000,8 0,256M "$@"
}

real() {
    local name
    mkdir -p "$scratch/packed"
    for name in cnr-2000 gupta2 pkustk04; do
        ln -s "$(realpath "$data")/$name.mtx.xz" "$scratch/packed"
    done
    "${PYTHON:-python3}" "$here/lib/unpack.py" "$scratch/packed" "$scratch" || failed=1
    measure spgemm "$scratch/cnr-2000.mtx" 0,28M,14M,7M,1792K
    measure spgemm "$scratch/gupta2.mtx" 0,34M,17M,9M,2176K
    measure spgemm "$scratch/pkustk04.mtx" 0,34M,17M,9M,2176K
}

each() {
    measure spgemm stencil27:160 0,512M --each --host-memory 1G
    measure spgemm er:4000000,8 0,256M --each --host-memory 1G
    measure spgemm rmat:20,8 0,256M --each --host-memory 1G
}

orders() {
    local order
    for order in degree locality; do
        measure spgemm stencil27:160 512M --rows $order --reps 1
        measure spgemm fem3:100 512M --rows $order --reps 1
        measure spgemm er:4000000,8 256M --rows $order --reps 1
        measure spgemm rmat:20,8 256M --rows $order --reps 1
        measure spgemm "$scratch/cnr-2000.mtx" 14M --rows $order --reps 1
    done
}

dense() {
    measure spmm stencil27:160 0,2G,1G,512M,256M,128M --cols 128
    measure spmm fem3:100 0,2G,1G,512M,256M,128M --cols 128
    measure spmm er:4000000,8 0,2G,1G,512M,256M,128M --cols 128
    measure spmm rmat:20,8 0,512M,256M,128M,64M,32M --cols 128
}

# cuSPARSE has no budget: it gets the whole card, and the product in the same process.
peers() {
    local problem
    for problem in stencil27:160 fem3:100 er:4000000,8 rmat:20,8; do
        measure spgemm $problem 0 --peer cusparse
        measure spmm $problem 0 --cols 128 --peer cusparse
    done
}

for part in ${PARTS:-squares real f64 pinned each devices host orders dense peers}; do
    case $part in
    squares | real | each | orders | dense | peers) $part ;;
    f64) few_squares --type f64 ;;
    pinned) few_squares --pinned ;;
    devices) few_squares --devices "${DEVICES:-0,0}" ;;
    host) BACKEND=host measure spgemm stencil27:80 0,64M,16M --host-memory 4G ;;
    *) echo "oversized.sh: no part $part" >&2 && exit 2 ;;
    esac
done
"${PYTHON:-python3}" "$here/lib/oversized.py" "$out" || failed=1
cat "$out/oversized.md"
exit $failed
