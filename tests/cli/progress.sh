# The progress line: not without a terminal, in plain lines when forced, and never by --quiet.
. "$(dirname "$0")/lib.bash"

expect 0 multiply gen:rmat:14,8 --backend host
grep -q 'row .* of ' err && fail "a progress line without a terminal"
grep -q 'C = A A' err || fail "no summary"
expect 0 multiply gen:rmat:14,8 --backend host --quiet
[ ! -s err ] || fail "--quiet is not quiet"
expect 0 multiply gen:rmat:15,8 --backend host --progress always --chunk-rows 8 --threads 1
grep -q "$(printf '\033')" err && fail "escape sequences without a terminal"

# on a terminal, if one can be had
script -qec true /dev/null >out 2>err </dev/null || exit 77
terminal() {
    TERM=xterm script -qec "$HYBRID_SPMM multiply gen:band:3,1 --backend host $*" /dev/null \
        </dev/null >out 2>err || fail "exit code on a terminal"
}
colour=$(printf '\033\[36m')
terminal
grep -q "$colour" out || fail "no colour on a terminal"
NO_COLOR=1 terminal
grep -q "$colour" out && fail "NO_COLOR is not obeyed"
terminal --progress never
grep -q "$(printf '\033')" out && fail "--progress never draws"
exit 0
