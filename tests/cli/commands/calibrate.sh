# calibrate measures and writes the file, and explain says that it uses the file. A
# malformed file is an error, which another calibration removes.
. "$(dirname "$0")/../lib.bash"
export XDG_CACHE_HOME=$PWD/cache

explain() {
    expect 0 explain -q gen:band:100,2 --dense-cols 2 --backend host --threads 2 "$@"
}

# multiplied <true|false> <words>: checks that the report says "rates_measured": <true|false>, and
# that the summary of multiply says "rates <words>"
multiplied() {
    expect 0 multiply gen:band:100,2 --dense-cols 2 --backend host --threads 2 --report r.json
    grep -q "^  bound .*; rates $2" err || fail "multiply does not say: rates $2"
    grep -q "\"rates_measured\": $1," r.json || fail "the report does not say: $1"
    rm r.json
}

explain
grep -q '^speeds      built in' out || fail "rates are not built in at first"
multiplied false 'built in; see hybrid_spmm calibrate$'
expect 0 calibrate --backend host --threads 2
says 'cache/hybrid_spmm/.*2_cores.rates, in '
for word in ', 2 cores$' 'memory, read and write .* GB/s' 'a parallel loop .* us'; do
    grep -q "$word" out || fail "calibrate does not say: $word"
done
file=$(echo cache/hybrid_spmm/*)
[ -f "$file" ] || fail "not one file: $file"
[ "$(stat -c %a cache/hybrid_spmm)" = 700 ] || fail "the folder is for others to read"
grep -q '^mem_Bps = ' "$file" || fail "no rate of memory"
explain
grep -q "^speeds      measured on 20..-..-..: .*/$file\$" out || fail "the file is not used"
multiplied true 'measured$'

# measuring again keeps what the file says of other devices
printf '\ndevice = Another CPU, 4 cores\ndate = 2026-11-21\nmem_Bps = 1.5e+10\n' >>"$file"
expect 0 calibrate --backend host --threads 2 -q
[ "$(grep -c '^device = ' "$file")" -eq 2 ] || fail "the file does not describe two devices"
grep -A 4 '^device = Another CPU, 4 cores$' "$file" | grep -q '^mem_Bps = 1.5e+10$' ||
    fail "the rates of the other device are lost"

explain --rates ''
grep -q '^speeds      built in' out || fail "--rates '' is not what is built in"
explain --threads 1
grep -q '^speeds      built in' out || fail "the rates of another number of threads are used"

expect 0 calibrate --backend host --threads 1 --output one.rates --quiet
[ ! -s err ] || fail "--quiet is not quiet"
explain --threads 1 --rates one.rates
grep -q '^speeds      measured on 20..-..-..: one.rates$' out || fail "--rates is not obeyed"
expect 0 multiply -q gen:band:9,1 --backend host --threads 1 --rates one.rates
expect 1 explain -q gen:band:9,1 --backend host --threads 2 --rates one.rates
says "the rates in 'one.rates' were measured on .*, 1 core, but this engine computes on .*, 2 cores"
expect 5 explain -q gen:band:9,1 --backend host --rates absent.rates
says "'absent.rates'"

lines=$(wc -l <"$file")
echo 'mem_Bps = fast' >>"$file"
for command in "explain gen:band:9,1" "multiply gen:band:9,1"; do
    expect 3 $command -q --backend host --threads 2
    says "$file:$((lines + 1)): .*; delete the file or calibrate again"
done
expect 0 generate band:9,1 -q -o A.mtx
expect 0 info A.mtx --threads 2
expect 0 calibrate --backend host --threads 2 -q
explain
grep -q '^speeds      measured' out || fail "calibrating again did not help"

# a file of another version is ignored where it is the user's, and refused where it is named
sed 's/^format = .*/format = 1/' "$file" >old.rates
mv "$file" new.rates
cp old.rates "$file"
expect 0 explain gen:band:100,2 --dense-cols 2 --backend host --threads 2
grep -q '^speeds      built in' out || fail "a file of another version is used"
says "$file' has the format of another version and is ignored: run 'hybrid_spmm calibrate'"
expect 0 doctor
expect 3 explain -q gen:band:9,1 --backend host --threads 2 --rates old.rates
says 'old.rates:[0-9]*: the file has format 1, and this version of the library reads 3'
mv new.rates "$file"
rm old.rates

# without a GPU calibrate says so in one line
"$HYBRID_SPMM" multiply -q A.mtx --backend cuda >out 2>err || {
    expect 0 calibrate --threads 2 -o auto.rates
    [ "$(grep -c 'only the CPU is measured, because there is no GPU: .' err)" -eq 1 ] ||
        fail "it does not say that there is no GPU"
    rm auto.rates
}

expect 2 calibrate something
says usage
expect 5 calibrate --backend host -o absent/file
says "'absent/file'"
XDG_CACHE_HOME=/dev/null expect 5 calibrate --backend host
says '/dev/null'
env -u XDG_CACHE_HOME -u HOME "$HYBRID_SPMM" calibrate --backend host >out 2>err
[ $? -eq 2 ] || fail "no cache folder is not wrong use"
says 'no cache folder'
only A.mtx cache one.rates
