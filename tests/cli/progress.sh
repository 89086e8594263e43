# The progress line needs a terminal; it is plain if forced, and absent with --quiet.
. "$(dirname "$0")/lib.bash"

expect 0 multiply gen:rmat:14,8 --backend host
grep -q 'row .* of ' err && fail "a progress line without a terminal"
grep -q 'C = A A' err || fail "no summary"
expect 0 multiply gen:rmat:14,8 --backend host --quiet
[ ! -s err ] || fail "--quiet is not quiet"
expect 0 multiply gen:rmat:15,8 --backend host --progress always --chunk-rows 8 --threads 1
grep -q "$(printf '\033')" err && fail "escape sequences without a terminal"

# Progress of files is in bytes and, if the size is known, in percent. A line is drawn at
# the end of a call if none was drawn for 0.1 s. The other end of the pipe therefore
# pauses after some bytes and holds back more than a pipe takes: on any machine the call
# lasts long enough to draw a line.
expect 0 generate er:20000,8 -o A.mtx --quiet
{ head -c 2000000 A.mtx && sleep 0.5 && tail -c +2000001 A.mtx; } |
    "$HYBRID_SPMM" info - --progress always >out 2>err || fail "info -"
grep -Eq '^reading standard input +[0-9.]+ ([KM]i)?B +[0-9.]+ ([KM]i)?B/s$' err || fail "no progress while reading"
mkfifo pipe
{ head -c 1 && sleep 0.5 && cat; } <pipe >B.mtx &
expect 0 generate er:20000,8 -o pipe --progress always
wait
cmp -s A.mtx B.mtx || fail "the pipe got something else"
grep -Eq '^writing pipe +[0-9]+ % +[0-9.]+ ([KM]i)?B of [0-9.]+ MiB +[0-9:?]+ left$' err ||
    fail "no progress while writing"
expect 0 multiply A.mtx --dense-cols 1
grep -Eq '^  total    [0-9.]+ [mu]?s in all:  read [0-9.]+ [mu]?s  plan .*compute' err || fail "no total time"
rm A.mtx B.mtx pipe

# on a terminal, if `script` can provide one
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
