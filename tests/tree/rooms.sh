#!/usr/bin/env bash
# No folder holds more than 25 files (except tests/data and bench/results), and no two
# source files of the library have the same name.
set -euo pipefail
cd "$HYBRID_SOURCE"
library=(base partition host gpu pipeline engine io)
full=$(find "${library[@]}" cli include tests bench docs examples scripts cmake python \
    -type f ! -path 'tests/data/*' ! -path 'bench/results/*' ! -path 'python/build/*' \
    ! -path '*/.*' ! -name '*.pyc' -printf '%h\n' |
    sort | uniq -c | awk '$1 > 25 { print $2 ": " $1 " files" }')
same=$(find "${library[@]}" -type f -printf '%f\n' | sort | uniq -d)
[ -z "$full" ] || echo "folders of more than 25 files:"$'\n'"$full"
[ -z "$same" ] || echo "names of several files:"$'\n'"$same"
lines=$(find bench/results -type f | wc -l)
bytes=$(cat bench/results/* | wc -c)
[ "$lines" -le 20 ] && [ "$bytes" -le $((4 << 20)) ] || {
    echo "bench/results holds $lines files of $bytes bytes"
    exit 1
}
[ -z "$full$same" ]
