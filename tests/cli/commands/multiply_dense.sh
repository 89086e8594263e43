# Dense operands: .npy of both orders and types, Matrix Market arrays, random matrices.
. "$(dirname "$0")/../lib.bash"
make_matrices

# npy <order> <shape>: prints the 128-byte header of a .npy file of doubles
npy() {
    printf '\223NUMPY\001\000\166\000%-117s\n' \
        "{'descr': '<f8', 'fortran_order': $1, 'shape': ($2), }"
}
zero='\000\000\000\000\000\000\000\000'
one='\000\000\000\000\000\000\360\077'
two='\000\000\000\000\000\000\000\100'
three='\000\000\000\000\000\000\010\100'
four='\000\000\000\000\000\000\020\100'

# X = [1 0; 2 3; 0 4] has the values of B, so that A X = A B
{ npy False '3, 2' && printf "$one$zero$two$three$zero$four"; } >X.npy
{ npy True '3, 2' && printf "$one$two$zero$zero$three$four"; } >XF.npy
printf '%s\n' '%%MatrixMarket matrix array real general' '3 2' 1 2 0 0 3 4 >X.mtx

# A X = [5 6; 0 12; 4 20]
five='\000\000\000\000\000\000\024\100'
six='\000\000\000\000\000\000\030\100'
twelve='\000\000\000\000\000\000\050\100'
twenty='\000\000\000\000\000\000\064\100'
printf "$five$six$zero$twelve$four$twenty" >values

for X in X.npy XF.npy X.mtx; do
    for options in "" "--threads 1" "--chunk-rows 1" "--backend host"; do
        expect 0 multiply A.mtx $X -o Y.npy -q --verify $options
        tail -c 48 Y.npy | cmp - values || fail "A X is wrong for $X $options"
        head -c 128 Y.npy | grep -aq "'<f8'.*False.*(3, 2)" || fail "odd .npy header"
        rm Y.npy
    done
done
expect 0 info X.npy
golden info_dense
expect 0 multiply A.mtx --dense-cols 7 --seed 3 -q --verify -o Y.npy
expect 0 multiply A.mtx --dense-cols 7 --seed 3 -q --verify -o Z.npy --chunk-rows 1
cmp Y.npy Z.npy || fail "the same seed gave another X"
expect 0 multiply A.mtx --dense-cols 7 --seed 4 -q --verify -o Z.npy
cmp -s Y.npy Z.npy && fail "another seed gave the same X"
expect 0 multiply A.mtx --dense-cols 7 --type f32 -q --verify -o Y.npy
head -c 128 Y.npy | grep -aq "'<f4'.*(3, 7)" || fail "odd .npy header of f32"
expect 0 multiply A.mtx --dense-cols 7 --type f32 --allow-tf32 -q --verify --report -
grep -q '"allow_tf32": true' out || fail "the report does not tell of TF32"
only A.mtx B.mtx X.npy XF.npy X.mtx values Y.npy Z.npy
