# convert copies a matrix from any format to any other, or a part of it, and loses nothing.
. "$(dirname "$0")/../lib.bash"

# arrays <name>: prints the numbers of NAME.json
arrays() {
    cat "$1".index.bin "$1".values.bin
}

expect 0 convert gen:er:300,5 A.json
grep -Eq '^hybrid_spmm: A.json: 300 rows, .* written, in ' err || fail "no word of the result"
expect 0 convert gen:er:300,5 A.json --threads 1 -q
[ -s err ] && fail "-q is not quiet"
endings=(npz petsc json mtx)
"$HYBRID_SPMM" convert A.json A.h5 -q 2>err && endings+=(h5)
for from in "${endings[@]}"; do
    expect 0 convert A.json "B.$from" -q
    for to in "${endings[@]}"; do
        expect 0 convert "B.$from" "C.$to" -q
        expect 0 convert "C.$to" D.json -q
        cmp -s <(arrays A) <(arrays D) || fail "$from to $to loses something"
        rm -f C.* D.*
    done
done

# A matrix is copied in many panels of rows.
expect 0 convert gen:er:60000,8 L.json -q
for to in "${endings[@]}"; do
    [ "$to" = h5 ] && memory=64MiB || memory=24MiB
    expect 0 convert L.json "M.$to" -q --host-memory $memory --threads 2
    expect 0 convert "M.$to" N.json -q
    cmp -s <(arrays L) <(arrays N) || fail "many panels in $to lose something"
    rm -f M.* N.*
done
rm L.*

# The options for rows, the transpose, types and indices.
expect 0 convert A.json T.npz --transpose -q
expect 0 convert T.npz A2.json --transpose -q
cmp -s <(arrays A) <(arrays A2) || fail "the transpose of the transpose is another matrix"
expect 0 convert A.json all.npz --rows : -q
expect 0 convert B.npz all2.npz -q
cmp -s all.npz all2.npz || fail "--rows : is not all rows"
expect 0 convert A.json head.npz --rows :100 -q
expect 0 convert A.json tail.npz --rows 100: -q
echo '{"format": "hybrid-rows", "version": 1, "parts": [{"file": "head.npz"}, {"file": "tail.npz"}]}' >both.json
expect 0 convert both.json A3.json -q
cmp -s <(arrays A) <(arrays A3) || fail "two halves are not the whole"
expect 0 convert A.json F.json --type f32 -q
[ "$(stat -c %s F.values.bin)" -eq $(($(stat -c %s A.values.bin) / 2)) ] || fail "--type f32 writes other values"
expect 0 convert A.json K.npz --index-bits 64 -q
[ "$(stat -c %s K.npz)" -gt "$(stat -c %s all.npz)" ] || fail "--index-bits 64 writes 32 bits"

# --part-rows writes several parts. Each part is a matrix.
expect 0 convert A.json P.json --part-rows 70 -q
expect 0 convert P.json all3.npz -q
cmp -s all.npz all3.npz || fail "the parts are another matrix"
[ "$(ls P.rows | wc -l)" -eq 15 ] || fail "there are other files of parts"
expect 0 convert A.json head2.npz --rows 70:140 -q
expect 0 convert P.rows/part-000001.json head3.npz -q
cmp -s head2.npz head3.npz || fail "a part has other rows"

# Little memory, and a folder for temporary files.
mkdir spill
expect 0 convert B.petsc T2.npz --transpose --host-memory 8MiB --spill spill -q
cmp -s T.npz T2.npz || fail "another transpose in little memory"
[ -z "$(ls spill)" ] || fail "something is left in the folder for temporary files"

# After an error no file is left behind.
ls >before
expect 2 convert A.json A.json
expect 2 convert A.json B.what
expect 2 convert A.json B.npz --rows 5:2
expect 2 convert A.json B.npz --rows 0:0 # no row, rather than all of them
expect 5 convert A.json absent/B.npz
expect 5 convert absent.json B.npz
expect 2 convert A.json new.npz --part-rows 70
says "--part-rows needs a result whose name ends in .json"
expect 2 convert gen:er:5000,1 new.json --part-rows 1
says "more than 4096 parts; part_rows must be at least 2"
expect 2 convert A.json new.npz --rows 300:301
says 'rows 300:301 are not within the 300 rows'
ls | diff before - >&2 || fail "an error leaves a file"
exit 0
