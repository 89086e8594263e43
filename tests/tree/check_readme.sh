#!/usr/bin/env bash
# Figures and pictures of the documents are made from bench/results, and the check can
# fail.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
check=$HYBRID_SOURCE/bench/check_readme.py
documents="README.md $(cd "$HYBRID_SOURCE" && echo docs/{performance,figures,papers}.md docs/*.svg)"
export PYTHONDONTWRITEBYTECODE=1
python3 "$check" --root "$HYBRID_SOURCE"

restore() {
    rm -rf "$folder/bench" "$folder/docs"
    mkdir "$folder/docs" "$folder/bench"
    for document in $documents; do
        cp "$HYBRID_SOURCE/$document" "$folder/$document"
    done
    cp -r "$HYBRID_SOURCE/bench/results" "$folder/bench"
}
restore

complains() { # what was changed, option...
    if python3 "$check" --root "$folder" "${@:2}" 2>"$folder/complaint"; then
        echo "the check passes with $1" >&2
        exit 1
    fi
}

# A changed figure, or a changed position in a picture, is reported for each kind of
# block, and --write restores the documents.
changed=0
change() { # document, sed expression
    local before
    before=$(cksum <"$folder/$1")
    sed -i -E "$2" "$folder/$1"
    if [ "$before" = "$(cksum <"$folder/$1")" ]; then
        echo "'$2' changes nothing in $1" >&2
        exit 1
    fi
    changed=$((changed + 1))
}
change README.md '/^\| Real matrices: A·A /s/[0-9]\.[0-9]/9.9/'
change README.md '/^\| Real matrices: A·x /s:[0-9]+/:0/:'
change README.md '/^Measured/s/-[0-9]+ /-01 /'
change docs/figures.md '/^\| A\*A fem3:36 \| hybrid_spmm, GPU/s/ [0-9.]+ / 1 /'
change docs/performance.md '0,/^- A\*X-8/s/^(- A\*X-8: )[0-9.]+/\19.99/'
change docs/performance.md '/^\| A\*A again \| f32/s/0\.[0-9]+/0.99/'
change docs/speed.svg '0,/^<path class="slower"/s/^(<path class="slower" d=".)[0-9]+/\1500/'
complains "other figures"
[ "$(grep -c ': says$' "$folder/complaint")" -eq "$changed" ] || { cat "$folder/complaint" >&2; exit 1; }
python3 "$check" --root "$folder" --write
for document in $documents; do
    cmp "$HYBRID_SOURCE/$document" "$folder/$document"
done

# Results that differ from the quoted figures, for every part of the table.
for part in end core real device neighbour; do
    file=$(sed -n 's/^<!-- figures speed: \(.*\) -->/\1/p' "$folder/README.md" | tr ' ' '\n' |
        grep -m 1 -- "$part")
    sed -i -E 's/("seconds|"freed_s|"first_s|"kernels_s|"new_matrix_s|"once)": ?[0-9.e-]+/\1": 0.000123/g' \
        "$folder/bench/results/$file"
    complains "other lines in $file"
    restore
done

# --write with new files: they replace the files of the same part only.
replaces() { # file, new file
    cp "$folder/bench/results/$1" "$folder/bench/results/$2"
    python3 "$check" --root "$folder" --write "$2"
    sed "s/$1\(.*\) -->/\1 $2 -->/; s/:  */: /" "$HYBRID_SOURCE/README.md" |
        sed '/^<!-- figures/s/  */ /g' | diff - "$folder/README.md"
    restore
}
replaces "$(sed -n 's/^<!-- figures speed: \([^ ]*\).*/\1/p' "$folder/README.md")" new-end.jsonl
replaces "$(sed -n 's/^<!-- figures speed:.* \([^ ]*neighbour.jsonl\).*/\1/p' "$folder/README.md")" new-neighbour.jsonl

# A block without files takes new ones that hold lines of its kind.
sed -i 's/^<!-- figures merge:.*/<!-- figures merge:  -->/' "$folder/docs/papers.md"
printf '{"mode": "paper-merge", "problem": "p", "cols": 64, "rows": 4, "nnz": 80, "rows_s": 1e-9, ' \
    >"$folder/bench/results/new.jsonl"
printf '"merge_s": 2e-9, "cusparse_s": 4e-9, "model": "rows", "device": "d", "date": "2026-01-01", ' \
    >>"$folder/bench/results/new.jsonl"
echo '"commit": "c"}' >>"$folder/bench/results/new.jsonl"
python3 "$check" --root "$folder" --write new.jsonl 2>/dev/null || true
grep -qF '<!-- figures merge: new.jsonl -->' "$folder/docs/papers.md"
grep -qF '| 9.35 entries per row (paper) | 4 | 4 | 4 |' "$folder/docs/papers.md"
grep -qF '<!-- figures cutespmm:' "$folder/docs/papers.md"
restore

# A row or column without results, although the documents name it.
sed -i -E 's/"kept_s": ?[0-9.e-]+/"kept_s": null/' "$folder"/bench/results/*.jsonl
for option in --write ''; do
    # shellcheck disable=SC2086 # no option is no word
    complains "columns of nothing but -" $option
    grep -q "figures.md: no line has anything for column 'kept'" "$folder/complaint"
    if grep ': says$' "$folder/complaint"; then
        exit 1
    fi
done
restore
: >"$folder/bench/results/$(sed -n 's/^<!-- figures core: \(.*\) -->$/\1/p' "$folder/docs/figures.md")"
complains "rows of nothing but -" --write
grep -q "README.md: no line has anything for row 'On the GPU: A·A with new values'" \
    "$folder/complaint"
restore

# Figures outside of generated blocks are found, too.
sed -i "s|^## Limits|2.8 ms\n\n4.03 times\n\n55 GB/s\n\n99 %\n\n&|" "$folder/README.md"
complains "loose figures"
[ "$(grep -c 'is in no block of figures' "$folder/complaint")" -eq 4 ]
restore

# A missing block is an error.
sed -i '/^<!-- .*figures/d' "$folder/README.md"
complains "no block of figures"
grep -q "README.md: no block of figures" "$folder/complaint"

# The results that count, written by hand: of ours the last run; of a peer the fastest
# algorithm for each condition. Pinned, wrong or failed runs do not count, nor runs in
# another order than ours.
line() { # peer variant seconds further
    printf '{"problem": "p", "op": "spmm", "mode": "end", "type": "f32", "cols": 128, '
    printf '"peer": %s, "variant": "%s", "freed_s": %s, "seconds": %s, ' "$1" "$2" "$3" "$3"
    printf '"cold_s": 7, "kept_s": null, "backend": "cuda", "device": "d", "threads": 4, '
    printf '"versions": "v 1", "error": null, "verified": true, "order": "row", %s}\n' "$4"
}
real() { # problem type peer seconds further
    printf '{"problem": "%s", "op": "spmm", "mode": "real", "type": "%s", "cols": 8, ' "$1" "$2"
    printf '"peer": %s, "freed_s": %s, "backend": "cuda", "engine": "auto", "version": "1", ' "$3" "$4"
    printf '"device": "d", "threads": 4, "date": "2026-01-01T", "commit": "c", "error": null%s}\n' \
        "${5:+, $5}"
}
early='"date": "2026-01-01T00:00:00Z"' late='"date": "2026-01-02T00:00:00Z"'
{
    line null ours 1 "$early"
    line null ours 2 "$late"
    line null ours 0.5 "$late, \"pinned\": true"
    line '"cusparse"' slow 9 "$late, \"cold_s\": 6"
    line '"cusparse"' quick 4.4449 "$late"
    line '"cusparse"' other 4 "$late, \"order\": \"col\""
    line '"cusparse"' wrong 3 "$late, \"verified\": false"
    line '"cupy"' failing null "$late, \"error\": \"no memory\""
    real q f32 null 2
    real q f32 '"scipy"' 8
    real q f32 '"torch-cpu"' 1
    real q f64 null 2
    real q f64 '"scipy"' 4
    real r f32 null 2
    real r f32 '"scipy"' 4
    real r f32 null 9 '"neighbour": true'
    real r f32 '"scipy"' 3 '"neighbour": true'
} >"$folder/lines.jsonl"
python3 "$check" --show "$folder/lines.jsonl" >"$folder/shown"
grep -qx '| A\*X p | hybrid_spmm, GPU | 7000 | 2000 | - | -, - |' "$folder/shown"
grep -qx '| A\*X p | cuSPARSE | 6000 | 4440 | - | -, - |' "$folder/shown"
grep -qx '| Large .* columns | cuSPARSE | 2.2 | 0/1 |' "$folder/shown"
# Ratios 0.5, 2 and 2: the mean is 1.26, and q is slower for one of its types.
grep -qx '| Real matrices: A·X with 8 or 64 columns | SciPy | 1.3 | 1/2 |' "$folder/shown"
grep -qx '| Real matrices, beside spinning threads: .* | SciPy | 0.33 | 1/1 |' "$folder/shown"
! grep -q CuPy "$folder/shown"
