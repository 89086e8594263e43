# Interrupted while it computes, the program exits with 130 and leaves no file behind.
. "$(dirname "$0")/lib.bash"

# a shell starts what is in the background with SIGINT ignored
for name in INT TERM HUP QUIT; do
    : >err # not what the last one said
    env --default-signal=$name "$HYBRID_SPMM" multiply gen:rmat:18,8 --type f32 \
        --progress always -o C.mtx --trace t.json --report r.json >out 2>err &
    program=$!
    until grep -q 'chunk' err; do # it computes
        kill -0 $program 2>/dev/null || fail "it ended before it was interrupted"
        sleep 0.05
    done
    [ -e C.mtx.$program.partial ] || fail "the output was not claimed before computing"
    kill -$name $program
    (sleep 20 && kill -KILL $program) >/dev/null 2>&1 & # ctest waits for who has its output
    watchdog=$!
    got=0
    wait $program || got=$?
    kill $watchdog 2>/dev/null
    [ $got -eq 130 ] || fail "SIG$name: exit code $got"
    tail -1 err | grep -q 'hybrid_spmm: interrupted' || fail "it does not say so"
    only
done
