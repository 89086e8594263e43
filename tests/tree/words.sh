#!/usr/bin/env bash
# No identifier has a word that the glossary of docs/design.md has replaced.
set -euo pipefail
cd "$HYBRID_SOURCE"
declare -A instead=([lesser]=min [greater]=max [extremes]=min_max [turning]=transposition
    [unpack]=decode [unpacks]=decodes)
status=0
for word in "${!instead[@]}"; do
    found=$(grep -rnwoE "([A-Za-z0-9]+_)+$word(_[A-Za-z0-9]+)*|$word(_[A-Za-z0-9]+)+" \
        base partition host gpu pipeline engine io cli \
        --include='*.c' --include='*.h' --include='*.cu' --include='*.cuh' --include='*.inc' || true)
    [ -z "$found" ] || {
        printf '%s, say %s:\n%s\n' "$word" "${instead[$word]}" "$found"
        status=1
    }
done
exit $status
