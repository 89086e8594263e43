# Values of options that are wrong give exit code 2 and one message that names the fault.
# tests/sentences/sentences.txt has one example of each message about the command line.
. "$(dirname "$0")/lib.bash"
make_matrices

# wrong <pattern> <argument>...: checks exit code 2 and the message
wrong() {
    local pattern=$1
    shift
    expect 2 "$@"
    says "$pattern"
}

for number in 0 -1 x 1.5 1x '' 99999999999999999999; do
    wrong "\-\-threads takes .*, not '$number'" multiply A.mtx --threads="$number"
    wrong "\-\-chunk-rows takes .*, not '$number'" multiply A.mtx --chunk-rows="$number"
    wrong "\-\-dense-cols takes .*, not '$number'" multiply A.mtx --dense-cols="$number"
    wrong "\-\-device-memory takes .*, not '$number'" multiply A.mtx --device-memory="$number"
done
for share in 1.1 -0.1 x .5x 1..0 . 'nan' ''; do
    wrong "\-\-split takes .*, not '$share'" multiply A.mtx --split="$share"
done
for list in 0, ,0 0,,1 '' -1 0,x 65536 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16; do
    wrong "\-\-devices takes .*, not '$list'" multiply A.mtx --devices="$list"
done
expect 0 multiply A.mtx -q --backend host --devices 0,0,1
for split in auto host; do
    expect 0 multiply A.mtx -q --backend host --split "$split"
done
expect 1 multiply A.mtx -q --backend host --split 0.5
says 'the split needs a GPU'
for size in 0 0.0G 1iB 1Ki 1k 1KIB 1BB K .G 1. 1..5G 1.5 1.5B 0.5e3K -1K ' 1K' 1e9 0x10 \
    9223372036854775808 9000000T 9223373TB 8388608.5T; do
    wrong "\-\-host-memory takes .*, not '$size'" multiply A.mtx --host-memory="$size"
done
for size in 100000000 100000000B 100000K 100M 100MiB 1G 1GiB 1TiB 100000KB 100MB 1GB 1TB 0.1GB \
    .5G 99.5MiB; do
    expect 0 multiply A.mtx -q --backend host --device-memory "$size" --host-memory "$size"
done
printf '%s\n' '%%MatrixMarket matrix array real general' '3 1' 1 2 3 >X.mtx
for name in C.mtx.xz K.bin K.csv K mtx .mtx.; do
    wrong "ending of '$name' is unknown; a sparse .* in .mtx, .*supported are .mtx, .* and .npy" \
        multiply A.mtx -o "$name"
    wrong "ending of '$name' is unknown; a dense .* in .npy, .*supported are .mtx, .* and .npy" \
        multiply A.mtx X.mtx -o "$name"
    wrong "ending of '$name' is unknown" generate er:3,1 -o "$name"
done
wrong 'different files' multiply A.mtx -o C.mtx --trace C.mtx
wrong 'different files' multiply A.mtx --report r.json --trace r.json
only A.mtx B.mtx X.mtx
