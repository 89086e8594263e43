# tests/cli/lib.bash - functions of the program's tests, which run in an empty folder.
set -uo pipefail
here=$(dirname "${BASH_SOURCE[0]}")

fail() {
    echo "FAILED: $*" >&2
    echo "stdout:" >&2
    head -20 out >&2
    echo "stderr:" >&2
    head -20 err >&2
    exit 1
}

# expect <exit code> <argument>...: runs the program; its output is in `out` and `err`.
expect() {
    local want=$1 got=0
    shift
    "$HYBRID_SPMM" "$@" >out 2>err || got=$?
    [ "$got" -eq "$want" ] || fail "hybrid_spmm $*: exit code $got, not $want"
}

# says <pattern>: checks that the error is one message of the program that matches.
says() {
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line on stderr"
    grep -q '^hybrid_spmm: ' err || fail "the sentence does not begin with the program's name"
    grep -Eq -- "$1" err || fail "the sentence does not say: $1"
}

# golden <name> [<file>]: checks that the file (out) equals
# tests/cli/expected/<name>.stdout.
golden() {
    diff -u "$here/expected/$1.stdout" "${2:-out}" >&2 || fail "differs from $1.stdout"
}

# only <file>...: checks that the folder has no other files, such as partial ones.
only() {
    local left
    left=$(ls -A | grep -vxE "out|err$(printf '|%s' "$@")" || true)
    [ -z "$left" ] || fail "left behind: $left"
}

# make_matrices: writes A and B, small integer matrices with exact products.
#   A = [1 2 0; 0 0 3; 4 0 5]   B = [1 0; 2 3; 0 4]
make_matrices() {
    printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 5' \
        '1 1 1' '1 2 2' '2 3 3' '3 1 4' '3 3 5' >A.mtx
    printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 2 4' \
        '1 1 1' '2 1 2' '2 2 3' '3 2 4' >B.mtx
}

# no_nvidia: succeeds if the system shows no NVIDIA GPU.
no_nvidia() {
    ! ls /dev/nvidia[0-9]* >/dev/null 2>&1 &&
        ! cat /sys/bus/pci/devices/*/vendor 2>/dev/null | grep -q 0x10de
}
