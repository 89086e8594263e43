#!/usr/bin/env bash
# The shared library exports exactly the functions of hybrid_spmm.h.
# Usage: exports.sh <shared library>
set -euo pipefail
exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sort)
declared=$(grep '^HYBRID_API' "$HYBRID_SOURCE/include/hybrid_spmm.h" |
    grep -o 'hybrid_[a-z0-9_]*(' | tr -d '(' | sort)
[ -n "$declared" ]
diff <(echo "$declared") <(echo "$exported")
