# Trace and report are JSON with the expected contents.
. "$(dirname "$0")/lib.bash"

expect 0 multiply -q gen:stencil27:6 --backend host --chunk-rows 50 --threads 2 \
    -o 'C "1".mtx' --trace t.json --report r.json
[ "$(grep -c '"ph":"X"' t.json)" -ge 12 ] || fail "too few slices"
for lane in reader writer main process_name; do
    grep -q "\"$lane\"" t.json || fail "the trace has no $lane"
done
for phase in s f C M; do
    grep -q "\"ph\":\"$phase\"" t.json || fail "the trace has no event of phase $phase"
done
grep -q '"chunk":4,"first_row":200,"rows":16' t.json || fail "the last chunk is wrong"
grep -q '"name": "C \\"1\\".mtx"' r.json || fail "a name is not escaped"
grep -q '"flops": 170368,' r.json || fail "not 2 * 44^3 flops" # 44 = 4 + 4 * 9 + 4
grep -q '"chunks": 5' r.json || fail "not 5 chunks"
expect 0 multiply -q gen:stencil27:6 --report - --seed 18446744073709551615
grep -q '"seed": 18446744073709551615' out || fail "the seed is another"
cp out stdout.json
expect 0 multiply -q gen:stencil27:6 --dense-cols 5 --report dense.json --trace dense_t.json
grep -q '"product": "spmm"' dense.json || fail "not spmm"
only 'C "1".mtx' t.json r.json stdout.json dense.json dense_t.json

python3 -c pass 2>/dev/null || exit 77
for file in *.json; do
    python3 -m json.tool "$file" >/dev/null 2>err || fail "$file is no JSON"
done
# bars of a lane do not overlap, times begin at the first event, arrows have both ends
python3 - t.json <<'P' 2>err || fail "the trace does not hold together"
import json, sys
trace = json.load(open(sys.argv[1]))
report = json.load(open("r.json"))
events = trace["traceEvents"]
usage = trace["otherData"]
facts = usage.pop("timeline")
assert usage == {name: report[name] for name in usage}
assert set(usage["use"]) == {"cores", "host memory"} and usage["bound"] in usage["use"]
for use in usage["use"].values():
    assert 0 <= use["utilisation"] <= 1 and use["rate"] > 0
memory = usage["use"]["host memory"]
assert memory["rate_is"] in ("built in", "observed") and usage["rates_measured"] is False
assert abs(report["host_bytes"] / (memory["rate"] * report["total_s"]) - memory["utilisation"]) < 1e-6
assert abs(usage["reference_s"] / report["total_s"] - usage["speedup_over_reference"]) < 1e-6
assert usage["chunks"] == 5 and usage["predicted_s"] > 0 and usage["peak_host_bytes"] > 0
threads, arrows = {}, {}
for e in events:
    if e["ph"] == "X":
        threads.setdefault(e["tid"], []).append((e["ts"], -e["dur"]))
    elif e["ph"] in "stf":
        arrows.setdefault(e["id"], []).append((e["ts"], e["ph"]))
assert min(t for s in threads.values() for t, _ in s) == 0
names = {e["tid"]: e["args"]["name"] for e in events if e.get("name") == "thread_name"}
assert set(names) == set(threads) and len(set(names.values())) == len(names)
assert set(names.values()) <= {"main", "reader", "writer", "caller", "cpu0", "cpu1"}
for slices in threads.values():
    slices.sort()
    for (begin, length), (after, _) in zip(slices, slices[1:]):
        assert begin - length <= after + 1e-6
lanes = {lane["tid"]: lane for lane in facts["lanes"]}
assert {tid: lane["name"] for tid, lane in lanes.items()} == names
run = facts["end_us"] - facts["begin_us"]
bars = [e for e in events if e["ph"] == "X" and "chunk" in e["args"]]
assert abs(facts["begin_us"] - min(e["ts"] for e in bars)) < 1e-6
assert abs(facts["end_us"] - max(e["ts"] + e["dur"] for e in bars)) < 1e-6
assert 0 < run <= usage["total_s"] * 1e6
for tid, lane in lanes.items():
    busy = sum(e["dur"] for e in bars if e["tid"] == tid)
    assert abs(lane["busy_us"] - busy) < 1e-2 and lane["busy_us"] <= run + 1e-6
assert facts["format"] == 1 and facts["workers"] == 2 and facts["device"] == "CPU"
assert len(facts["stalls"]) <= 3
for stall in facts["stalls"]:
    name = lanes[stall["tid"]]["name"]
    assert name.startswith("cpu") and stall["text"].startswith(name + " was idle for ")
    begin, end = stall["begin_us"], stall["end_us"]
    assert facts["begin_us"] <= begin < end <= facts["end_us"]
    assert all(e["ts"] + e["dur"] <= begin + 1e-6 or e["ts"] >= end - 1e-6
               for e in bars if e["tid"] == stall["tid"])
memory = {m["name"]: m for m in facts["memory"]}
counters = {e["name"] for e in events if e["ph"] == "C"}
assert counters == set(memory) == {"chunk buffers", "host memory"}
host = memory["host memory"]
assert 0 < host["peak_bytes"] <= host["limit_bytes"]
bounds = {e["args"]["bound"] for e in events if e["ph"] == "X"}
assert bounds <= {"cores", "host memory", "other"} and bounds & {"cores", "host memory"}
assert len(arrows) == 5
for steps in arrows.values():
    phases = "".join(p for _, p in steps)
    assert phases[0] == "s" and phases[-1] == "f" and set(phases[1:-1]) <= {"t"}
    assert [t for t, _ in steps] == sorted(t for t, _ in steps)
P
