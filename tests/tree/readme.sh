#!/usr/bin/env bash
# The first C block of README.md equals examples/spgemm.c. Documents and the public header
# are not too long, nor are lines of the changelog. The commands of README.md and
# docs/manual.md work. Links of the documents lead to files.
set -euo pipefail
cd "$HYBRID_SOURCE"
awk '/^```/ { if (inside) exit; inside = $0 == "```c"; next } inside' README.md |
    diff - examples/spgemm.c
at_most() { # number, unit, file, its own number
    if (($4 > $1)); then
        echo "$3 has $4 $2" >&2
        exit 1
    fi
}
at_most 700 words README.md "$(wc -w <README.md)"
at_most 2500 words docs/performance.md "$(wc -w <docs/performance.md)"
for header in include/*.h; do
    at_most 700 lines "$header" "$(wc -l <"$header")"
done
at_most 120 "characters in a line" CHANGELOG.md "$(wc -L <CHANGELOG.md)"

for document in README.md CONTRIBUTING.md docs/*.md docs/lab/*.md bench/README.md; do
    { grep -o '](\([^)#:]*\))' "$document" || true; } | sed 's/^](//; s/)$//' | while read -r link; do
        if ! [ -e "$(dirname "$document")/$link" ]; then
            echo "$document: there is no $link" >&2
            exit 1
        fi
    done
done

# Each document has a folder of its own with A.mtx and B.mtx. `calibrate` takes too long.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for document in README.md docs/manual.md; do
    sed -n 's/^    \(hybrid_spmm .*\)/\1/p' "$document" | grep -v ' calibrate' >"$folder/commands"
    [ "$(wc -l <"$folder/commands")" -ge 2 ]
    here=$folder/$(basename "$document")
    mkdir "$here"
    cp examples/wheel.mtx "$here/A.mtx"
    cp examples/wheel.mtx "$here/B.mtx"
    (cd "$here" && PATH=$(dirname "$HYBRID_SPMM"):$PATH bash -euo pipefail "$folder/commands")
done
