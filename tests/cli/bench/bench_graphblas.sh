# If GraphBLAS is installed, the benchmark times it, and its results equal ours.
. "$(dirname "$0")/../lib.bash"

bench=$HYBRID_BUILD/bin/hybrid_spmm_bench
[ -x "$bench" ] || exit 77
for op in "spgemm stencil27:6" "spgemm er:300,5 stencil7:8 --type f64" "spmm stencil7:9 --cols 5"; do
    # shellcheck disable=SC2086 # words of a command line
    "$bench" $op --backend host --reps 1 --peer graphblas >out || fail "exit code $? of $op"
    grep -q 'GraphBLAS skipped' out && exit 77
    grep -q 'graphblas.*yes$' out || fail "no verified line of GraphBLAS: $op"
    ! grep -q ' no ' out || fail "an unverified line: $op"
done
