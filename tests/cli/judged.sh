# Input that is no matrix is refused after its beginning, however long it is: with little
# memory, and without reading the rest.
. "$(dirname "$0")/lib.bash"
make_matrices

# refused <code> <pattern> <argument>...: checks code and message with 64 MiB of memory.
# The time limit ends a program that reads for ever.
refused() {
    local want=$1 pattern=$2 got=0
    shift 2
    timeout 120 "$HYBRID_SPMM" "$@" --host-memory 64MiB >out 2>err || got=$?
    [ "$got" -eq "$want" ] || fail "hybrid_spmm $*: exit code $got, not $want"
    says "$pattern"
}

head -c 50000000 /dev/zero | gzip >zeros.gz
for i in {1..60}; do cat zeros.gz; done >zeros.mtx.gz # 3 GB
cp zeros.mtx.gz zeros.npy
for file in /dev/zero zeros.mtx.gz; do
    refused 3 "$file:1: the banner .* is missing" info $file
    refused 3 "$file:1: the banner .* is missing" multiply -q A.mtx $file
done
# Random bytes may begin like another format.
refused 3 '/dev/urandom:' info /dev/urandom
refused 3 '/dev/urandom:' multiply -q A.mtx /dev/urandom
ln -s /dev/zero zero.npy
for file in zero.npy zeros.npy; do
    refused 3 "$file: is neither a .npy file nor a Matrix Market file" multiply -q A.mtx $file
done
refused 3 '/dev/zero: a rates file has less than 1048576 bytes' \
    multiply -q A.mtx --rates /dev/zero

# endless <pattern> <line> <first line>...: checks a pipe that delivers the first lines
# and then repeats <line> for ever
mkfifo pipe
endless() {
    local pattern=$1 line=$2
    shift 2
    { printf '%s\n' "$@"; yes "$line"; } >pipe 2>/dev/null &
    refused 3 "$pattern" info pipe
    wait
}
banner='%%MatrixMarket matrix coordinate real general'
endless 'pipe:[0-9]+: the sizes are not within the first 1048576 bytes' '% nothing' "$banner"
endless 'pipe:4: there are more than the 1 entries announced' '1 1 1' "$banner" '3 3 1'
{ printf '%s\n' "$banner" '3 3 1'; cat /dev/zero; } >pipe 2>/dev/null &
refused 3 'pipe:3: the line is longer than 16777216 bytes' info pipe
wait

# memory for the announced entries is not reserved beyond the limit
{ printf '%s\n' "$banner" '3 3 4000000000000000'; yes '1 1 1'; } >pipe 2>/dev/null &
refused 4 'memory' info pipe
wait
only A.mtx B.mtx zeros.gz zeros.mtx.gz zeros.npy zero.npy pipe
