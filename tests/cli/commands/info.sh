# info prints the known properties of some matrices.
. "$(dirname "$0")/../lib.bash"
make_matrices

expect 0 info A.mtx
golden info_square
expect 0 info B.mtx
golden info_wide
expect 0 info gen:stencil7:5
head -4 out >start
golden info_stencil start
expect 0 info "$TEST_DATA/good_symmetric.mtx"
grep -q 'pattern symmetric, values symmetric' out || fail "symmetry is not seen"
for file in "$TEST_DATA"/good_*; do
    case $file in
    *.zst) # a build may lack libzstd
        "$HYBRID_SPMM" info "$file" >out 2>err || ! grep -q 'built without libzstd' err || continue ;;
    *.chunk | *good_dense.npz | *good_dense.petsc) continue ;; # parts of files, dense matrices
    esac
    expect 0 info "$file"
done

# a matrix with the maximum number of rows and no columns
{
    printf '\223NUMPY\1\0\166\0'
    printf '%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 0)}"
} >none.npy
expect 0 info none.npy
grep -q '^columns *0$' out || fail "it has columns"
