# explain prints the plan in plain words, with numbers if --verbose, and computes nothing.
. "$(dirname "$0")/../lib.bash"
make_matrices

expect 0 explain gen:stencil7:10 --backend host --type f32
for word in '^product +C = A B, all sparse, values of f32$' \
    '^A +1 000 x 1 000, 6 400 entries, 6.4 per row on average, 7 in the longest row$' \
    '^C +1 000 x 1 000, about [0-9 ]+ entries, [0-9.]+ KiB$' \
    '^work +[0-9 ]+ multiplications, [0-9.]+ for each entry of C$' \
    '^memory +[0-9.]+ [GM]iB of the host memory of [0-9.]+ [GM]iB are free$' \
    '^computed +by the CPU, ' '^algorithm +spgemm.host.rows: ' '^parts ' \
    '^time +[0-9.]+ us predicted$' '^speeds +built in' '^instead +spgemm.host'; do
    grep -Eq "$word" out || fail "explain does not say: $word"
done
! grep -Eq 'cv |nnz|out <=|synergy|tile fill|slots|1e\+| 0 B|GPU' out || fail "words of papers"
expect 0 explain gen:stencil7:10 --backend host --type f32 --verbose
for word in '^algorithm' '^spgemm  A 1 000 x 1 000, nnz 6 400, f32' candidates 'chosen' \
    '^chunks ' '^device '; do
    grep -q "$word" out || fail "explain --verbose does not say: $word"
done
expect 0 explain A.mtx --dense-cols 4 --backend host --verbose
grep -q '^product     Y = A X' out || fail "explain does not say what is computed"
grep -q '^memory      X and Y take 192 B more' out || fail "explain does not tell of memory"
grep -q 'tile fill 10.4 % (synergy low)' out || fail "explain does not tell of synergy"
expect 0 explain gen:stencil7:10 --backend host --variant spgemm.host.hash
grep -q '^algorithm   spgemm.host.hash' out || fail "the variant asked for is not chosen"

# an operand or result that does not fit is reported before computing, with size and
# remedy
expect 0 explain gen:er:20000,20 --host-memory 64MiB
grep -q 'C DOES NOT FIT; raise host_bytes (--host-memory)' out || fail "C fits"
grep -Eq '^C .* about [0-9 ]+ entries, 9[01].[0-9] MiB$' out || fail "not about 91 MiB"
expect 4 multiply -q gen:er:20000,20 --host-memory 64MiB
says 'the result does not fit: it takes about 9[01].[0-9] MiB, and [0-9.]+ MiB of the host memory of 64.0 MiB are free; raise --host-memory'
expect 0 multiply -q gen:er:20000,20 --host-memory 64MiB -o C.mtx # written while it is computed
head -3 C.mtx | grep -q '^20000 20000 7' || fail "C.mtx has other sizes"
rm C.mtx
expect 0 explain gen:er:20000,20 --host-memory 64MiB --dense-cols 1000
grep -q 'they DO NOT FIT' out || fail "X and Y fit"

# operands in files: A is a column of 60 000 entries and B a row of 150
numbers=$(awk 'BEGIN { for (i = 0; i <= 60000; i++) printf "\\%03o\\%03o\\000\\000", i % 256, i / 256 }')
printf "$numbers" >a.bin
head -c 720000 /dev/zero >>a.bin
cat >A.json <<X
{"format": "hybrid-csr", "version": 1, "rows": 60000, "cols": 1, "nnz": 60000, "type": "f64",
 "row_ptr": {"file": "a.bin", "type": "i32"},
 "col": {"file": "a.bin", "offset": 240004, "type": "i32"},
 "values": {"file": "a.bin", "offset": 480004}}
X
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n1 150 150"
             for (j = 1; j <= 150; j++) print 1, j, 1 }' >R.mtx
for budget in 64MiB 3MiB; do # the smaller budget cannot hold all of A
    expect 0 explain A.json R.mtx --host-memory $budget
    grep -q '^C           60 000 x 150, about 9 000 000 entries, 103.5 MiB$' out ||
        fail "C has another size"
    grep -q 'C DOES NOT FIT; raise .*--host-memory' out || fail "C fits"
    expect 0 explain A.json R.mtx --host-memory $budget --json
    grep -q '"predicted_result_bytes": 108480008' out || fail "C has another size"
    grep -q '"result_fits": false' out || fail "C fits"
done
grep -q '"planned": false' out || fail "A was read as a whole"
for name in C.npz C.json; do # the panels of a .npz file are on the disk, too
    expect 0 explain A.json R.mtx --host-memory 3MiB -o $name
    grep -Eq '^to a file   at most about [123].[0-9] MiB of host memory, [0-9.]+ [KM]iB read, (20[67]|103).[0-9] MiB on the disk, [0-9.]+ [mu]?s$' out ||
        fail "no prediction of $name"
    ! grep -q 'DOES NOT FIT' out || fail "a result that goes to a file need not fit"
    [ ! -e $name ] || fail "explain wrote $name"
done
expect 0 explain A.json R.mtx --host-memory 3MiB -o C.mtx --json
grep -q '"predicted_file_bytes": 0,' out || fail "the size of text is known"
expect 4 multiply -q A.json R.mtx --host-memory 64MiB
says 'cannot allocate 103.5 MiB of host memory: .* the budget of 64.0 MiB .*raise .*--host-memory'
expect 0 explain A.json --dense-cols 4 --host-memory 3MiB
grep -q '^Y           60 000 x 4, 1.8 MiB$' out || fail "Y has another size"
printf '\0\0\0\0\0\0\0\0' >x.bin
cat >X.json <<X
{"format": "hybrid-dense", "version": 1, "rows": 1, "cols": 1, "type": "f64", "order": "row",
 "values": {"file": "x.bin"}}
X
expect 0 explain A.json X.json
grep -q '^to a file   with -o: at most about .* 468.8 KiB on the disk' out || fail "no prediction of Y"
expect 4 multiply -q A.json X.json --host-memory 200KiB
says 'the result does not fit: it takes about 468.8 KiB, .* raise --host-memory, or take'

# choice FILE: prints the variant and chunks of FILE; multiply must choose what explain says
choice() {
    grep -oE '^  "(variant|chunks)": [^,]*' "$1"
}
for product in gen:er:3000,8 gen:rmat:10,8 gen:er:9,2 "gen:fem3:6 --dense-cols 1" \
    "gen:band:3000,6 --dense-cols 24" "gen:rmat:11,4 --dense-cols 8"; do
    expect 0 explain -q --json $product
    choice out >planned
    [ "$(wc -l <planned)" -eq 2 ] || fail "explain does not tell variant and chunks"
    expect 0 multiply -q $product --report r.json
    grep -q '"details": "sp.*features ' r.json || fail "the report lacks the details"
    choice r.json | diff planned - >err || fail "$product: multiply differs"
done
rm planned r.json
only A.mtx B.mtx A.json R.mtx a.bin x.bin X.json
