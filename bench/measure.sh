#!/usr/bin/env bash
# bench/measure.sh OUTDIR [--quick] [OPTION...] - measures the figures of README.md and
# docs/figures.md, in ten minutes on 16 cores with a GPU and 43 files in DATA.
# Writes OUTDIR/{end,peers,core}.jsonl and prints the tables:
#   end    whole calls of A*A and A*X on the GPU and on the CPU, and of cuSPARSE with copies:
#          first calls, results freed, results kept; a process for each product
#   peers  whole calls of SciPy, PyTorch and CuPy
#   core   ours and cuSPARSE on the device: kernels alone, and calls for a new matrix
# Other options go to every run of hybrid_spmm_bench.
# Environment: BENCH = the program (build/release/bin/hybrid_spmm_bench), PYTHON (python3),
# DATA = folder of .mtx or .mtx.xz files that core adds to the standard problems, PROBLEMS =
# other problems, separated by spaces, COMMIT = commit of the build if there is no .git, LIMIT =
# seconds for everything (900), TOUCH = GiB of memory to touch first (28), because the first use
# of a page in a virtual machine is slow for every program.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# == 0)) || [[ $1 == -* ]]; then
    sed -n '2,14s/^# //p' "$0" >&2
    exit 2
fi
out=$1
shift
reps=7 keep=3 peer_reps=3 core_reps=3 budget=2 touch=${TOUCH:-28}
if [[ ${1-} == --quick ]]; then
    shift
    reps=1 keep=1 peer_reps=1 core_reps=1 budget=1 touch=${TOUCH:-1}
    echo "quick: few repetitions; not for publication"
fi
bench=${BENCH:-$here/../build/release/bin/hybrid_spmm_bench}
python=${PYTHON:-python3}
commit=${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
read -ra problems <<<"${PROBLEMS:-$(sed 's/#.*//' "$here/problems.txt" | tr '\n' ' ')}"
export XDG_CACHE_HOME=/nonexistent # plans use built-in speeds
options=(--commit "$commit" "$@")
SECONDS=0 failed=0

run() { # names a step that fails or has no time left, and goes on
    local left=$((${LIMIT:-900} - SECONDS)) status=1
    echo "== ${SECONDS} s: $*"
    ((left > 0)) && timeout "$left" "$@" && return
    status=$?
    failed=1
    echo "measure.sh: exit $status with $left s left: $*" >&2
}

mkdir -p "$out" || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
run "$python" -c "import numpy; numpy.ones($touch << 27)" # 8 bytes each

gpu=1
if ! "$bench" spgemm stencil7:4 --backend cuda --reps 1 >/dev/null 2>&1; then
    gpu=
    echo "no GPU: the CUDA backend and cuSPARSE are left out"
fi
for problem in "${problems[@]}"; do
    for op in spgemm spmm; do
        [[ -n $gpu ]] && run "$bench" $op "$problem" --backend cuda --peer cusparse \
            --mode end --reps "$reps" --keep "$keep" --json "$out/end.jsonl" "${options[@]}"
        run "$bench" $op "$problem" --backend host --mode end --reps "$reps" --keep "$keep" \
            --json "$out/end.jsonl" "${options[@]}"
    done
done

if [[ -n $gpu ]]; then
    [[ -n ${DATA-} ]] && run "$python" "$here/lib/unpack.py" "$DATA" "$scratch"
    mapfile -t files < <(find -L "$scratch" -name '*.mtx' -printf '%s %p\n' |
        sort -n | cut -d ' ' -f 2-) # longest last, in case time runs out
    for op in spmv spmm spgemm; do
        times=$core_reps
        [[ $op != spmv ]] || times=$((5 * core_reps)) # because a call takes microseconds only
        for type in f32 f64; do
            run "$bench" $op "${problems[@]}" "${files[@]}" --backend cuda --peer cusparse \
                --mode core --type $type --cols 32,128 --reps "$times" \
                --json "$out/core.jsonl" "${options[@]}"
        done
    done
    rm -rf "${scratch:?}"/*
fi

# malloc keeps freed memory, so that results of peers reuse pages.
run "$bench" spmm "${problems[@]}" --dump "$scratch" "${options[@]}"
MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=$((1 << 40)) run "$python" "$here/lib/peers.py" \
    "$scratch" --reps "$peer_reps" --keep "$peer_reps" --budget "$budget" \
    --commit "$commit" --json "$out/peers.jsonl"

"$python" "$here/check_readme.py" --show "$out"/*.jsonl || failed=1
exit $failed
