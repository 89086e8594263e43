# Shapes that do not fit give exit code 3 and a message with the sizes.
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


# the message names the option that makes the shapes fit
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '2 4 1' '1 1 1' >W.mtx
# fits <pattern> <argument>...: checks exit code 3 and the message
fits() {
    local pattern=$1
    shift
    expect 3 multiply -q "$@"
    says "$pattern"
}
fits 'cannot be multiplied by itself; add --transpose-b .* or --transpose-a' B.mtx
fits 'add --transpose-b$' B.mtx B.mtx
fits 'add --transpose-a$' B.mtx A.mtx
fits 'leave out --transpose-a$' B.mtx W.mtx --transpose-a
fits 'leave out --transpose-b$' B.mtx W.mtx --transpose-b
fits "A' is 2 x 3, and X is 2 x 1; leave out --transpose-a" B.mtx X.mtx --transpose-a
fits 'A is 3 x 3, and B is 2 x 4$' A.mtx W.mtx
expect 3 explain -q B.mtx A.mtx
says 'add --transpose-a$'
only A.mtx B.mtx W.mtx X.mtx Y.npy
