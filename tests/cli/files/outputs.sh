# Names of outputs: the longest there are, links that lead nowhere, and what killed programs
# left behind.
. "$(dirname "$0")/../lib.bash"
make_matrices

# names of 255 bytes, which differ at their ends
stem=$(printf 'long%.0s' {1..62})
expect 0 multiply -q A.mtx -o "${stem}_C.mtx" --trace "${stem}_t.mtx" --report "${stem}_r.mtx"
golden multiply_aa "${stem}_C.mtx"
grep -q traceEvents "${stem}_t.mtx" || fail "the trace is something else"
grep -q total_s "${stem}_r.mtx" || fail "the report is something else"
: >err
expect 5 multiply -q A.mtx -o "${stem}_toolong.mtx"
says 'File name too long'

# a link that leads nowhere, or to itself, is not replaced
ln -s nowhere dangling.mtx
ln -s circle.mtx circle.mtx
for option in -o --trace --report; do
    expect 5 multiply -q A.mtx $option dangling.mtx
    says "'dangling.mtx': the link's target: No such file"
    expect 5 multiply -q A.mtx $option circle.mtx
    says "'circle.mtx': the link's target: Too many levels"
done
[ "$(readlink dangling.mtx)" = nowhere ] || fail "the link was replaced"

# claims <file>: starts a program that is to write `file` and waits for its operand for ever;
# its number is in `program`.
mkfifo silent
claims() {
    "$HYBRID_SPMM" multiply -q silent -o "$1" >/dev/null 2>&1 &
    program=$!
    until ls | grep -q "\.$program\.partial\$"; do
        kill -0 $program 2>/dev/null || fail "it ended before it claimed $1"
        sleep 0.05
    done
}

# what it leaves when it is killed, the next removes that writes the same name; not what one
# that lives is writing, nor what only looks like it
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
