#!/usr/bin/env bash
# tests/tree/choi.sh - bench/papers/choi.py computes fractions of the exhaustive optimum.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# line PROBLEM PICK R C LANES MICROSECONDS MODEL FAILED
line() {
    echo "{\"problem\": \"$1\", \"type\": \"f32\", \"variant\": \"spmv.cuda.bellpack\"," \
        "\"pick\": \"$2\", \"r\": $3, \"c\": $4, \"R\": $5, \"fill\": 1, \"model_s\": $7e-6," \
        "\"kernel_s\": $6e-6, \"failed\": $8}" >>"$dir/lines"
}
says() {
    grep -qF -- "$1" "$dir/$2" && return
    echo "choi.py does not say '$1':" >&2
    cat "$dir/$2" >&2
    exit 1
}

echo '{"device": "GPU", "commit": "abc", "date": "2026-11-26"}' >"$dir/lines"
line a '' 1 1 32 10 12 false
line a '' 3 3 64 5 4 false
line a '' 8 8 64 -1 0 true # this line does not count
line a model 3 3 64 5 4 false
line a bytes 1 1 0 10 12 false
line a 'default, model' 3 3 0 4 4 false
line a 'default, bytes' 1 1 0 8 8 false
line b '' 2 2 128 6 6 false
line b model 1 2 32 8 6 false
line b bytes 2 2 0 6 6 false
line b 'default, model' 2 2 0 3 3 false
line b 'default, bytes' 2 2 0 3 3 false
python3 "$root/bench/papers/choi.py" "$dir/lines" --svg "$dir/svg" --keep "$dir/kept" >"$dir/out"
says '| a | 3 x 3, 64 | 5.0 | 3 x 3, 64 | 1.00 | 1 x 1 | 0.50 | 3 x 3: 4.0 | 1 x 1: 8.0 |' out
says '| b | 2 x 2, 128 | 6.0 | 1 x 2, 32 | 0.75 | 2 x 2 | 1.00 | 2 x 2: 3.0 | 2 x 2: 3.0 |' out
says 'Model: mean 0.875, median 0.875, least 0.750 of the optimum over 2 matrices' out
says 'Fewest bytes: mean 0.750, median 0.750, least 0.500' out
says 'It misses 0.865 and 0.926.' out
says 'errs by 10 % (median of the medians of 2 matrices)' out
says '| spmv.cuda.bellpack | f32 | 2 | 0.875, 0.875, 0.750 | 0.750, 0.750, 0.500 | 0.63, 0.89 | 10 % |' out
says 'Measured on GPU, 2026-11-26, commit abc.' out
says 'a, model: 1.00' svg
python3 -c "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])" "$dir/svg"
# what is kept gives the same tables and the same lines
python3 "$root/bench/papers/choi.py" "$dir/kept" --keep "$dir/again" >"$dir/of_kept"
cmp "$dir/out" "$dir/of_kept"
cmp "$dir/kept" "$dir/again"
