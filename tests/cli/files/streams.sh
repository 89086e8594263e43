# "-" means standard input or standard output. The summary goes to standard error.
. "$(dirname "$0")/../lib.bash"
make_matrices
program=$HYBRID_SPMM

# A*A through pipes, files, and a file that is already open
"$program" multiply - -o - <A.mtx >C.mtx 2>err || fail "multiply - -o -"
golden multiply_aa C.mtx
grep -q '^C = A A' err || fail "no summary on standard error"
grep -q 'standard input' err && grep -q 'standard output' err || fail "the summary has no names"
cat A.mtx | "$program" multiply -q - -o - | cat >C.mtx
golden multiply_aa C.mtx
gzip <A.mtx | "$program" multiply -q - -o - | cat >C.mtx
golden multiply_aa C.mtx
"$program" multiply -q A.mtx - -o - <B.mtx >C.mtx || fail "B is standard input"
golden multiply_ab C.mtx
{ echo header && "$program" multiply -q A.mtx -o -; } >C.mtx
tail -n +2 C.mtx | diff - "$here/expected/multiply_aa.stdout" >&2 || fail "the file was not written behind its header"
"$program" generate -q er:100,5 -o - | "$program" info - >out || fail "generate | info"
grep -qx 'standard input' out && grep -q '^rows *100$' out || fail "info - says something else"

# dense operands are recognised by their first bytes
"$program" multiply -q A.mtx --dense-cols 2 -o - >Y.npy || fail "a dense result"
printf '%s\n' '%%MatrixMarket matrix array real general' '3 1' 1 2 3 >X.mtx
for command in 'cat X.mtx' 'gzip -c X.mtx' 'cat Y.npy' 'gzip -c Y.npy' \
    'eval printf %%%%Matrix; sleep 0.1; tail -c +9 X.mtx'; do
    $command | "$program" multiply -q A.mtx - -o - >Z.npy || fail "$command"
    head -c 6 Z.npy | grep -q NUMPY || fail "$command: the result is not dense"
    $command | "$program" multiply -q A.mtx - --transpose-b >out 2>err && fail "$command is not dense"
    says 'sparse B'
done
"$program" info - <Y.npy >out || fail "info - of a dense matrix"
grep -q '^storage *dense' out || fail "a file on standard input is not dense"

# the trace or the report can go to standard output, but one of the outputs only
"$program" multiply -q A.mtx --trace - >out 2>err || fail "--trace -"
grep -q traceEvents out || fail "no trace on standard output"
"$program" multiply -q A.mtx --report - >out 2>err || fail "--report -"
grep -q total_s out || fail "no report on standard output"
for pair in '-o - --trace -' '-o - --report /dev/stdout' '--trace - --report -'; do
    expect 2 multiply -q A.mtx $pair
    says 'need different files'
done

# names without a known ending need --format
expect 0 multiply -q A.mtx -o C.dat --format mtx
golden multiply_aa C.dat
expect 0 generate -q band:3,1 -o G.dat --format mtx

# a full or a closed standard output
if [ -w /dev/full ]; then
    got=0
    "$program" multiply -q A.mtx -o - >/dev/full 2>err || got=$?
    [ $got -eq 5 ] || fail "a full disk is exit code $got"
    says 'No space left on device'
fi
got=0
"$program" multiply -q A.mtx -o - >&- 2>err || got=$?
[ $got -eq 5 ] || fail "no standard output is exit code $got"
says "cannot write to standard output: Bad file descriptor"
got=0
"$program" info - <&- 2>err || got=$?
[ $got -eq 5 ] || fail "no standard input is exit code $got"
(trap - PIPE && "$program" generate -q er:100000,8 -o - 2>err) | head -1 >out
grep -q MatrixMarket out || fail "nothing came through the pipe"
[ ! -s err ] || fail "a closed pipe has a message"

# control characters in names are escaped
name=$(printf 'a\033[31m\nb.mtx')
expect 5 info "$name"
says "'a.x1b\[31m.(n|x0a)b.mtx'"
cp A.mtx "$name"
expect 0 multiply "$name" -o "$name"
expect 0 info "$name"
cat err out | grep -q "$(printf '\033')" && fail "a name is obeyed"
rm "$name"
only A.mtx B.mtx C.mtx X.mtx Y.npy Z.npy C.dat G.dat
