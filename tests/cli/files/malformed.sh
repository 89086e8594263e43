# A malformed file gives exit code 3. The message names the file, and the line of a text
# file.
. "$(dirname "$0")/../lib.bash"

count=0
for file in "$TEST_DATA"/bad_*.mtx; do
    expect 3 multiply -q "$file" -o C.mtx
    says "^hybrid_spmm: $file:[0-9]+: "
    count=$((count + 1))
done
for file in "$TEST_DATA"/bad_*.mtx.gz; do
    expect 3 info "$file"
    says "^hybrid_spmm: $file: "
    count=$((count + 1))
done
for file in "$TEST_DATA"/bad_array_*.mtx; do
    expect 3 info "$file"
    says "^hybrid_spmm: $file:[0-9]+: "
done
for file in "$TEST_DATA"/bad_*.npy; do
    expect 3 info --type f32 "$file"
    says "^hybrid_spmm: $file: "
    count=$((count + 1))
done
[ "$count" -gt 20 ] || fail "only $count malformed files were found"
only
