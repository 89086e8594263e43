#!/usr/bin/env bash
# scripts/dependencies.awk: all four fields, alternatives, versions and architectures,
# virtual and repeated names, continued lines, and a package that is listed twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >index <<'X'
Package: one
Depends: two (>= 1.0), three:any | four (<< 2), two (<< 9)
Pre-Depends: four
Description: Depends: five is not a field

Package: two
Recommends: three [amd64] <!nocheck>, a-virtual-name,
 four
Suggests: two

Package: three

Package: one
Depends: three

Package: four
Breaks: one
X
cat >wanted <<'X'
4 4 6
1 2
1 3
1 4
2 2
2 3
2 4
X
awk -v names=names -f "$HYBRID_SOURCE/scripts/dependencies.awk" index >A.mtx
[ "$(head -n 1 A.mtx)" = "%%MatrixMarket matrix coordinate pattern general" ]
grep -v '^%' A.mtx | (read -r sizes; echo "$sizes"; sort) | diff wanted -
printf '%s\n' one two three four | diff - names
"$HYBRID_SPMM" info A.mtx >/dev/null
