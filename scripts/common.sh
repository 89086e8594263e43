#!/usr/bin/env bash
# scripts/common.sh - functions that the scripts share; sourced in the root of the tree.

export CMAKE_GENERATOR=Ninja # for new build folders

say() {
    printf '\n== %s\n' "$*"
}

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# install_missing <list>...: installs missing packages of these lists. apt runs only if one is
# missing.
install_missing() {
    local package missing=() root=()
    if ! command -v apt-get >/dev/null; then
        say "No apt-get: the packages of $* must be there under the names of this system"
        return 0
    fi
    while read -r package; do
        installed "$package" || missing+=("$package")
    done < <(cat "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        root=(sudo)
        if ! command -v sudo >/dev/null; then
            echo "There is no sudo. As root: apt-get install ${missing[*]}" >&2
            exit 1
        fi
    fi
    say "Installing ${missing[*]}"
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# find_nvcc: succeeds if there is nvcc. CUDA's own installer does not put it on PATH.
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

# check <preset> [<ctest option>...]: threads that are woken do not interrupt others (--batch), which
# saves a tenth of the time of tests with many threads.
check() {
    local preset=$1
    shift
    say "Testing $preset"
    chrt --batch 0 ctest --preset "$preset" --parallel "$(nproc)" "$@"
}
