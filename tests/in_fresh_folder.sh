#!/usr/bin/env bash
# Runs a test script in an empty folder of its own, which is removed afterwards.
# Usage: in_fresh_folder.sh <script> <argument>...
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
bash "$@"
