# With --progress the benchmark measures pauses between progress calls, and ends some
# products early. The option works for each operation.
. "$(dirname "$0")/../lib.bash"

bench=$HYBRID_BUILD/bin/hybrid_spmm_bench
[ -x "$bench" ] || exit 77
for op in "spgemm rmat:13,8" "spmm er:20000,8 --cols 16" "spmv er:20000,8"; do
    # shellcheck disable=SC2086 # words of a command line
    "$bench" $op --backend host --reps 1 --progress >out 2>err || fail "exit code $? of $op"
    [ "$(grep -c 'yes$' out)" = 1 ] || fail "wrong: $op"
    grep -Eq 'progress: longest pause [0-9.]+ ms, in [1-9][0-9]* calls of two .* within' out ||
        fail "no line of progress: $op"
done
exit 0
