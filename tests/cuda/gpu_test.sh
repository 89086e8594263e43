#!/usr/bin/env bash
# Runs a test that needs a GPU. Without a GPU the test is skipped (77), or fails if
# HYBRID_REQUIRE_GPU is 1.
# Usage: gpu_test.sh <command>...
status=0
"$@" || status=$?
if [ "$status" -eq 77 ] && [ "${HYBRID_REQUIRE_GPU:-0}" = 1 ]; then
    echo "skipped, but HYBRID_REQUIRE_GPU is 1: $*" >&2
    exit 1
fi
exit "$status"
