# A run with --resume that is killed, or whose disk is full, continues and gives the bytes of
# an uninterrupted run, in every format. Whatever happens, a file that existed stays until
# the new one replaces it. With `slow` every commit point and 200 random times are tried.
. "$(dirname "$0")/../lib.bash"
slow=${1:-}
"$CC" -shared -fPIC -O1 -o fault.so "$here/files/fault.c" -ldl || fail "no fault.so"
export ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS:-}
RANDOM=1
[ -w /dev/shm ] && work=$(mktemp -d /dev/shm/hybrid_resume_XXXXXX) && trap 'rm -rf "$work"' EXIT &&
    cp fault.so "$work" && cd "$work" # in a folder where fsync takes no time

expect 0 convert gen:er:5000,10 A.json -q
expect 0 convert gen:dense:4000,40 X.json -q # the operand that convert copies
expect 0 convert A.json A.npz -q             # the operand of read_result.py
expect 0 multiply A.json --dense-cols 64 -o D.npy -q
mkdir ref run

# command <ending>: sets the words of the command that writes run/C.<ending>
command_of() {
    case $1 in
    npy) words=(multiply A.json D.npy -o "$2/C.npy") ;;
    convert) words=(convert X.json "$2/C.npz" --type f32) ;;
    parts) words=(multiply A.json A.json -o "$2/C.json" --part-rows 700) ;;
    *) words=(multiply A.json A.json -o "$2/C.$1") ;;
    esac
    words+=(--resume --threads 2 -q --host-memory)
    [ "$1" = h5 ] && words+=(64MiB) || words+=(24MiB) # buffers of chunks take 24 MiB
}

# data <folder>: prints the contents of the result. The arrays of a killed run are not
# overwritten, so that those of C.json may have other names.
data() {
    [ "$ending" != json ] || (cd "$1" && sed 's/"C.*bin"//' C.json &&
        cat $(grep -o 'C[^"]*bin' C.json | sort -u))
    [ "$ending" != parts ] || ("$HYBRID_SPMM" convert "$1/C.json" parts.npz -q && cat parts.npz)
    [ "$ending" = json ] || [ "$ending" = parts ] || cat "$1/$result"
}

# same: checks that the result in run/ is that in ref/, and that no panels are left
same() {
    cmp -s <(data ref) <(data run) || fail "$ending: another result after $what"
    [ ! -e "run/$result.parts" ] || fail "$ending: panels are left after $what"
    [ "$ending" != parts ] || [ "$(grep -c part- run/C.json)$(ls run/C*.rows/partial 2>/dev/null)" = 8 ] ||
        fail "$ending: other files after $what: $(echo run/* run/C*.rows/*)"
}

# start <environment>...: runs the command with the faults, from an old file
start() {
    rm -rf run
    mkdir run
    echo old >"run/$result"
    command_of "$ending" run
    { env LD_PRELOAD="$PWD/fault.so" "$@" "$HYBRID_SPMM" "${words[@]}" >out 2>err; } 2>/dev/null
}

# goes_on: checks the old file if the run has failed, and runs the command again
goes_on() {
    [ "$(head -c 4 "run/$result" | tr -d '\0')" = old ] || cmp -s <(data ref) <(data run) ||
        fail "$ending: the old file is lost after $what"
    "$HYBRID_SPMM" "${words[@]}" >out 2>err || fail "$ending: cannot go on after $what"
    same
}

# read_result: lets the package that owns the format read the result in run/
read_result() {
    local words=("run/$result" A.npz) code=0
    [ "$ending" != convert ] || return 0 # another matrix in the format npz
    [ "$ending" != npy ] || words+=(D.npy)
    "${HYBRID_PYTHON:-/usr/bin/python3}" "$here/files/read_result.py" "${words[@]}" >out 2>err || code=$?
    [ $code -eq 0 ] || [ $code -eq 77 ] || fail "$ending: the owner of the format reads another result"
}

step=17
[ "$slow" ] && step=1
offset=1
# A Y without columns has panels of no bytes, which are put together all the same.
printf '%s\n' '{"format": "hybrid-dense", "version": 1, "rows": 300, "cols": 0, "type": "f64",' \
    ' "order": "row", "values": {"file": "none.bin"}}' >none.json
: >none.bin
expect 0 convert gen:er:300,5 small.json -q
expect 0 convert small.json tall.json --rows 0:40 -q
expect 0 multiply tall.json none.json -o none.npy --resume -q
[ -s none.npy ] || fail "a result without columns"

endings=(json parts npz npy convert mtx)
[ "$slow" ] && endings+=(mtx.gz) && "$HYBRID_SPMM" convert A.json x.mtx.zst -q 2>err && endings+=(mtx.zst)
"$HYBRID_SPMM" convert A.json x.h5 -q 2>err && endings+=(h5)
endings+=(petsc)
for ending in "${endings[@]}"; do
    result=C.$ending
    [ "$ending" = convert ] && result=C.npz
    [ "$ending" = parts ] && result=C.json
    rm -rf ref
    mkdir ref
    command_of "$ending" ref
    "$HYBRID_SPMM" "${words[@]}" >out 2>err || fail "$ending: the command fails"
    what=nothing
    start FAULT_CALLS=commit FAULT_COUNT=count || fail "$ending: fails without a fault"
    same
    calls=$(cat count)
    [ "$calls" -gt 12 ] || fail "$ending: only $calls commit points"
    for ((k = offset; k <= calls; k += step)); do
        what="a kill at commit point $k"
        start FAULT_CALLS=commit FAULT_AT=$k FAULT_HOW=kill && fail "$ending: no kill at $k"
        goes_on
    done
    offset=$((offset % step + 1)) # the next format is tried at other points
    start FAULT_CALLS=write FAULT_COUNT=count
    writes=$(cat count)
    for how in 28:'No space left' 5:'Input/output error'; do
        what="error ${how%%:*}"
        start FAULT_CALLS=write FAULT_AT=$((writes / 2)) FAULT_HOW="${how%%:*}"
        [ $? -eq 5 ] || fail "$ending: not exit code 5 after $what"
        grep -q "${how#*:}" err || fail "$ending: no word of $what"
        goes_on
    done
    what="a short write"
    start FAULT_CALLS=write FAULT_AT=$((writes / 2)) FAULT_HOW=short || fail "$ending: $what"
    same
    times=2
    [ "$slow" ] && times=200
    for ((i = 0; i < times; i++)); do
        what="a kill after a random time"
        rm -rf run
        mkdir run
        echo old >"run/$result"
        command_of "$ending" run
        "$HYBRID_SPMM" "${words[@]}" >out 2>err &
        program=$!
        sleep "0.0$((RANDOM % 90 + 10))"
        { kill -KILL $program && wait $program; } 2>/dev/null # until it holds no lock any more
        goes_on
    done
    read_result
done

# The limit on the size of files is an error of writing.
ending=npz result=C.npz what="a limit"
rm -rf ref run
mkdir ref run
command_of npz ref
expect 0 "${words[@]}"
command_of npz run
echo old >run/C.npz
(ulimit -f 300; "$HYBRID_SPMM" "${words[@]}") >out 2>err
[ $? -eq 5 ] || fail "not exit code 5 with ulimit -f"
says 'File too large'
goes_on

# So is the limit on address space an error of memory, which sanitizers would exceed.
if [ -z "${HYBRID_SANITIZE:-}" ]; then
    command_of npz run
    echo old >run/C.npz
    (ulimit -v 120000; "$HYBRID_SPMM" multiply A.json A.json -o run/C.npz --resume --threads 2 -q) >out 2>err
    [ $? -eq 4 ] || fail "not exit code 4 with ulimit -v"
    says 'cannot allocate .* \(ulimit -v\)'
    rm -rf run/C.npz.parts
    goes_on
fi

# Operands that become shorter or vanish, and options that change, are refused.
command_of npz run
rm -rf run
mkdir run
LD_PRELOAD=$PWD/fault.so FAULT_CALLS=commit FAULT_AT=12 FAULT_HOW=kill "$HYBRID_SPMM" "${words[@]}" 2>err
[ -e run/C.npz.parts/panel-000000 ] || fail "no panel is finished"
expect 1 "${words[@]}" --variant spgemm.host.rows
says "these panels belong to another product: they were made with 'variant any"
touch -d yesterday A.json
expect 1 "${words[@]}"
says "these panels belong to another product: they were made with 'A is A.json"
head -c 1000 A.values.bin >short.bin
mv short.bin A.values.bin
expect 3 "${words[@]}"
says 'A.values.bin: has 1000 bytes'
rm A.json
expect 5 "${words[@]}"
says 'A.json'
exit 0
