#!/usr/bin/env bash
# bench/ab.sh OUTDIR BENCH_A BENCH_B [PAIRS] - compares two builds of hybrid_spmm_bench on one
# machine. Both compute the same products in each of PAIRS (9) rounds; the first build of a round
# alternates. bench/lib/ab.py takes the median over rounds of each product's ratio of seconds.
# Products on which B is slower are measured a second time. Exit code 1: B is slower than A.
# Writes OUTDIR/{a,b}.jsonl, again-{a,b}.jsonl and ab.md.
# Environment: PROBLEMS = problems, separated by spaces (bench/problems.txt); DATA = folder of .mtx
# files to add to them; BACKENDS (host, and cuda if there is a GPU); TYPES (f32 f64);
# OPS (spgemm spmm); WAYS = some of "end pinned resident core" (all that the backend has);
# REPS = timed calls (3).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# < 3)); then
    sed -n '2,10s/^# //p' "$0" >&2
    exit 2
fi
out=$1 a=$2 b=$3 pairs=${4:-9}
problems=${PROBLEMS:-@$here/problems.txt}
types=${TYPES:-f32 f64}
export XDG_CACHE_HOME=/nonexistent # both plan with built-in speeds
mkdir -p "$out" || exit 1
rm -f "$out"/{a,b,again-a,again-b}.jsonl

if [[ -n ${DATA:-} ]]; then
    problems="$problems $(ls "$DATA"/*.mtx)"
fi
if [[ -z ${BACKENDS:-} ]]; then
    BACKENDS=host
    "$a" spgemm stencil7:4 --backend cuda --reps 1 >/dev/null 2>&1 && BACKENDS='cuda host'
fi

# options_of OP BACKEND WAY: prints the options of the bench; fails if there is no such way.
options_of() {
    case $3 in
    end) echo "--mode end" ;;
    pinned) [[ $2 == cuda ]] && echo "--mode end --pinned" ;;
    resident) [[ $1 == spmm && $2 == cuda ]] && echo "--mode end --pinned --resident" ;;
    core) [[ $2 == cuda ]] && echo "--mode core" ;;
    *) echo "ab.sh: no way '$3'" >&2 && exit 2 ;;
    esac
}

# measure NAME BENCH PREFIX ROUND PROBLEM...: measures all ways of one build once.
measure() {
    local name=$1 bench=$2 prefix=$3 round=$4 op backend way type options
    shift 4
    for op in ${OPS:-spgemm spmm}; do
        for backend in $BACKENDS; do
            for way in ${WAYS:-end pinned resident core}; do
                options=$(options_of $op "$backend" "$way") || continue
                for type in $types; do
                    # shellcheck disable=SC2086 # options are words
                    "$bench" $op "$@" --backend "$backend" --type "$type" $options \
                        --reps "${REPS:-3}" --no-verify --commit "$name$round:$way" \
                        --json "$out/$prefix$name.jsonl" >/dev/null || failed=1
                done
            done
        done
    done
}

# rounds PREFIX PROBLEM...
rounds() {
    local prefix=$1 round
    shift
    for ((round = 0; round < pairs; round++)); do
        if ((round % 2)); then
            measure b "$b" "$prefix" $round "$@"
            measure a "$a" "$prefix" $round "$@"
        else
            measure a "$a" "$prefix" $round "$@"
            measure b "$b" "$prefix" $round "$@"
        fi
    done
}

failed=0
# shellcheck disable=SC2086 # problems are words
rounds '' $problems
again=$("$here/lib/ab.py" --slow "$out/a.jsonl" "$out/b.jsonl") || exit 1
if [[ -n $again ]]; then
    files=()
    for name in $again; do # lines have the name of a file without folder and ending
        [[ -f ${DATA:-}/$name.mtx ]] && name=$DATA/$name.mtx
        files+=("$name")
    done
    rounds again- "${files[@]}"
    set -- "$out/again-a.jsonl" "$out/again-b.jsonl"
else
    set --
fi
"$here/lib/ab.py" "$out/a.jsonl" "$out/b.jsonl" "$@" >"$out/ab.md"
slower=$?
cat "$out/ab.md"
exit $((failed || slower))
