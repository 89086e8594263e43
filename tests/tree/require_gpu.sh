#!/usr/bin/env bash
# Every test with the label gpu is skipped without a GPU, and fails there if
# HYBRID_REQUIRE_GPU is 1.
# Usage: require_gpu.sh <ctest>
set -euo pipefail
command -v python3 >/dev/null || exit 77
"$1" --test-dir "$HYBRID_BUILD" --label-regex '^gpu$' --show-only=json-v1 |
    CUDA_VISIBLE_DEVICES='' python3 -c '
import json, os, subprocess, sys
tests = json.load(sys.stdin)["tests"]
assert len(tests) >= 6, "%d tests labelled gpu" % len(tests)
for test in tests:
    for required, expected in (("0", 77), ("1", 1)):
        env = dict(os.environ, HYBRID_REQUIRE_GPU=required)
        got = subprocess.run(test["command"], env=env, stderr=subprocess.DEVNULL).returncode
        assert got == expected, "%s, HYBRID_REQUIRE_GPU=%s: exit code %d, not %d" % (
            test["name"], required, got, expected)
'
