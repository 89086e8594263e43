# several.sh measures each case on each list of devices, within a limit, and prints the ratio to one
# device, the bound and the share of the bound that was reached. The CPU takes the place of GPUs.
. "$(dirname "$0")/../lib.bash"

export BENCH=$HYBRID_BUILD/bin/hybrid_spmm_bench SPGEMM=stencil7:5 SPMM=road:9 REPS=1 COMMIT=x
[ -x "$BENCH" ] && command -v python3 >python || exit 77
several=$HYBRID_SOURCE/bench/several.sh
DEVICES='0 0,1 0,1,2,3' "$several" out --backend host >log 2>err || fail "exit code $?: $(cat err)"
[ "$(wc -l <out/several.jsonl)" = 12 ] || fail "not one line for each case and list"
grep -q '| product | GPUs | .* | times one GPU | bound | reached, % | of the reference, % |' out/several.md || fail "head"
for devices in 1 2 4; do
    for case in 'A\*A `stencil7:5`, f32' 'A\*X `road:9`, 128 columns, f32'; do
        for memory in pageable pinned; do
            grep -Eq "^\| $case, $memory \| $devices \| [^|]+ \| [0-9.e-]+ \| [0-9.]+ \| [a-z ]+ \| [0-9]+ \| [0-9]+ \|$" \
                out/several.md || fail "no line for $case, $memory, $devices devices"
        done
    done
done

LIMIT=0 "$several" late --backend host >log 2>err && fail "succeeds without time"
grep -q 'no time is left for spgemm stencil7:5 on devices 0' err || fail "$(cat err)"

# a program that does not end
printf '#!/bin/sh\nexec sleep 60\n' >slow && chmod +x slow
BENCH=$PWD/slow LIMIT=1 DEVICES=0 SPMM= "$several" slow.out >log 2>err && fail "waits for ever"
grep -q 'spgemm stencil7:5 on devices 0 did not end in time' err || fail "$(cat err)"

# a share of each bound that a report can name; a case that fails
line() {
    printf '{"op": "spmm", "problem": "p%s", "cols": 1, "type": "f32", "pinned": false' "$2"
    printf ', "devices": %s, "error": %s, "predicted_s": 0.5, "seconds": %s, "bound": "%s"' "$1" "$3" "$4" "$5"
    printf ', "use_bus_up": 0.1, "use_bus_down": 0.2, "use_host_memory": 0.85'
    printf ', "use_device": 0.3, "use_cores": 0.4, "speedup_over_reference": 0.75}\n'
}
{ line 1 a null 2 'bus down' && line 2 a null 1 'host memory' && line 4 a '"no memory"' 0 device; } >lines
python3 "$HYBRID_SOURCE/bench/lib/several.py" lines >table || fail "exit code $?"
grep -q '| 1 | 500 | 2000 | 1.00 | bus down | 20 | 75 |' table || fail "$(cat table)"
grep -q '| 2 | 500 | 1000 | 2.00 | host memory | 85 | 75 |' table || fail "$(cat table)"
grep -q '| 4 | - | fails | - | - | - | - |' table || fail "$(cat table)"
exit 0
