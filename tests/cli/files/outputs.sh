# Output names: the longest possible, broken links, and leftovers of killed programs.
. "$(dirname "$0")/../lib.bash"
make_matrices

# names of 255 bytes that differ at their ends
stem=$(printf 'long%.0s' {1..62})
expect 0 multiply -q A.mtx -o "${stem}_C.mtx" --trace "${stem}_t.mtx" --report "${stem}_r.mtx"
golden multiply_aa "${stem}_C.mtx"
grep -q traceEvents "${stem}_t.mtx" || fail "the trace is something else"
grep -q total_s "${stem}_r.mtx" || fail "the report is something else"
: >err
expect 5 multiply -q A.mtx -o "${stem}_toolong.mtx"
says 'File name too long'

# a link to a missing file or to itself is not replaced
ln -s nowhere dangling.mtx
ln -s circle.mtx circle.mtx
for option in -o --trace --report; do
    expect 5 multiply -q A.mtx $option dangling.mtx
    says "'dangling.mtx', a symbolic link, because of its target: No such file"
    expect 5 multiply -q A.mtx $option circle.mtx
    says "'circle.mtx', a symbolic link, because of its target: Too many levels"
done
[ "$(readlink dangling.mtx)" = nowhere ] || fail "the link was replaced"

# claims <file>: starts a program that will write `file` and waits for its operand for
# ever; sets `program` to its process id
mkfifo silent
claims() {
    "$HYBRID_SPMM" multiply -q silent -o "$1" >/dev/null 2>&1 &
    program=$!
    until ls | grep -q "\.$program\.partial\$"; do
        kill -0 $program 2>/dev/null || fail "it ended before it claimed $1"
        sleep 0.05
    done
}

# The partial file of a killed program is removed by the next program that writes the same
# name. A partial file of a running program, or a file with a similar name, is not
# removed.
for name in C.mtx "${stem}_C.mtx"; do
    claims "$name"
    killed=$program
    kill -KILL $killed
    wait $killed 2>/dev/null
    ls | grep -qx ".*\.$killed\.partial" || fail "nothing is left to remove"
    claims "$name"
    living=$program
    ! ls | grep -qx ".*\.$killed\.partial" || fail "what was left is still there"
    : >C.mtx.5.partial.mtx
    : >C.mtx.x5.partial
    mkdir C.mtx.6.partial
    expect 0 multiply -q A.mtx -o "$name"
    golden multiply_aa "$name"
    ls | grep -qx ".*\.$living\.partial" || fail "what a program is writing was removed"
    kill $living
    wait $living 2>/dev/null
    rm C.mtx.5.partial.mtx C.mtx.x5.partial && rmdir C.mtx.6.partial || fail "something else is gone"
done
only A.mtx B.mtx C.mtx "${stem}_.\.mtx" dangling.mtx circle.mtx silent
