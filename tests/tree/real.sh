#!/usr/bin/env bash
# bench/real.sh on two small matrices, one of them not square: each of our products is
# timed and right, each missing peer is named, and the check finds errors. Its table is
# tested with results written by hand.
# Usage: real.sh <libhybrid_spmm.so>
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$HYBRID_SOURCE/bench/lib

# ---- the table: geometric means, which is slower, where the other backend was faster
line() { # problem peer engine freed_s error
    printf '{"problem": "%s", "op": "spmm", "cols": 8, "type": "f32", "peer": %s, ' "$1" "$2"
    printf '"engine": %s, "freed_s": %s, "kept_s": null, "error": %s, ' "$3" "$4" "$5"
    printf '"version": "1", "device": "d", "threads": 2, "date": "2026-01-01T", "commit": "c"}\n'
}
{
    line p null '"auto"' 2 null
    line p null '"host"' 1 null
    line p '"scipy"' null 8 null
    line p '"mkl"' null 16 null
    line q null '"auto"' 2 null
    line q '"scipy"' null 1 null
    line r '"scipy"' null null '"left out"'
} >"$folder/lines.jsonl"
python3 "$HYBRID_SOURCE/bench/lib/real_table.py" "$folder/lines.jsonl" >"$folder/table"
grep -qx '| A\*X 8 | f32 | freed | 2 | 1.41 | 8.00 | 1.41 | 1 | q 0.50 | p 0.50 |' "$folder/table"
grep -qx -- '- r A\*X 8 f32, scipy: left out' "$folder/table"

# ---- the run
for python in "${PYTHON:-python3}" /usr/bin/python3; do
    "$python" -c 'import scipy.sparse' 2>/dev/null && break
    python=
done
if [[ -z $python ]]; then
    echo "SKIP: no Python with NumPy and SciPy"
    exit 77
fi
mkdir "$folder/data"
{
    echo "%%MatrixMarket matrix coordinate real general"
    echo "300 200 900"
    for ((i = 0; i < 900; i++)); do # columns of a row differ, so that there are no duplicates
        echo "$((i / 3 + 1)) $((i * 67 % 200 + 1)) $((i % 7 - 3)).5"
    done
} >"$folder/data/wide.mtx"
{
    echo "%%MatrixMarket matrix coordinate pattern symmetric"
    echo "250 250 500"
    for ((i = 1; i <= 250; i++)); do
        echo "$i $i"
        echo "250 $i" | sed 's/^250 250$/2 1/'
    done
} >"$folder/data/arrow.mtx"
xz "$folder/data/arrow.mtx"
DATA=$folder/data LIBRARY=$1 PYTHON=$python "$HYBRID_SOURCE/bench/real.sh" "$folder/out" --quick \
    >"$folder/said" 2>&1 || { cat "$folder/said" >&2; exit 1; }
"$python" - "$folder/out/real.jsonl" "$folder/said" <<'EOP'
import json, sys
import numpy, scipy.sparse
import real_check, real_peers
lines = [json.loads(text) for text in open(sys.argv[1])]
said = open(sys.argv[2]).read()
wanted = {(name, kind, cols) for name in ("wide", "arrow") for kind in ("f32", "f64")
          for cols in (1, 8, 64, None)}
ours = {(l["problem"], l["type"], l["cols"]): l for l in lines if l["engine"] == "auto"}
assert set(ours) == wanted, wanted - set(ours)
for line in ours.values():
    assert line["verified"] and not line["error"], line
    assert line["freed_s"] > 0 and line["kept_s"] > 0 and line["variant"] and line["chunks"], line
    assert line["checked_rows"] == line["rows"], line
for peer in ["scipy", *real_peers.PEERS]:
    timed = {(l["problem"], l["type"], l["cols"]) for l in lines if l["peer"] == peer}
    assert timed == wanted or not timed and f"{peer} left out: " in said, peer

# Errors are found: a wrong value, column, order or value of Y, or an entry too many.
problem, scipy_peer = real_peers.Problem(sys.argv[1].replace("out/real.jsonl", "data/wide.mtx")), real_peers.SciPy()
def refused(check, result):
    try:
        check(problem, result, None, scipy_peer)
    except ArithmeticError:
        return True
    return False
problem.take(numpy.float32, None)
A = scipy_peer.csr(*problem.first())
C = A @ scipy_peer.csr(*problem.second)
C.sort_indices()
row = int(numpy.argmax(numpy.diff(C.indptr) > 2))
first = C.indptr[row]
def changed(change):
    arrays = C.indptr.astype(numpy.int64), C.indices.copy(), C.data.copy()
    change(*arrays)
    return arrays
assert not refused(real_check.same_product, changed(lambda *_: None))
def value(row_ptr, col, val): val[first] += 0.01
def swap(row_ptr, col, val):
    for part in col, val: part[first:first + 2] = part[first:first + 2][::-1].copy()
def shift(row_ptr, col, val): row_ptr[row + 1] -= 1
for change in value, swap, shift:
    assert refused(real_check.same_product, changed(change)), change.__name__
problem.take(numpy.float32, 8)
Y = A @ problem.X
assert not refused(real_check.same_dense, Y)
Y[7, 7] += 0.01
assert refused(real_check.same_dense, Y)
EOP
