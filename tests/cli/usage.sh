# Wrong usage gives exit code 2 and one message that names the fault.
. "$(dirname "$0")/lib.bash"
make_matrices

# wrong <pattern> <argument>...: checks exit code 2 and the message
wrong() {
    local pattern=$1
    shift
    expect 2 "$@"
    says "$pattern"
}

wrong 'usage: hybrid_spmm multiply A \[B\]' multiply
wrong 'usage: hybrid_spmm multiply A \[B\]' multiply A.mtx B.mtx A.mtx
wrong 'usage: hybrid_spmm info FILE' info
wrong 'usage: hybrid_spmm generate KIND:ARGS' generate
wrong '\-\-frob' multiply A.mtx --frob
wrong '\-z' multiply -qz A.mtx
wrong '\-\-type needs a value' multiply A.mtx --type
wrong '\-\-output needs a value' multiply A.mtx -o
wrong '\-\-verify takes no value' multiply A.mtx --verify=yes

# misspelt words get a suggestion, unknown words do not
wrong "no command 'mulitply'; did you mean 'multiply'" mulitply A.mtx
wrong "did you mean 'calibrate'" calib
wrong "no command 'A.mtx'; see" A.mtx
wrong "no command 'frobnicate'; see 'hybrid_spmm --help'" frobnicate
wrong 'no option --verison; did you mean --version' --verison
wrong 'no option --outptu; did you mean --output\?' multiply A.mtx --outptu=C.mtx
wrong 'no option --tpye; did you mean --type' info A.mtx --tpye f32
wrong 'no option -v; did you mean --verify' multiply -verify A.mtx
wrong "no option --frob; see 'hybrid_spmm multiply --help'" multiply A.mtx --frob
wrong '\-\-de is the beginning of --dense-cols, --device' multiply A.mtx --de
wrong "'hybrid_spmm explain' has no option --verify, which is an option of multiply" \
    explain A.mtx --verify
wrong "'hybrid_spmm' has no option --quiet, which is an option of multiply" -q multiply A.mtx
wrong 'usage: hybrid_spmm COMMAND' -- multiply A.mtx
wrong 'usage: hybrid_spmm COMMAND' -- multiply

wrong "f32 or f64, not 'f16'" multiply A.mtx --type f16
wrong "auto, host or cuda, not 'tpu'" multiply A.mtx --backend tpu
wrong "always or never, not 'often'" multiply A.mtx --progress often
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
says 'a split with the GPU is asked for'
for size in 0 0.0G 1iB 1Ki 1k 1KIB 1BB K .G 1. 1..5G 1.5 1.5B 0.5e3K -1K ' 1K' 1e9 0x10 \
    9223372036854775808 9000000T 9223373TB 8388608.5T; do
    wrong "\-\-host-memory takes .*, not '$size'" multiply A.mtx --host-memory="$size"
done
for size in 100000000 100000000B 100000K 100M 100MiB 1G 1GiB 1TiB 100000KB 100MB 1GB 1TB 0.1GB \
    .5G 99.5MiB; do
    expect 0 multiply A.mtx -q --backend host --device-memory "$size" --host-memory "$size"
done
wrong "\-\-seed takes .*, not '-1'" multiply A.mtx --seed=-1
wrong "begins with 'spgemm.magic'" multiply A.mtx --variant spgemm.magic
wrong "leave out 'B.mtx'" multiply A.mtx B.mtx --dense-cols 2
wrong 'sparse B' multiply A.mtx --dense-cols 2 --transpose-b
printf '%s\n' '%%MatrixMarket matrix array real general' '3 1' 1 2 3 >X.mtx
wrong 'sparse B, and X.mtx is dense' multiply A.mtx X.mtx --transpose-b
wrong 'ending in .npy' multiply A.mtx X.mtx -o Y.mtx
wrong 'ending in .mtx' multiply A.mtx -o C.npy
for name in C.mtx.gz K.npz K.json K.bin K.csv K mtx .mtx.; do
    wrong "ending of '$name' is unknown; a sparse .* in .mtx, .*supported are .mtx .* and .npy" \
        multiply A.mtx -o "$name"
    wrong "ending of '$name' is unknown; a dense .* in .npy, .*supported are .mtx .* and .npy" \
        multiply A.mtx X.mtx -o "$name"
    wrong "ending of '$name' is unknown" generate er:3,1 -o "$name"
done
wrong 'the result is sparse: --format npy' multiply A.mtx -o C.npy --format npy
wrong 'the result is dense: --format mtx' multiply A.mtx X.mtx -o - --format mtx
wrong 'both be standard input' multiply - -
wrong 'different files' multiply A.mtx -o C.mtx --trace C.mtx
wrong 'different files' multiply A.mtx --report r.json --trace r.json
wrong '\-\-verify' explain A.mtx --verify
wrong '\-\-output' info A.mtx --output x
wrong 'generate needs -o' generate band:3,1
wrong "'cube:3' is not a problem" generate cube:3 -o C.mtx
wrong "'er:3' is not er:ROWS,PER_ROW" generate er:3 -o C.mtx
wrong "'er:0,3' is not er:ROWS,PER_ROW" multiply -q gen:er:0,3
only A.mtx B.mtx X.mtx
