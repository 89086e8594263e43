# Without a GPU, --backend cuda is exit code 1 and auto says in one line why the CPU computes.
. "$(dirname "$0")/lib.bash"
make_matrices

"$HYBRID_SPMM" multiply -q A.mtx --backend cuda >out 2>err && exit 77
expect 1 multiply -q A.mtx --backend cuda -o C.mtx
says 'no GPU'
expect 0 explain A.mtx
says 'computing on the CPU, there is no GPU: .'
expect 0 explain A.mtx -q
[ ! -s err ] || fail "--quiet is not quiet"
expect 0 explain A.mtx --backend host
[ ! -s err ] || fail "the CPU was asked for, and that needs no excuse"
only A.mtx B.mtx
