# explain tells the plan and computes nothing.
. "$(dirname "$0")/lib.bash"
make_matrices

expect 0 explain gen:stencil7:10 --backend host --type f32
for word in '^spgemm  A 1 000 x 1 000, nnz 6 400, f32' candidates 'chosen' '^chunks ' '^device '; do
    grep -q "$word" out || fail "explain does not say: $word"
done
expect 0 explain A.mtx --dense-cols 4 --backend host
grep -q '^spmm ' out || fail "explain does not say spmm"
grep -q 'tile fill 10.4 % (synergy low)' out || fail "explain does not tell of synergy"
expect 0 explain gen:stencil7:10 --backend host --variant spgemm.host.hash
grep -q 'spgemm.host.hash .*chosen' out || fail "the variant asked for is not chosen"
only A.mtx B.mtx
