# Shapes that do not fit are exit code 3, and the sentence has the sizes.
. "$(dirname "$0")/lib.bash"
make_matrices

expect 3 multiply -q B.mtx A.mtx -o C.mtx
says '3 x 2.*3 x 3'
expect 3 multiply -q B.mtx
says '3 x 2'
expect 3 explain -q B.mtx
says '3 x 2'
printf '%s\n' '%%MatrixMarket matrix array real general' '2 1' 1 2 >X.mtx
expect 3 multiply -q A.mtx X.mtx -o Y.npy
says '3 x 3.*2 x 1'
expect 0 multiply -q B.mtx X.mtx -o Y.npy
only A.mtx B.mtx X.mtx Y.npy
