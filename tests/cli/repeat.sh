# --repeat N computes N times, prints the time of each call and writes the same result.
. "$(dirname "$0")/lib.bash"
make_matrices

# calls <number> <argument>...: checks that summary and report have `number` times
calls() {
    local number=$1
    shift
    expect 0 multiply "$@" --repeat "$number" --report report.json
    [ "$(grep -c '^  call [0-9]' err)" -eq "$number" ] || fail "not $number times in the summary"
    grep -q "^  calls  *least .*, mean .*, most " err || fail "no least, mean and most"
    python3 - "$number" <<'P' || fail "the report has other times"
import json, sys
report = json.load(open("report.json"))
calls = report["calls_s"]
assert len(calls) == int(sys.argv[1]) and all(s > 0 for s in calls), calls
# operands are in host memory
assert report["pattern_bytes"] == 0, report
# the report is that of the last call, and its time a part of that call's wall time
assert report["total_s"] <= calls[-1], report
P
}

calls 3 A.mtx B.mtx -o C.mtx --verify
golden multiply_ab C.mtx
calls 2 gen:er:300,4 --dense-cols 2 -o Y.npy
expect 0 multiply gen:er:300,4 --dense-cols 2 -o Z.npy
grep -q '^  call' err && fail "one call is told as many"
cmp -s Y.npy Z.npy || fail "the second result differs"

# the memory budget holds one result at a time, but not the results of all calls
calls 4 gen:er:20000,8 --host-memory 44MiB

# calls are repeated with operands that stay in their files, too
printf '\000\000\000\000\000\000\360\077\000\000\000\000\000\000\000\100\000\000\000\000\000\000\010\100' >x.bin
echo '{"format": "hybrid-dense", "version": 1, "rows": 3, "cols": 1, "type": "f64",
       "order": "row", "values": {"file": "x.bin"}}' >X.json
calls 2 A.mtx X.json -o Y.npy
expect 0 multiply A.mtx X.json -o Z.npy -q
cmp -s Y.npy Z.npy || fail "the second result differs"

for number in 0 -1 x 1000001; do
    expect 2 multiply A.mtx --repeat=$number
    says "repeat takes a whole number from 1 to 1000000, not '$number'"
done
