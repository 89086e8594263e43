# explain, info and list print JSON with the same numbers as their text.
. "$(dirname "$0")/lib.bash"
make_matrices
python3 -c pass 2>/dev/null || exit 77

expect 0 explain A.mtx B.mtx --backend host --json --host-memory 1GB
cp out product.json
expect 0 explain A.mtx --dense-cols 4 --backend host --json
cp out dense.json
expect 0 info A.mtx --json
cp out info.json
expect 0 multiply -q A.mtx --dense-cols 2 -o Y.npy
expect 0 info Y.npy --json
cp out info_dense.json
expect 0 list --json
cp out list.json
python3 - <<'P' 2>err || fail "the JSON is not what it should be"
import json
def load(name):
    return json.load(open(name))
p = load("product.json")
assert p["product"] == "spgemm" and p["type"] == "f64" and p["flops"] == 2 * 6
assert p["A"] == {"name": "A.mtx", "rows": 3, "cols": 3, "nnz": 5}
assert p["B"]["nnz"] == 4 and p["C"]["rows"] == 3 and p["C"]["cols"] == 2
assert p["predicted_result_bytes"] == 4 * 8 + 12 * p["C"]["predicted_nnz"]
assert p["host_memory_bytes"] == 10**9 and p["result_fits"] is True
chosen = [c for c in p["candidates"] if c["chosen"]]
assert len(chosen) == 1 and chosen[0]["variant"] == p["variant"]
assert all(c.get("predicted_s", 0) > 0 or c["refused"] for c in p["candidates"])
assert p["details"].startswith("sp") and "\nfeatures " in p["details"], p["details"]
d = load("dense.json")
assert d["product"] == "spmm" and d["Y"] == {"rows": 3, "cols": 4, "predicted_nnz": 12}
assert d["predicted_result_bytes"] == 96 and "device" not in d
i = load("info.json")
assert (i["rows"], i["cols"], i["nnz"], i["row_min"], i["row_max"]) == (3, 3, 5, 1, 2)
assert i["square"] and not i["pattern_symmetric"] and i["square_products"] == 9
x = load("info_dense.json")
assert (x["storage"], x["rows"], x["cols"], x["not_finite"]) == ("dense", 3, 2, 0)
l = load("list.json")
assert {b["name"] for b in l["backends"]} == {"host", "cuda"} and l["backends"][0]["present"]
assert {"spmm.host.rows", "spgemm.host.rows"} <= {v["name"] for v in l["variants"]}
assert all(v["summary"] and v["source"] for v in l["variants"])
P
only A.mtx B.mtx Y.npy product.json dense.json info.json info_dense.json list.json
