#!/usr/bin/env bash
# The shared library exports exactly the functions of the public headers.
# Usage: exports.sh <shared library>
set -euo pipefail
exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sort)
declared=$(grep -h '^HYBRID_API' "$HYBRID_SOURCE"/include/*.h |
    grep -o 'hybrid_[a-z0-9_]*(' | tr -d '(' | sort)
[ -n "$declared" ]
diff <(echo "$declared") <(echo "$exported")
