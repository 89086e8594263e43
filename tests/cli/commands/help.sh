# Help, version and usage equal the expected texts and go to the right stream.
. "$(dirname "$0")/../lib.bash"

expect 0 --help
golden help
expect 0 -V
cp out short
expect 0 --version
cmp -s out short || fail "-V is not --version"
grep -Exq 'hybrid_spmm [0-9]+\.[0-9]+\.[0-9]+' out || fail "odd version"
for command in multiply explain info list generate convert trace calibrate doctor; do
    expect 0 "$command" --help
    golden "help_$command"
    grep -q " $command " "$here/expected/help.stdout" || fail "--help does not tell of $command"
done
expect 2
golden help err
[ -s out ] && fail "usage after an error is on stdout"
exit 0
