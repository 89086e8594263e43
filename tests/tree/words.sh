#!/usr/bin/env bash
# No identifier has a word that the glossary of docs/design.md has replaced.
set -euo pipefail
cd "$HYBRID_SOURCE"
declare -A instead=([ahead]=prefault [apart]="scattered or separately" [early]=prefetch
    [extremes]=min_max [given]="assigned or ceded" [greater]=max
    [has_view]="whole(), next_part() or next_block() of the source" [keeps]=caches
    [kept]="cached or pooled" [lesser]=min [look]="spin or inspect" [looked]=inspected
    [looks]=spins [needing]=x_end [needs]=x_end [settle]="the verb that is meant"
    [settled]="the state that is meant" [spared]=estimate [takes]=accepts
    [there]=on_device [turn]="transpose, order or half" [turned]=transposed
    [turning]=transposition [turns]=halves [unpack]=decode [unpacks]=decodes
    [weigh]=estimate)
status=0
for word in "${!instead[@]}"; do
    found=$(grep -rnoE \
        "\b([A-Za-z0-9]+_)+$word(_[A-Za-z0-9]+)*\b|\b$word(_[A-Za-z0-9]+)+\b|(->|\.)$word\b" \
        base partition host gpu pipeline engine io cli \
        --include='*.c' --include='*.h' --include='*.cu' --include='*.cuh' --include='*.inc' || true)
    [ -z "$found" ] || {
        printf '%s, say %s:\n%s\n' "$word" "${instead[$word]}" "$found"
        status=1
    }
done
exit $status
