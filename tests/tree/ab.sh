#!/usr/bin/env bash
# tests/tree/ab.sh - bench/lib/ab.py finds out whether a build is slower than another one.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# lines FILE NAME SECONDS...: writes one product per SECONDS, in three rounds.
lines() {
    local file=$1 name=$2 round k
    shift 2
    for round in 0 1 2; do
        k=0
        for seconds in "$@"; do
            echo "{\"op\": \"spmm\", \"problem\": \"p$((k++))\", \"backend\": \"host\"," \
                "\"type\": \"f32\", \"cols\": 8, \"seconds\": $seconds," \
                "\"commit\": \"$name$round:end\"}"
        done
    done >"$dir/$file"
}

expect() { # expect STATUS FILE...
    local status=0
    "$root/bench/lib/ab.py" "${@:2}" >"$dir/out" || status=$?
    if ((status != $1)); then
        echo "ab.py ${*:2}: exit code $status, not $1" >&2
        cat "$dir/out" >&2
        exit 1
    fi
}

cd "$dir"
lines a a 1.0 1.0 1.0 1.0
lines same b 1.0 0.99 1.01 1.0
lines slower b 1.03 1.03 1.03 1.03
lines one b 0.9 0.9 0.9 1.2
lines one-a a 1.0
lines one-better b 1.01
sed -i 's/p0/p3/' one-a one-better
expect 0 a same
expect 1 a slower           # 1: the products are slower on average
expect 1 a one              # 1: one product is slower
expect 0 --slow a one
[[ $(cat out) == p3 ]] || { echo "ab.py --slow does not name p3: $(cat out)" >&2; exit 1; }
expect 0 a one one-a one-better # 0: only the first measurement found one slower
