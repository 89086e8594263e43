#!/usr/bin/env bash
# Runs a libFuzzer target for HYBRID_FUZZ_SECONDS (20). The first inputs are the files of
# tests/data with the target's extension, such as *.mtx* for fuzz_mtx, and the corpus of
# earlier runs: the folder HYBRID_FUZZ_CORPUS, or `fuzz` of the build, has one for each
# target, to which the run adds inputs that reach new code. An input that makes the target
# fail is stored in the folder `fuzz` of the build.
# Usage: libfuzzer.sh <program>
set -euo pipefail
name=$(basename "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
corpus=${HYBRID_FUZZ_CORPUS:-$HYBRID_BUILD/fuzz}/$name
mkdir -p "$folder/seeds" "$corpus" "$HYBRID_BUILD/fuzz"
find "$TEST_DATA" -maxdepth 1 -name "*.${name#fuzz_}*" -exec cp -t "$folder/seeds" {} +
"$1" -max_total_time="${HYBRID_FUZZ_SECONDS:-20}" -timeout=120 -print_final_stats=1 \
    -artifact_prefix="$HYBRID_BUILD/fuzz/$name." "$corpus" "$folder/seeds" 2>"$folder/log" || {
    grep -avE '^#[0-9]+|NEW_FUNC' "$folder/log" >&2
    exit 1
}
grep '^stat::number_of_executed_units' "$folder/log"
