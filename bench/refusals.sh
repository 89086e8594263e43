#!/usr/bin/env bash
# bench/refusals.sh [PROGRAM] - measures how hybrid_spmm rejects files that are no matrices:
# prints a table of exit codes, seconds and peak memory. The default PROGRAM is that of the
# release build.
set -uo pipefail
program=$(realpath "${1:-$(dirname "$0")/../build/release/bin/hybrid_spmm}") || exit 2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export XDG_CACHE_HOME=/nonexistent # without rates that a user has measured
banner='%%MatrixMarket matrix coordinate real general'

# row <name> <argument>...: prints a row of the table. stdin goes to the program, which runs for
# at most a minute.
row() {
    local name=$1
    shift
    PROGRAM=$program python3 - "$name" "$@" 3<&0 <<'PYTHON'
import os, resource, subprocess, sys, time

name, arguments = sys.argv[1], sys.argv[2:]
begin = time.monotonic()
child = subprocess.Popen(["timeout", "60", os.environ["PROGRAM"], *arguments], stdin=3,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
code = child.wait()
seconds = time.monotonic() - begin
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"{name:34} {code:4} {seconds:8.3f} s {peak:9.1f} MiB")
PYTHON
}

head -c 50000000 /dev/zero | gzip >zeros.gz
for _ in {1..60}; do cat zeros.gz; done >zeros.mtx.gz
printf '%s\n' "$banner" '1 1 1' '1 1 1' >one.mtx
ln -s /dev/zero zero.npy

printf '%-34s %4s %10s %13s\n' 'input' code seconds 'peak memory'
row '/dev/zero' info /dev/zero
row '/dev/urandom' info /dev/urandom
row '3 GB of zeros in gzip data' info zeros.mtx.gz
row '/dev/zero as .npy' multiply -q one.mtx zero.npy
row '/dev/zero as --rates' multiply -q one.mtx --rates /dev/zero
{ echo "$banner"; yes '% nothing'; } 2>/dev/null | row 'comments without end' info /dev/stdin
{ echo "$banner"; echo 3 3 1; yes '1 1 1'; } 2>/dev/null |
    row 'entries without end, 1 announced' info /dev/stdin
row 'a matrix of one entry' info one.mtx
exit 0
