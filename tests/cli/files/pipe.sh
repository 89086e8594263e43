# When its output pipe is closed, the program ends by SIGPIPE without a message and leaves
# no file behind. With SIGPIPE ignored, the closed pipe is a write error.
. "$(dirname "$0")/../lib.bash"
make_matrices

# Descriptor 9 is a pipe without a reader.
mkfifo closed
sleep 1000 <closed &
reader=$!
exec 9>closed
kill $reader
wait $reader 2>/dev/null
rm closed

# dies <argument>...: checks that the program dies if nothing reads its standard output
dies() {
    local got=0
    "$HYBRID_SPMM" "$@" >&9 2>err || got=$?
    [ $got -eq 141 ] || fail "$*: exit code $got, not that of SIGPIPE"
    [ ! -s err ] || fail "$*: something on stderr"
}

dies --help
dies multiply --help
dies list
dies info A.mtx
dies explain A.mtx -q
dies multiply A.mtx -q --report - -o C.mtx --trace t.json
# the result was complete before the report
only A.mtx B.mtx C.mtx t.json
golden multiply_aa C.mtx

# progress on a closed stderr ends the product
got=0
"$HYBRID_SPMM" multiply gen:rmat:18,8 --type f32 --progress always -o D.mtx 2>&9 || got=$?
[ $got -eq 141 ] || fail "exit code $got after progress, not that of SIGPIPE"
only A.mtx B.mtx C.mtx t.json

# /dev/stdout is opened by name, which waits for a reader; this reader ends after one line
for arguments in 'generate er:20000,8' 'multiply gen:er:2000,16'; do
    "$HYBRID_SPMM" $arguments -q --threads 1 -o /dev/stdout 2>err | head -n 1 >out
    [ "${PIPESTATUS[*]}" = '141 0' ] || fail "$arguments: exit codes ${PIPESTATUS[*]}"
    [ ! -s err ] || fail "$arguments: something on stderr"
done

trap '' PIPE
for arguments in '--help' 'list' 'info A.mtx' 'multiply A.mtx -q --report -'; do
    got=0
    "$HYBRID_SPMM" $arguments >&9 2>err || got=$?
    [ $got -eq 5 ] || fail "$arguments: exit code $got with SIGPIPE ignored"
    says 'Broken pipe'
done
