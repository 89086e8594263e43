#!/usr/bin/env bash
# bench/constants/constants.sh OUTDIR PERTURBED - finds out whether `calibrate` makes up for wrong constants.
# PERTURBED is a build folder of a copy of the source tree that bench/constants/perturb.py has changed:
#     cp -r . /tmp/copy && bench/constants/perturb.py /tmp/copy && cmake --preset release -S /tmp/copy ...
# Both builds calibrate. bench/models.sh times all choices with the right one. The choices of both,
# before and after calibrating, are then compared with the fastest (bench/constants/constants.py).
# Writes OUTDIR/models.{jsonl,md} and OUTDIR/constants.{jsonl,md}.
# Environment: BUILD = folder of the right build (build/release), MODELS = seconds for models.sh
# (240), and DATA, PYTHON and COMMIT as in models.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if (($# != 2)) || [[ $1 == -* ]]; then
    sed -n '2,10s/^# //p' "$0" >&2
    exit 2
fi
out=$1
right=${BUILD:-$here/../../build/release}
wrong=$2
data=${DATA:-${HYBRID_DATA_DIR:-$here/../../../shared/data}}
mkdir -p "$out"
"$right/bin/hybrid_spmm" calibrate -o "$out/right.rates" >"$out/calibrate.txt"
"$wrong/bin/hybrid_spmm" calibrate -o "$out/wrong.rates" >"$out/calibrate-wrong.txt"
right+=/lib/libhybrid_spmm.so
wrong+=/lib/libhybrid_spmm.so
status=0
DATA=$data RATES=$out/right.rates LIBRARY=$right "$here/../models.sh" "$out" --seconds "${MODELS:-240}" ||
    status=$?
((status <= 1)) # 1: a figure is beyond its bound
"${PYTHON:-python3}" "$here/constants.py" "$out/models.jsonl" "$data" --json "$out/constants.jsonl" \
    "built in=$right," "measured=$right,$out/right.rates" "perturbed=$wrong," \
    "perturbed, measured=$wrong,$out/wrong.rates" >"$out/constants.md"
cat "$out/constants.md"
