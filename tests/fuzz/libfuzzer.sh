#!/usr/bin/env bash
# Runs a libFuzzer target for HYBRID_FUZZ_SECONDS (20). The first inputs are the files of
# tests/data with the target's extension: fuzz_mtx begins with *.mtx*, fuzz_number without
# files. An input that makes the target fail is stored in the folder `fuzz` of the build.
# Usage: libfuzzer.sh <program>
set -euo pipefail
name=$(basename "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/corpus" "$HYBRID_BUILD/fuzz"
find "$TEST_DATA" -maxdepth 1 -name "*.${name#fuzz_}*" -exec cp -t "$folder/corpus" {} +
"$1" -max_total_time="${HYBRID_FUZZ_SECONDS:-20}" -timeout=120 -print_final_stats=1 \
    -artifact_prefix="$HYBRID_BUILD/fuzz/$name." "$folder/corpus" 2>"$folder/log" || {
    grep -avE '^#[0-9]+|NEW_FUNC' "$folder/log" >&2
    exit 1
}
grep '^stat::number_of_executed_units' "$folder/log"
