#!/usr/bin/env bash
# The commands under "Building against the library" work as documented, with the installed
# examples: ldconfig with /usr/local, rpath with another prefix, and CMake. No program
# finds the library by LD_LIBRARY_PATH. A mount namespace hides the real /usr/local and
# /etc.
# Usage: documented.sh <cmake>
set -euo pipefail
cmake=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/opt
unset LD_LIBRARY_PATH PKG_CONFIG_PATH
"$cmake" --install "$HYBRID_BUILD" --prefix "$prefix" >/dev/null
examples=$prefix/share/doc/hybrid_spmm/examples

# block <pattern>: writes the indented block that matches, with this prefix
text=$(grep -l '^## Building against the library' "$HYBRID_SOURCE"/{README.md,docs/*.md})
block() {
    sed -n '/^## Building against the library/,/^## [^B]/p' "$text" |
        awk -v RS= -v pattern="$1" '/^    / && $0 ~ pattern' |
        sed "s/^    //; s|/opt/hybrid_spmm|$prefix|; s/^sudo //" >"$folder/block"
    [ -s "$folder/block" ] || { echo "$text has no block with $1" >&2; exit 1; }
    cat "$folder/block"
}

# squares <program>: checks that the program starts and computes
squares() {
    [ "$("$1" "$examples/ring.mtx")" = "A*A has 15 entries" ]
}

# a program without a stored path does not start, which shows that the test can fail
mkdir "$folder/none" "$folder/rpath"
cd "$folder/none"
cp "$examples/spgemm.c" .
cc=$(block 'ldconfig' | tail -n 1)
PKG_CONFIG_PATH=$prefix/lib/pkgconfig bash -euc "$cc"
if squares ./spgemm 2>/dev/null; then
    echo "the program finds the library without rpath and ldconfig" >&2
    exit 1
fi

cd "$folder/rpath"
cp "$examples/spgemm.c" .
bash -euc "$(block 'rpath,')"
squares ./spgemm

# CMake: in the build folder and installed
mkdir "$folder/cmake"
cp "$examples/spgemm.c" "$folder/cmake"
cd "$folder/cmake"
{
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(mine LANGUAGES C)'
    block 'find_package'
    echo 'install(TARGETS spgemm)'
} >CMakeLists.txt
option=$(grep -o -- '-D CMAKE_PREFIX_PATH=[a-z/_]*' "$text" | head -n 1)
# shellcheck disable=SC2086 # two words
"$cmake" -S . -B build ${option/\/opt\/hybrid_spmm/$prefix} >/dev/null
"$cmake" --build build >/dev/null
squares build/spgemm
"$cmake" --install build --prefix "$folder/installed" >/dev/null
squares "$folder/installed/bin/spgemm"

# all examples with their own CMakeLists.txt, and the licence
"$cmake" -S "$examples" -B "$folder/examples" -D CMAKE_PREFIX_PATH="$prefix" >/dev/null
"$cmake" --build "$folder/examples" >/dev/null
ctest=$(dirname "$cmake")/ctest
(cd "$folder/examples" && "$ctest" --output-on-failure >/dev/null)
cmp "$HYBRID_SOURCE/LICENSE" "$prefix/share/doc/hybrid_spmm/LICENSE"
cmp "$HYBRID_SOURCE/docs/manual.md" "$prefix/share/doc/hybrid_spmm/manual.md"

# manual pages and completions are where man and the shells expect them
for file in man/man1/hybrid_spmm{,-multiply}.1 bash-completion/completions/hybrid_spmm \
    zsh/site-functions/_hybrid_spmm fish/vendor_completions.d/hybrid_spmm.fish; do
    cmp "$HYBRID_BUILD/share/$file" "$prefix/share/$file"
done

# ldconfig writes to /etc (here a copy) and reads /usr/local (here the prefix)
if ! unshare --map-root-user --mount true 2>/dev/null; then
    echo "no mount namespace: ldconfig is not tested" >&2
    exit 77
fi
mkdir "$folder/ldconfig"
cp -a /etc "$folder" 2>/dev/null || true # the files that this user may read
cd "$folder/ldconfig"
cp "$examples/spgemm.c" .
unshare --map-root-user --mount bash -euc '
    mount --bind "$1" /usr/local
    mount --bind "$2/etc" /etc
    eval "$3"
    [ "$(./spgemm "$4/ring.mtx")" = "A*A has 15 entries" ]' \
    bash "$prefix" "$folder" "$(block ldconfig)" "$examples"
