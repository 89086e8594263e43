# doctor prints what the library finds, what is wrong and how to mend it.
. "$(dirname "$0")/../lib.bash"

no_nvidia || exit 77 # a GPU can have problems that are not expected here
expect 0 doctor
for word in '^library +[0-9]+\.[0-9]+\.[0-9]+$' '^driver ' '^GPU ' '^CPU ' \
    '^built +with(out)? CUDA, with(out)? HDF5 files, with(out)? zstd$' \
    '^  cores +[0-9]+ for this process, of [0-9]+ logical' '^  rates +built in' \
    '^memory +[0-9.]+ GiB in the machine' '^  limit ' '^  budget +[0-9.]+ [GM]iB' \
    '^no problems found$'; do
    grep -Eq "$word" out || fail "doctor does not say: $word"
done
name=$(sed -n 's/^CPU *//p' out | tr -cs '[:alnum:].\n-' _)
expect 2 doctor --host-memory 1G
says 'has no option --host-memory'

# an unreadable rates file is named, and the rest is still printed
mkdir -p cache/hybrid_spmm
echo nonsense >"cache/hybrid_spmm/$name.rates"
XDG_CACHE_HOME=$PWD/cache expect 1 doctor
grep -q "PROBLEM  $PWD/cache/hybrid_spmm/$name.rates:1: " out || fail "the file is not named"
grep -q "REMEDY   remove the file, or measure again" out || fail "no remedy"
grep -q '^memory' out || fail "the rest is hidden"
grep -q '^1 problem found$' out || fail "not one problem"
rm -r cache
XDG_CACHE_HOME='' HOME='' expect 1 doctor
grep -q 'PROBLEM  neither XDG_CACHE_HOME nor HOME' out || fail "no folder is no problem"
only
