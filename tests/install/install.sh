#!/usr/bin/env bash
# Installs into a fresh prefix and builds a consumer four ways: by the CMake package and by
# pkg-config, each with the shared and the static library. The header compiles as C11, C17
# and, where there is a C++ compiler, C++17.
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

"$cmake" -S "$source" -B "$build/cmake" -D CMAKE_PREFIX_PATH="$prefix" >/dev/null
"$cmake" --build "$build/cmake" >/dev/null
"$build/cmake/with_shared"
"$build/cmake/with_static"

read -ra flags <<<"$(pkg-config --cflags --libs hybrid_spmm)"
"$CC" "$source/consumer.c" "${flags[@]}" -o "$build/pc_shared"
"$build/pc_shared"
read -ra flags <<<"$(pkg-config --cflags --libs --static hybrid_spmm)"
"$CC" "$source/consumer.c" "$lib/libhybrid_spmm.a" -Wl,--as-needed "${flags[@]}" -o "$build/pc_static"
env -u LD_LIBRARY_PATH "$build/pc_static"

for standard in c11 c17; do
    "$CC" -std=$standard -Wall -Wextra -Wpedantic -Werror -I "$prefix/include" \
        -fsyntax-only "$source/consumer.c"
done
if command -v c++ >/dev/null; then
    c++ -std=c++17 -x c++ -Wall -Wextra -Wpedantic -Werror -I "$prefix/include" \
        -fsyntax-only "$source/consumer.c"
fi
"$prefix/bin/hybrid_spmm" --version
