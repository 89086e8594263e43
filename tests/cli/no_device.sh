# Without a GPU, --backend cuda gives exit code 1. A missing GPU is only mentioned if the
# user asked for one.
. "$(dirname "$0")/lib.bash"
make_matrices

"$HYBRID_SPMM" multiply -q A.mtx --backend cuda >out 2>err && exit 77
expect 1 multiply -q A.mtx --backend cuda -o C.mtx
says 'no GPU'
no_nvidia || exit 77 # a GPU that cannot be used is mentioned
expect 0 multiply A.mtx
! grep -Eiq 'GPU|device|cuda|against' err || fail "the summary tells of an absent GPU"
expect 0 explain A.mtx
[ ! -s err ] || fail "an absent GPU needs no words"
expect 0 explain A.mtx --device 1
says 'the CPU computes, because the GPU cannot be used: .*doctor'
expect 0 explain A.mtx --device 1 -q
[ ! -s err ] || fail "--quiet is not quiet"
expect 0 explain A.mtx --backend host --device 1
[ ! -s err ] || fail "the CPU was asked for, and that needs no excuse"
only A.mtx B.mtx
