#!/usr/bin/env bash
# Figures of the documents are those of bench/results, and the check of it can fail.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
check=$HYBRID_SOURCE/bench/check_readme.py
export PYTHONDONTWRITEBYTECODE=1
python3 "$check" --root "$HYBRID_SOURCE"

mkdir "$folder/docs" "$folder/bench"
cp "$HYBRID_SOURCE/README.md" "$folder"
cp "$HYBRID_SOURCE/docs/performance.md" "$folder/docs"
cp -r "$HYBRID_SOURCE/bench/results" "$folder/bench"
python3 "$check" --root "$folder"

refuses() { # what was changed
    if python3 "$check" --root "$folder" 2>"$folder/complaint"; then
        echo "the check passes with $1" >&2
        exit 1
    fi
    python3 "$check" --root "$folder" --write
    python3 "$check" --root "$folder"
}

# The last digit of the first figure of a table, in each document.
for document in README.md docs/performance.md; do
    python3 - "$folder/$document" <<'X'
import re, sys
figure = r"^(\| A\*A \S+ \|(?: hybrid_spmm, GPU \|)? [0-9.]*)[0-8] \|"
text = open(sys.argv[1], encoding="utf-8").read()
text, count = re.subn(figure, r"\g<1>9 |", text, count=1, flags=re.M)
open(sys.argv[1], "w", encoding="utf-8").write(text)
sys.exit(count != 1)
X
    refuses "another figure in $document"
    cmp "$HYBRID_SOURCE/$document" "$folder/$document"
done

# A line that says something else than what is quoted.
file=$(sed -n 's/^<!-- figures fastest: \([^ ]*\).*/\1/p' "$folder/README.md")
sed -i -E 's/"seconds": [0-9.e-]+, /"seconds": 0.000123, /; s/"freed_s": [0-9.e-]+, /"freed_s": 0.000123, /' \
    "$folder/bench/results/$file"
refuses "other lines in $file"

# A column for which there is no line, though the documents say what the lines do.
sed -i -E 's/"kept_s": [0-9.e-]+/"kept_s": null/' "$folder"/bench/results/*.jsonl
for option in --write ''; do
    # shellcheck disable=SC2086 # no option is no word
    if python3 "$check" --root "$folder" $option 2>"$folder/complaint"; then
        echo "the check passes with columns of nothing but -" >&2
        exit 1
    fi
    grep -q "README.md: no line has anything for column 'kept: GPU'" "$folder/complaint"
    if grep ': says$' "$folder/complaint"; then
        exit 1
    fi
done

# A figure that stands beside the blocks, or in one that is made of no lines.
restore() { cp "$HYBRID_SOURCE/README.md" "$folder"; }
rm -r "$folder/bench/results"
cp -r "$HYBRID_SOURCE/bench/results" "$folder/bench"
cp "$HYBRID_SOURCE/docs/performance.md" "$folder/docs"
for said in 'It plans for 2.8 ms.' 'It is 4.03 times as fast.' 'It moves 55 GB/s.' 'It uses 99 % of them.'; do
    restore
    sed -i "s|^## Limitations|$said\n\n&|" "$folder/README.md"
    if python3 "$check" --root "$folder" 2>"$folder/complaint"; then
        echo "the check passes with: $said" >&2
        exit 1
    fi
    grep -q "is in no block of figures" "$folder/complaint"
done

# Another time of planning, and another count of products.
for change in '/^- planning/s/[0-9]/4/' '/^- A\*A again/s:(45/:(44/:'; do
    restore
    sed -i "$change" "$folder/README.md"
    refuses "$change"
    cmp "$HYBRID_SOURCE/README.md" "$folder/README.md"
done

# A block that is gone.
sed -i '/^<!-- .*figures/d' "$folder/README.md"
if python3 "$check" --root "$folder" 2>"$folder/complaint"; then
    echo "the check passes without a block of figures" >&2
    exit 1
fi
grep -q "README.md: no block of figures" "$folder/complaint"

# Which lines count, by hand: of ours the last run, of a peer the fastest algorithm under each
# condition, in rows or columns; nothing pinned, wrong or failed.
line() { # peer variant seconds further
    printf '{"problem": "p", "op": "spmm", "mode": "end", "type": "f32", "cols": 128, '
    printf '"peer": %s, "variant": "%s", "freed_s": %s, "seconds": %s, ' "$1" "$2" "$3" "$3"
    printf '"cold_s": 7, "kept_s": null, "backend": "cuda", "device": "d", "threads": 4, '
    printf '"versions": "v 1", "error": null, "verified": true, "order": "row", %s}\n' "$4"
}
early='"date": "2026-01-01T00:00:00Z"' late='"date": "2026-01-02T00:00:00Z"'
{
    line null ours 1 "$early"
    line null ours 2 "$late"
    line null ours 0.5 "$late, \"pinned\": true"
    line '"cusparse"' slow 9 "$late, \"cold_s\": 6"
    line '"cusparse"' quick 4.4449 "$late, \"order\": \"col\""
    line '"cusparse"' wrong 3 "$late, \"verified\": false"
    line '"cupy"' failing null "$late, \"error\": \"no memory\""
} >"$folder/lines.jsonl"
python3 "$check" --show "$folder/lines.jsonl" >"$folder/shown"
grep -qx '| A\*X p | 7000 | - | 6000 cuSPARSE | 2000 | - | 4440 cuSPARSE | - | - | - |' \
    "$folder/shown"
! grep -q CuPy "$folder/shown"
