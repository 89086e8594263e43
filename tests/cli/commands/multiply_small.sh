# Products of small integer matrices with all options.
. "$(dirname "$0")/../lib.bash"
make_matrices

# product <golden> <argument>...: checks the result of multiply
product() {
    local name=$1
    shift
    expect 0 multiply "$@" --verify -q -o C.mtx
    [ ! -s err ] || fail "--quiet is not quiet"
    [ ! -s out ] || fail "something on stdout that was not asked for"
    golden "$name" C.mtx
    rm C.mtx
}

gzip -c A.mtx >A.mtx.gz
for options in "" "--type f32" "--threads 1" "--threads 3" "--chunk-rows 1" "--chunk-rows 2" \
    "--deterministic" "--device-memory 1MiB"; do
    product multiply_aa A.mtx --backend host $options
    product multiply_ab A.mtx B.mtx --backend host $options
    product multiply_aat A.mtx --transpose-b --backend host $options
    product multiply_bbt B.mtx --transpose-b --backend host $options
done
product multiply_aa A.mtx A.mtx
product multiply_aa A.mtx.gz
product multiply_ab A.mtx.gz B.mtx
for variant in $("$HYBRID_SPMM" list | sed -n 's/^  \(spgemm\.host\.[a-z]*\) .*/\1/p'); do
    product multiply_ab A.mtx B.mtx --backend host --variant "$variant"
done
only A.mtx A.mtx.gz B.mtx
