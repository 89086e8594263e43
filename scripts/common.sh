#!/usr/bin/env bash
# scripts/common.sh - what the scripts share; sourced from the root of the tree.

export CMAKE_GENERATOR=Ninja # in trees that are new

say() {
    printf '\n== %s\n' "$*"
}

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Installs those of scripts/packages.txt that are missing; apt runs only if one is.
install_missing() {
    local package missing=() root=()
    while read -r package; do
        installed "$package" || missing+=("$package")
    done <scripts/packages.txt
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$(id -u)" = 0 ] || root=(sudo)
    say "Installing ${missing[*]}"
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# CUDA's own installer leaves nvcc off PATH.
find_nvcc() {
    if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
        PATH=$PATH:/usr/local/cuda/bin
    fi
    command -v nvcc >/dev/null
}

# build <preset> [<target> [<option of cmake>...]]
build() {
    local preset=$1 target=${2:-all}
    shift $(($# < 2 ? $# : 2))
    say "Building build/$preset"
    cmake --preset "$preset" "$@"
    cmake --build "build/$preset" --parallel "$(nproc)" --target "$target"
}

# check <preset> [<ctest option>...]
check() {
    local preset=$1
    shift
    say "Testing $preset"
    ctest --preset "$preset" --parallel "$(nproc)" "$@"
}
