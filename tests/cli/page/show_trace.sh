# trace prints a chart or writes a page, and refuses files that are no traces.
. "$(dirname "$0")/../lib.bash"
cp "$TEST_DATA/device.trace" device.json

# ---- the chart ----

expect 0 trace device.json
golden trace
expect 0 trace - <device.json
golden trace
"$HYBRID_SPMM" multiply -q gen:stencil27:8 --backend host --threads 2 --chunk-rows 64 --trace - |
    "$HYBRID_SPMM" trace - >out 2>err || fail "the program cannot read its own trace"
grep -q '^8 chunks, 512 rows; CPU, 2 workers$' out || fail "not the facts of the run"
grep -Eq '^measured .*, predicted .*, measured / predicted [0-9.]+$' out || fail "no times"
grep -Eq '^bound by (cores|host memory); used cores ' out || fail "no bound"
grep -Eq '^(cpu[01]|caller) +[0-9]+\.[0-9] %  [.MmSs]{70,}$' out || fail "no lane"
expect 0 multiply -q gen:stencil27:8 --device-memory 1MiB --repeat 3 --trace three.json
expect 0 trace three.json
echo '{"traceEvents":[],"otherData":{"timeline":{"format":1,"begin_us":0,"end_us":0}}}' >none.json
expect 0 trace none.json
grep -q 'contains no chunk' out || fail "an empty trace has a chart"

# ---- the page ----

expect 0 trace device.json -o device.html
[ -s out ] || [ -s err ] && fail "writing a page prints something"
expect 0 trace device.json -o -
cmp -s out device.html || fail "standard output has another page"
expect 0 multiply -q gen:stencil27:8 --backend host --chunk-rows 64 --trace run.html -o C.mtx
for page in device.html run.html; do
    [ "$(head -c 15 $page)" = '<!DOCTYPE html>' ] || fail "$page is no page"
    grep -q 'http' <(grep -v 'http-equiv' $page) && fail "$page has an address"
    grep -Eq '<link|src=|@import|url\(' $page && fail "$page loads something"
done
[ "$(grep -c '</script>' device.html)" -eq 4 ] || fail "a name of the trace ends the trace"

# ---- errors ----

expect 2 trace device.json -o page.txt
says "the page needs a name ending in \.html, unlike 'page\.txt'"
expect 5 trace absent.json
says "cannot open 'absent\.json': No such file or directory"
expect 5 trace .
says "cannot read '\.': Is a directory"
expect 5 trace device.json -o nowhere/x.html
says "cannot write 'nowhere/x\.html': No such file or directory"
if [ -w /dev/full ]; then
    expect 5 trace device.json -o /dev/full
    says "cannot write '/dev/full': No space left on device"
    "$HYBRID_SPMM" trace device.json >/dev/full 2>err && fail "a full device is no error"
    says 'cannot write the standard output: No space left on device'
fi

# broken <place> <what is expected> <sed command>: changes device.json, and reads it. An
# older page stays as it was.
broken() {
    sed "$3" device.json >broken.json
    expect 3 trace broken.json
    says "^hybrid_spmm: broken\.json:$1: $2$"
    echo old >broken.html
    expect 3 trace broken.json -o broken.html
    [ "$(cat broken.html)" = old ] || fail "the page of a broken trace is written"
}
last=$(wc -l <device.json)
broken 1:19 'a colon is expected' '1s/:/;/'
broken 1:2 'a string is expected' '1s/"/x/'
broken "$last:2" 'a comma or a closing bracket is expected' "$last"'s/}/)/'
broken "$((last + 1)):1" 'the end of the file is expected' '$a{}'
broken "$last:1" 'a comma or a closing bracket is expected' '$d'
broken 1:1 'an object is expected' '1s/^/[/'
broken 1:37 'an object is expected' '1s/"otherData":/&1,"x":/'
broken '3:8' 'a number is expected' '3s/:[0-9]*,/:"3",/'
broken '3:8' 'a number is expected' '3s/:[0-9]*,/:03,/'
broken '3:8' 'a number is expected' '3s/:[0-9]*,/:+3,/'
broken '3:17' 'a string is expected' '3s/"caller"/7/'
broken '3:18' 'a character of a string is expected' '3s/caller/\\x/'
broken '3:18' 'a character of a string is expected' '3s/caller/\\u12/'
broken '3:18' 'a character of a string is expected' '3s/caller/\xff/'
broken '3:18' 'a character of a string is expected' '3s/caller/\t/'
broken '3:[0-9]+' 'a lane with tid, name and busy_us is expected' '3s/"tid"/"TID"/'
broken '9:[0-9]+' 'a lane with tid, name and busy_us is expected' '9s/"name"/"NAME"/'
broken '11:[0-9]+' 'a memory with name, limit_bytes and peak_bytes is expected' '11s/limit/LIMIT/'
broken '14:[0-9]+' 'a stall with a text is expected' '14s/"text"/"TEXT"/'
broken '16:[0-9]+' 'an event with name and ph is expected' '16s/"ph"/"PH"/'
broken '16:[0-9]+' 'a bar with tid, ts and dur is expected' '16s/"dur":/"dur":-/'
broken '16:[0-9]+' 'a bar with tid, ts and dur is expected' '16s/"ts":0.000/"ts":1e999/'
broken "$((last - 1)):[0-9]+" 'a counter with ts and bytes is expected' 's/"bytes":12000000}}$/"BYTES":1}}/'
broken '2:1' 'a value is expected' '1s/"displayTimeUnit":.*/"displayTimeUnit":/;2s/^/%/'
broken '1:[0-9]+' 'an array is expected' '1s/"lanes":\[/"lanes":{/'
broken "$((last + 1)):1" 'otherData.timeline with begin_us and end_us is expected' '1s/"begin_us":4000.000/"begin_us":4e9/'
for sed in 's/"format":1/"format":2/' 's/"format":1/"FORMAT":1/' 's/"timeline"/"TIMELINE"/'; do
    broken "$((last + 1)):1" "otherData.timeline with format 1 is expected, which 'multiply --trace' of this version writes" "$sed"
done
broken '1:[0-9]+' 'a value that is nested less deeply is expected' \
    "1s/\"ms\"/$(printf '[%.0s' {1..70})/"
head -c 5000 device.json >broken.json
expect 3 trace broken.json
says 'broken\.json:[0-9]+:[0-9]+: .* is expected$'
printf 'abc\0def' >broken.json
expect 3 trace broken.json
says 'broken\.json:1:1: an object is expected$'
: >broken.json
expect 3 trace broken.json
says 'broken\.json:1:1: an object is expected$'
make_matrices
expect 3 trace A.mtx
says 'A\.mtx:1:1: an object is expected$'
only device.json three.json none.json device.html run.html C.mtx broken.json broken.html A.mtx B.mtx

# ---- what needs Python ----

python3 -c pass 2>/dev/null || exit 77
# The page contains the trace. The chart is as wide as the terminal.
python3 - "$HYBRID_SPMM" <<'P' 2>err || fail "page or chart are not what they should be"
import fcntl, json, os, pty, struct, subprocess, sys, termios
page = open("device.html").read()
text = page.split('<script type="application/json" id="trace">')[1].split("</script>")[0]
assert "<" not in text and json.loads(text) == json.load(open("device.json"))
def chart(columns):
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    done = subprocess.run([sys.argv[1], "trace", "device.json"], stdout=terminal)
    os.close(terminal)
    text = b""
    try:
        while more := os.read(main, 65536):
            text += more
    except OSError:
        pass
    assert done.returncode == 0
    return [line for line in text.decode().splitlines() if line.startswith(("cpu", "run"))]
for columns in (44, 80, 200):
    assert {len(line) for line in chart(columns)} == {columns}
assert {len(line) for line in chart(10)} == {11 + 10 + 20}
assert {len(line) for line in chart(5000)} == {11 + 10 + 400}
P
