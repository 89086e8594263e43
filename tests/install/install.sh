#!/usr/bin/env bash
# Installs into a fresh prefix and builds a consumer four ways: with the CMake package and
# with pkg-config, each with the shared and the static library. The soname, the CMake
# package and the pkg-config file have the version of the header; the CMake package
# refuses another minor version. The consumer compiles as C11, C17 and, if there is a C++
# compiler, C++17. Each linked consumer multiplies.
# Usage: install.sh <cmake>
set -euo pipefail
cmake=$1
source=$HYBRID_SOURCE/tests/install
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
"$cmake" --install "$HYBRID_BUILD" --prefix "$prefix" >/dev/null
build=$prefix/consumer
mkdir "$build"
lib=$(dirname "$(find "$prefix" -name libhybrid_spmm.a)")
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib

part() { awk -v name="HYBRID_VERSION_$1" '$2 == name { print $3 }' "$prefix/include/hybrid_spmm.h"; }
major=$(part MAJOR) minor=$(part MINOR) version=$(part MAJOR).$(part MINOR).$(part PATCH)
[ "$("$prefix/bin/hybrid_spmm" --version)" = "hybrid_spmm $version" ]
[ "$(pkg-config --modversion hybrid_spmm)" = "$version" ]
headers=$(objdump -p "$lib/libhybrid_spmm.so")
grep -qx " *SONAME *libhybrid_spmm.so.$major.$minor" <<<"$headers"

configure() { "$cmake" -S "$source" -B "$build/cmake" -D CMAKE_PREFIX_PATH="$prefix" -D WANTED="$1"; }
for other in 0.1 "$major.$((minor + 1))" "$((major + 1)).$minor"; do
    if refusal=$(configure "$other" 2>&1); then
        echo "the CMake package claims to be version $other" >&2
        exit 1
    fi
    grep -q "compatible with requested" <<<"$refusal"
done
configure "$major.$minor" >/dev/null
"$cmake" --build "$build/cmake" >/dev/null
"$build/cmake/with_shared"
"$build/cmake/with_static"

read -ra flags <<<"$(pkg-config --cflags --libs hybrid_spmm)"
"$CC" "$source/consumer.c" "${flags[@]}" -o "$build/pc_shared"
"$build/pc_shared"
if command -v c++ >/dev/null; then
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -x c++ "$source/consumer.c" -x none \
        "${flags[@]}" -o "$build/pc_cxx"
    "$build/pc_cxx"
fi
read -ra flags <<<"$(pkg-config --cflags --libs --static hybrid_spmm)"
"$CC" "$source/consumer.c" "$lib/libhybrid_spmm.a" -Wl,--as-needed "${flags[@]}" -o "$build/pc_static"
env -u LD_LIBRARY_PATH "$build/pc_static"

for standard in c11 c17; do
    "$CC" -std=$standard -Wall -Wextra -Wpedantic -Werror -I "$prefix/include" \
        -fsyntax-only "$source/consumer.c"
done
