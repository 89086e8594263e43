# Text has no type and no size in memory that the program knows before it has been read, and a
# name may have options after "::".
. "$(dirname "$0")/../lib.bash"

printf '0\t1\n1\t2\n2\t0\n' >graph.tsv
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 3' '1 2 1' '2 3 1' '3 1 1' >A.mtx

# Values are read in the type that is asked for, or in that of the other operand.
expect 0 convert A.mtx single.json --type f32 -q
expect 0 multiply A.mtx -o want.json --type f32 -q
for way in '--type f32' '--type f32 --verify' '--type f32 --resume'; do
    expect 0 multiply graph.tsv -o C.json $way -q
    cmp -s want.values.bin C.values.bin || fail "a list with $way"
    rm C.*
done
expect 0 multiply graph.tsv single.json -o C.json -q
cmp -s want.values.bin C.values.bin || fail "a list does not take the type of the other operand"
expect 0 multiply graph.tsv::weights=no --type f32 -o C.json -q
expect 2 multiply graph.tsv::type=f64 --type f32 -o C.json -q
says 'holds f64 values'

# Options of a Matrix Market file work in every command, and errors name the file alone.
expect 0 multiply A.mtx::type=f32 -o D.json -q
cmp -s want.values.bin D.values.bin || fail "the option type=f32"
expect 0 info A.mtx::type=f32
expect 3 info A.mtx::base=1
says "^hybrid_spmm: A.mtx: 'base=1' is no option of this file"
expect 5 info absent.mtx::type=f32
says "cannot open 'absent.mtx'"
expect 3 info D.json::X
says "D.json: '::X' selects a member"

# A large text is read in parts, in the same type as a small one. A large array is read as a whole.
expect 0 generate er:20000,5 -o L.mtx -q
expect 0 multiply L.mtx -o L.npz --type f32 -q
expect 0 multiply L.mtx -o M.npz --type f32 -q --host-memory 12MiB
cmp -s L.npz M.npz || fail "a large file in f32"
{
    printf '%s\n' '%%MatrixMarket matrix array real general' '20000 50'
    awk 'BEGIN { for (i = 0; i < 1000000; i++) print i % 97 }'
} >X.mtx
expect 0 multiply L.mtx X.mtx -o Y.npy -q
expect 0 multiply L.mtx X.mtx -o Z.npy -q --host-memory 23MiB
cmp -s Y.npy Z.npy || fail "a large array"
expect 0 convert X.mtx X.npy -q
expect 0 multiply L.mtx X.npy -o Z.npy -q
cmp -s Y.npy Z.npy || fail "convert loses something of an array"
expect 0 convert X.mtx X32.npy -q --type f32 --rows 5:9
[ "$(stat -c %s X32.npy)" -eq $((128 + 4 * 50 * 4)) ] || fail "rows of an array"
exit 0
