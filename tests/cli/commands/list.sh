# Backends and CUDA variants depend on the machine; the rest equals the expected text.
. "$(dirname "$0")/../lib.bash"

expect 0 list
sed -E -e 's/^(  (host|cuda)  +).*/\1.../' out | awk '
    /^  [a-z]+\.cuda\./ { skip = 1; next }
    skip && /^ +(source|parameters): / { next }
    { skip = 0; print }' >listed
golden list listed
[ "$(grep -c '^  [a-z]*\.[a-z]*\.' out)" -eq "$(grep -c '^ *source: .' out)" ] ||
    fail "a variant without a source"
expect 2 list something
says 'usage'
