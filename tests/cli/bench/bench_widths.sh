# The benchmark takes several widths, and widths.py names those that are too slow.
. "$(dirname "$0")/../lib.bash"

bench=$HYBRID_BUILD/bin/hybrid_spmm_bench
widths=$HYBRID_SOURCE/bench/lib/widths.py
[ -x "$bench" ] && command -v python3 >python || exit 77
"$bench" spmm stencil7:5 road:9 --cols 1,33,7 --backend host --reps 1 --json x.jsonl >out ||
    fail "exit code $?"
[ "$(grep -c 'yes$' out)" = 6 ] || fail "not one line for each problem and width"
for list in 1, 1,,2 0 x 1,2,x; do
    "$bench" spmm road:9 --cols $list --backend host >out 2>err && fail "takes --cols $list"
    grep -q -e '--cols' err || fail "does not say what is wrong with --cols $list"
done

# line <columns> <seconds>: prints a line of the benchmark with this width and time
line() {
    printf '{"type": "f32", "problem": "p", "cols": %d, "seconds": %s, "error": null' "$@"
    printf ', "verified": true}\n'
}
{ line 16 1 && line 32 1.1 && line 33 1.4 && line 64 1.3 && line 128 2; } >smooth.jsonl
python3 "$widths" smooth.jsonl >out || fail "names a cliff where there is none"
{ line 16 1.3 && line 32 1.1 && line 33 1.6 && line 64 1.3; } >steep.jsonl
python3 "$widths" steep.jsonl >out && fail "names no cliff"
grep -q 'p: 16 columns take 1.18 times as long as 32' out || fail "not monotone: not named"
grep -q 'p: 33 columns take 1.45 times as long as 32' out || fail "a step: not named"
grep -q '3 cliffs' out || fail "33 columns take longer than 64: not named"
exit 0
