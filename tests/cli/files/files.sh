# Files that cannot be read or written give exit code 5, before anything is computed.
. "$(dirname "$0")/../lib.bash"
make_matrices

# unusable <pattern> <argument>...: checks exit code 5 and the message
unusable() {
    local pattern=$1
    shift
    expect 5 "$@"
    says "$pattern"
}

mkdir folder
unusable "'absent.mtx'" multiply -q absent.mtx -o C.mtx
unusable "'absent.npy'" multiply -q A.mtx absent.npy -o Y.npy
unusable "'absent.mtx'" info absent.mtx
unusable "'folder'.*directory" info folder
unusable "'folder'.*directory" multiply -q folder
unusable "'folder'.*directory" multiply -q A.mtx folder
for option in -o --trace --report; do
    # errors of the output come first: the missing A is not opened
    unusable "'absent/C.mtx'" multiply -q absent.mtx $option absent/C.mtx
    unusable "'A.mtx/C.mtx'" multiply -q absent.mtx $option A.mtx/C.mtx
    unusable "'folder'.*directory" multiply -q absent.mtx $option folder
done
unusable "'absent/C.mtx'" generate band:3,1 -o absent/C.mtx
if [ -w /dev/full ]; then
    unusable "'/dev/full'" multiply -q A.mtx -o /dev/full
    unusable "'/dev/full'" multiply -q A.mtx --trace /dev/full
    unusable "'/dev/full'" multiply -q A.mtx --report /dev/full
    got=0
    "$HYBRID_SPMM" multiply -q A.mtx --report - >/dev/full 2>err || got=$?
    [ "$got" -eq 5 ] || fail "a full stdout is exit code $got"
fi

# a failed multiply leaves the previous file unchanged
echo precious >C.mtx
expect 3 multiply -q B.mtx -o C.mtx
[ "$(cat C.mtx)" = precious ] || fail "the previous result is gone"
expect 0 multiply -q A.mtx -o C.mtx
golden multiply_aa C.mtx

# an output that is a symbolic link is written through the link
ln -s target.mtx link.mtx
cp A.mtx target.mtx
expect 0 multiply -q A.mtx -o link.mtx
[ -L link.mtx ] || fail "the link was replaced"
golden multiply_aa target.mtx

# a result may replace its operand; devices and pipes are written in place
cp A.mtx both.mtx
expect 0 multiply -q both.mtx -o both.mtx
golden multiply_aa both.mtx
for option in -o --trace --report; do
    expect 0 multiply -q A.mtx $option /dev/null
    [ -c /dev/null ] || fail "/dev/null was replaced"
done
expect 0 multiply -q A.mtx -o /dev/stdout # standard output is a regular file here
golden multiply_aa
"$HYBRID_SPMM" multiply -q A.mtx -o /dev/stdout | cat >piped
golden multiply_aa piped

# two outputs must be different files, whatever their names are
: >there
ln -s there other
for pair in '--trace ./x --report x' '-o ./C.mtx --report C.mtx' '-o there --trace other' \
    "--trace x --report $PWD/folder/../x"; do
    expect 2 multiply -q A.mtx $pair
    says 'need different files'
done
[ ! -s there ] || fail "the file was written"

# a user's file that ends like a temporary file is left alone
cp A.mtx D.mtx.partial
expect 0 multiply -q D.mtx.partial -o D.mtx
golden multiply_aa D.mtx
cmp -s A.mtx D.mtx.partial || fail "the operand was written"

# if two programs write one file, it is one of the two results
for seed in 1 2; do
    "$HYBRID_SPMM" generate -q er:20000,8 --seed $seed -o $seed.mtx || fail "no $seed.mtx"
    "$HYBRID_SPMM" generate -q er:20000,8 --seed $seed -o same.mtx &
done
wait
cmp -s same.mtx 1.mtx || cmp -s same.mtx 2.mtx || fail "the file is a mixture"

# a file that exceeds the file size limit is a write error
(ulimit -f 64 && expect 5 generate -q er:100000,8 -o long.mtx && says 'File too large') || exit 1

# operands can come from pipes
mkfifo pipe
for command in 'info pipe' 'multiply -q pipe -o C.mtx' 'multiply -q A.mtx pipe -o C.mtx'; do
    cat A.mtx >pipe &
    got=0
    timeout 60 "$HYBRID_SPMM" $command >out 2>err || got=$?
    [ "$got" -eq 0 ] || fail "$command: exit code $got"
    wait
done
golden multiply_aa C.mtx

# dense files are recognised by their banner, with any letter case and blanks, also
# compressed
{
    printf '%%%%matrixmarket  MATRIX%300sArray real general\n' ''
    printf '%s\n' '3 1' 1 2 3
} >dense.mtx
gzip -k dense.mtx
for file in dense.mtx dense.mtx.gz; do
    expect 0 info $file
    grep -q '^storage *dense' out || fail "$file is not dense"
done

# there is no .npy of a sparse matrix, and memory is limited
expect 2 generate -q band:3,1 -o x.npy
says "the result is sparse: give 'x.npy' a name ending in .mtx"
expect 4 multiply -q gen:band:100000,1 --dense-cols 2147483647
says "memory"
# too little memory is found before computing: each of these would take minutes
for spec in er:2000000000,1000 rmat:29,100 band:2000000,50000 stencil27:1290; do
    expect 4 generate -q $spec -o x.mtx
    says "cannot allocate .* of host memory: .* \[the matrix '$spec'\]"
    expect 4 info gen:$spec
done
expect 4 multiply -q gen:band:3,1 --dense-cols 80000000 --host-memory 3GiB
says "memory"
expect 0 explain -q gen:band:100000,1 --dense-cols 2147483647
only A.mtx B.mtx C.mtx D.mtx D.mtx.partial folder link.mtx target.mtx both.mtx piped there \
    other 1.mtx 2.mtx same.mtx pipe dense.mtx dense.mtx.gz
