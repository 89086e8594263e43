#!/usr/bin/env bash
# bench/papers/choi.sh OUTDIR [PROBLEM...] - repeats the autotuning experiment of Choi, Singh and
# Vuduc (PPoPP 2010, section 6.6, Fig. 13). It times SpMV in the paper's form (spmv.cuda.bellpack
# and spmv.cuda.bcsr with paper=1) for every r, c and R in f32 and f64, and compares the exhaustive
# optimum with the pick of the execution model and with the shape of the fewest bytes.
# Writes OUTDIR/choi.jsonl, OUTDIR/choi.md (tables) and OUTDIR/choi.svg. Takes about 200 s.
# Environment: SEARCH = the program (build/release/bin/choi_search), PYTHON (python3), DATA = folder
# of NAME.mtx.xz or NAME.mtx, COMMIT = commit of the build if there is no .git, CHOI_VARIANTS,
# CHOI_SECONDS, CHOI_RUNS and CHOI_RATES (see papers/choi_search.c).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# == 0)) || [[ $1 == -* ]]; then
    sed -n '2,9s/^# //p' "$0" >&2
    exit 2
fi
out=$1
shift
search=${SEARCH:-$here/../../build/release/bin/choi_search}
data=${DATA:-${HYBRID_DATA_DIR:-$here/../../../shared/data}}
commit=${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}

mkdir -p "$out" || exit 1
unpacked=$(mktemp -d) || exit 1
trap 'rm -rf "$unpacked"' EXIT
problems=("$@")
if ((${#problems[@]} == 0)); then
    problems=(dense:1024,1024 fem3:24)
    for name in bcsstk13 ex11 bcsstk32 viscorocks rd-rplusc-21 3dtube pkustk04 rail507_miplib; do
        if [[ -f $data/$name.mtx ]]; then
            problems+=("$data/$name.mtx")
        elif [[ -f $data/$name.mtx.xz ]] && xz -dc "$data/$name.mtx.xz" >"$unpacked/$name.mtx"; then
            problems+=("$unpacked/$name.mtx")
        else
            echo "choi.sh: no $name in $data: left out" >&2
        fi
    done
fi
"$search" "$out/choi.jsonl" "$commit" "${problems[@]}" || exit 1
"${PYTHON:-python3}" "$here/choi.py" "$out/choi.jsonl" --svg "$out/choi.svg" >"$out/choi.md" || exit 1
cat "$out/choi.md"
