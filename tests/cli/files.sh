# Files that cannot be read or written are exit code 5, before anything is computed.
. "$(dirname "$0")/lib.bash"
make_matrices

# unusable <pattern> <argument>...
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
    # what is wrong with the output is found first: A is never looked for
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

# a failed multiply leaves what was there before
echo precious >C.mtx
expect 3 multiply -q B.mtx -o C.mtx
[ "$(cat C.mtx)" = precious ] || fail "the previous result is gone"
expect 0 multiply -q A.mtx -o C.mtx
golden multiply_aa C.mtx

# a link stays a link
ln -s target.mtx link.mtx
cp A.mtx target.mtx
expect 0 multiply -q A.mtx -o link.mtx
[ -L link.mtx ] || fail "the link was replaced"
golden multiply_aa target.mtx

# a result may replace its own operand; devices and pipes are written as they are
cp A.mtx both.mtx
expect 0 multiply -q both.mtx -o both.mtx
golden multiply_aa both.mtx
for option in -o --trace --report; do
    expect 0 multiply -q A.mtx $option /dev/null
    [ -c /dev/null ] || fail "/dev/null was replaced"
done
expect 5 multiply -q A.mtx -o /dev/stdout # here a regular file
says 'leads to a regular file'
"$HYBRID_SPMM" multiply -q A.mtx -o /dev/stdout | cat >piped
golden multiply_aa piped
only A.mtx B.mtx C.mtx folder link.mtx target.mtx both.mtx piped
