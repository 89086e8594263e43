# The benchmark times the first call, calls with freed results and calls with kept
# results, and records versions and machine.
. "$(dirname "$0")/../lib.bash"

bench=$HYBRID_BUILD/bin/hybrid_spmm_bench
[ -x "$bench" ] && command -v python3 >python || exit 77
for op in "spgemm er:400,6" "spmm er:400,6 --cols 9"; do
    # shellcheck disable=SC2086 # words of a command line
    "$bench" $op --backend host --reps 3 --keep 2 --peer graphblas --commit abc \
        --json x.jsonl >out || fail "exit code $? of $op"
    grep -q 'GraphBLAS skipped' out || [ "$(grep -c 'yes$' out)" = 2 ] || fail "wrong: $op"
done
"$bench" spmm road:9 --backend host --reps 1 --json without.jsonl >out || fail "exit code $?"

python3 - <<'X' || fail "the lines do not say what they should"
import json
def lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(text) for text in f]
for line in lines("x.jsonl"):
    assert 0 < line["cold_s"], line
    for name in "freed", "kept":
        assert 0 < line[name + "_min_s"] <= line[name + "_s"] <= line[name + "_max_s"], line
    assert line["seconds"] == line["freed_s"] and line["kernels_s"] is None, line
    assert (line["reps"], line["kept_reps"], line["commit"]) == (3, 2, "abc"), line
    assert line["versions"].startswith("hybrid_spmm "), line
    assert line["peer"] or line["engine"] == "host", line
    assert not line["peer"] or "GraphBLAS" in line["versions"], line
[line] = lines("without.jsonl")
assert line["kept_s"] is None and line["kept_reps"] == 0, line
X
"$bench" spmm road:9 --keep 1 --pinned >out 2>err && fail "takes --keep with --pinned"
grep -q -e '--keep and --pinned' err || fail "does not say what excludes what"
exit 0
