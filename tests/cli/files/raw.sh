# Raw arrays of numbers with a JSON description: A, B and X.
. "$(dirname "$0")/../lib.bash"
make_matrices

zero='\000\000\000\000\000\000\000\000'
one='\000\000\000\000\000\000\360\077'
two='\000\000\000\000\000\000\000\100'
three='\000\000\000\000\000\000\010\100'
four='\000\000\000\000\000\000\020\100'
dense='{"format": "hybrid-dense", "version": 1, "rows": 3, "cols": 2, "type": "f64",'

# X = [1 0; 2 3; 0 4] has the values of B, so that A X = A B
printf "$one$zero$two$three$zero$four" >x.bin
printf "junk$one$two$zero$zero$three$four" >xf.bin
echo "$dense \"order\": \"row\", \"values\": {\"file\": \"x.bin\"}}" >X.json
mkdir folder
echo "$dense \"order\": \"col\", \"values\": {\"file\": \"../xf.bin\", \"offset\": 4}}" >folder/XF.json

# A X = [5 6; 0 12; 4 20]
five='\000\000\000\000\000\000\024\100'
six='\000\000\000\000\000\000\030\100'
twelve='\000\000\000\000\000\000\050\100'
twenty='\000\000\000\000\000\000\064\100'
printf "$five$six$zero$twelve$four$twenty" >values

for X in X.json folder/XF.json; do
    for options in "" "--threads 1" "--chunk-rows 1" "--backend host"; do
        expect 0 multiply A.mtx $X -o Y.npy -q $options
        tail -c 48 Y.npy | cmp - values || fail "A X is wrong for $X $options"
        rm Y.npy
    done
done
expect 0 explain A.mtx X.json
expect 0 multiply A.mtx X.json --report - -q
grep -q '"X"' out || fail "X is not in the report"
expect 2 multiply A.mtx X.json -q --verify
says "needs X in memory"
expect 2 multiply A.mtx X.json -q --type f32
says "'X.json' holds f64 values, which are not converted; give --type f64, or leave out --type"
expect 2 multiply A.mtx X.json --transpose-b
says "needs a sparse B"

# I is the identity matrix of 3 rows
printf '\000\000\000\000\001\000\000\000\002\000\000\000\003\000\000\000' >i.bin
printf "\000\000\000\000\001\000\000\000\002\000\000\000$one$one$one" >>i.bin
cat >I.json <<X
{"format": "hybrid-csr", "version": 1, "rows": 3, "cols": 3, "nnz": 3, "type": "f64",
 "row_ptr": {"file": "i.bin", "type": "i32"},
 "col": {"file": "i.bin", "offset": 16, "type": "i32"},
 "values": {"file": "i.bin", "offset": 28}}
X
expect 0 info I.json
grep -q 'entries' out || fail "info says nothing"
expect 0 multiply I.json X.json -o Y.npy -q
tail -c 48 Y.npy | cmp - x.bin || fail "I X is wrong"
expect 0 multiply I.json -q --verify
expect 3 multiply X.json A.mtx -q
says "X.json: A must be sparse, but this file describes a dense matrix"
expect 3 info X.json

# the file name may have escaped slashes and lie in any folder
sed "s|x.bin|$PWD/x.bin|; s|/|\\\\/|g" X.json >folder/XE.json
grep -q '\\/x.bin' folder/XE.json || fail "nothing is escaped"
expect 0 multiply A.mtx folder/XE.json -o Y.npy -q
tail -c 48 Y.npy | cmp - values || fail "A X is wrong for escaped slashes"

# without --type the type of the file applies
for number in "$zero" "$one" "$two"; do printf "${number:16:16}"; done >x32.bin
sed 's/f64/f32/; s/x.bin/x32.bin/; s/"cols": 2/"cols": 1/' X.json >X32.json
expect 0 multiply A.mtx X32.json -o Y.npy
grep -q '^Y = A X *f32' err || fail "the type is not that of X"
grep -q "'<f4'" Y.npy || fail "the result has another type"
expect 0 explain A.mtx X32.json
grep -q 'values of f32' out || fail "explain has another type"
expect 3 multiply -q I.json X32.json
says "'I.json' and 'X32.json' hold values of different types, which are not converted"
sed 's/f64/f32/; s/28}/32}/; s/i.bin/i32.bin/g' I.json >I32.json
cp i.bin i32.bin && truncate -s 44 i32.bin
expect 0 info I32.json
expect 0 multiply I32.json
grep -q '^C = A A *f32' err || fail "the type is not that of A"

# a file of numbers that is too short or missing is an error
truncate -s 47 x.bin
expect 3 multiply A.mtx X.json -q
says "x.bin: has 47 bytes, and 48 are needed"
rm x.bin
expect 5 multiply A.mtx X.json -q
says "x.bin: cannot be opened"
sed -i 's/"cols": 2/"cols": two/' X.json
expect 3 multiply A.mtx X.json -q
says "X.json:1: 'cols' must be a whole number"
