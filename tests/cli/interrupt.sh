# A program that is interrupted while it computes exits with 130 and leaves no file
# behind.
. "$(dirname "$0")/lib.bash"

# begin <signal> <output> <threads> <argument>...: starts the program in the background
# and waits for its progress on stderr. env resets the signal, because a shell starts
# background commands with SIGINT ignored.
begin() {
    local name=$1 output=$2 threads=$3
    shift 3
    : >err # empties the file of the previous program's messages
    env --default-signal=$name "$HYBRID_SPMM" multiply "$@" --backend host --type f32 \
        --threads "$threads" --progress always -o "$output" --trace t.json --report r.json >out 2>err &
    program=$!
    until grep -q 'row .* of ' err; do # waits until the program computes
        kill -0 $program 2>/dev/null || fail "it ended before it was interrupted"
        sleep 0.05
    done
    [ -e "$output.$program.partial" ] || fail "the output was not claimed before computing"
}

# ends <signal>...: sends the signals and checks how the program ends
ends() {
    local got=0
    for name; do
        kill -$name $program 2>/dev/null # the program may have ended before the second signal
    done
    (sleep 60 && kill -KILL $program) >/dev/null 2>&1 & # no output to ctest, which waits for open pipes
    watchdog=$!
    wait $program || got=$?
    kill $watchdog 2>/dev/null
    [ $got -eq 130 ] || fail "$*: exit code $got"
    tail -1 err | grep -q 'hybrid_spmm: interrupted' || fail "it does not say so"
    only
}

for name in INT TERM HUP QUIT; do
    begin $name C.mtx 2 gen:rmat:18,8
    ends $name
done

# with one thread, the thread that computes must also check for the signal
begin INT C.mtx 1 gen:rmat:18,8
ends INT

# a signal while rows of Y are computed
begin INT Y.npy 1 gen:er:200000,64 --dense-cols 256
ends INT

# a second signal does not wait for the product
begin INT C.mtx 2 gen:rmat:18,8
ends INT INT
