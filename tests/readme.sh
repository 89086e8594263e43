#!/usr/bin/env bash
# The first C block of README.md is examples/spgemm.c, letter by letter; what comes before
# the reference has at most 900 words.
set -euo pipefail
cd "$HYBRID_SOURCE"
awk '/^```/ { if (inside) exit; inside = $0 == "```c"; next } inside' README.md |
    diff - examples/spgemm.c
words=$(sed '/^# Reference/,$d' README.md | wc -w)
if ((words > 900)); then
    echo "README.md has $words words before the reference" >&2
    exit 1
fi
