# --transpose-a and --transpose-b give the products of files that awk has transposed.
. "$(dirname "$0")/lib.bash"
make_matrices

# swap <from> <to>: writes the transpose, sorted by row
swap() {
    awk '/^%/ { print; next }
         !sizes { sizes = 1; print $2, $1, $3; next }
         { print $2, $1, $3 | "sort -n -k 1,1 -k 2,2" }' "$1" >"$2"
}

# same <file> <arguments> -- <arguments>: checks that both products give the same file
same() {
    local file=$1 first=() second=()
    shift
    while [ "$1" != -- ]; do first+=("$1") && shift; done
    shift
    second=("$@")
    expect 0 multiply -q "${first[@]}" -o "first_$file"
    expect 0 multiply -q "${second[@]}" -o "second_$file"
    # a result that is written while it is computed has blanks behind its number of entries
    case $file in *.mtx) sed -i '2s/ *$//' "first_$file" "second_$file" ;; esac
    cmp -s "first_$file" "second_$file" || fail "${first[*]} is not ${second[*]}"
    rm "first_$file" "second_$file"
}

expect 0 generate -q er:40,5 --seed 3 -o square.mtx
awk 'NR == 2 { $2 = 40 } { print }' square.mtx >P.mtx
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '4 3 5' \
    '1 1 1' '1 3 2' '2 2 -3' '4 1 4' '4 3 5' >R.mtx
for name in A B R P; do swap $name.mtx ${name}t.mtx; done

# B'B = [5 6; 6 25], computed by hand
expect 0 multiply -q B.mtx --transpose-a --verify -o C.mtx
sed 1d C.mtx | tr '\n' ';' >got
[ "$(cat got)" = '2 2 4;1 1 5;1 2 6;2 1 6;2 2 25;' ] || fail "B'B is $(cat got)"

for options in "" "--verify" "--type f32" "--chunk-rows 1"; do
    same C.mtx R.mtx --transpose-a $options -- Rt.mtx R.mtx $options
    same C.mtx R.mtx --transpose-b $options -- R.mtx Rt.mtx $options
    same C.mtx P.mtx --transpose-a --transpose-b $options -- Pt.mtx Pt.mtx $options
    same C.mtx A.mtx B.mtx --transpose-a $options -- At.mtx B.mtx $options
    same C.mtx A.mtx Rt.mtx --transpose-a $options -- At.mtx Rt.mtx $options
    same C.mtx B.mtx A.mtx --transpose-a --transpose-b $options -- Bt.mtx At.mtx $options
    same Y.npy R.mtx --dense-cols 3 --transpose-a $options -- Rt.mtx --dense-cols 3 $options
done
printf '%s\n' '%%MatrixMarket matrix array real general' '4 2' 1 2 3 4 5 6 7 8 >X.mtx
same Y.npy R.mtx X.mtx --transpose-a -- Rt.mtx X.mtx

# raw arrays: an operand to transpose is read into memory, the other one stays in its file
printf '\000\000\000\000\001\000\000\000\002\000\000\000\003\000\000\000' >i.bin
printf '\001\000\000\000\000\000\000\000\002\000\000\000' >>i.bin
printf '\000\000\000\000\000\000\360\077%.0s' 1 2 3 >>i.bin
cat >I.json <<J
{"format": "hybrid-csr", "version": 1, "rows": 3, "cols": 3, "nnz": 3, "type": "f64",
 "row_ptr": {"file": "i.bin", "type": "i32"},
 "col": {"file": "i.bin", "offset": 16, "type": "i32"},
 "values": {"file": "i.bin", "offset": 28}}
J
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 3' '1 2 1' '2 1 1' '3 3 1' >I.mtx
for options in "--transpose-a" "--transpose-b" "--transpose-a --transpose-b"; do
    same C.mtx I.json $options -- I.mtx $options
    same C.mtx I.json A.mtx $options -- I.mtx A.mtx $options
    same C.mtx A.mtx I.json $options -- A.mtx I.mtx $options
done

# plan, summary and report name the product with its transposes
expect 0 explain R.mtx --transpose-a -q
expect 0 multiply R.mtx --transpose-a --report report.json
grep -q "^C = A' A " err || fail "the summary does not say A' A"
grep -q '"transpose_a": true' report.json || fail "the report does not say transpose_a"
