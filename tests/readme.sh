#!/usr/bin/env bash
# The first C block of README.md is examples/spgemm.c, letter by letter.
cd "$HYBRID_SOURCE" || exit 1
awk '/^```/ { if (inside) exit; inside = $0 == "```c"; next } inside' README.md |
    diff - examples/spgemm.c
