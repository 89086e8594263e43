# bench/papers/common.bash - what the scripts of papers share. Each script sources this file with
# its own arguments, OUTDIR [OPTION...].
# Sets: name (of the script), out (OUTDIR, made), options (for hybrid_spmm_bench), bench, program
# (hybrid_spmm beside it), python, data, failed (0).
here=$(cd "$(dirname "$0")" && pwd)
name=$(basename "$0" .sh)
if (($# == 0)) || [[ $1 == -* ]]; then
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
out=$1
shift
bench=${BENCH:-$here/../../build/release/bin/hybrid_spmm_bench}
program=$(dirname "$bench")/hybrid_spmm
python=${PYTHON:-python3}
data=${DATA:-${HYBRID_DATA_DIR:-$here/../../../shared/data}}
export XDG_CACHE_HOME=/nonexistent # plans use built-in speeds
options=(--commit "${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}" "$@")
failed=0 SECONDS=0
mkdir -p "$out" || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
raw=$scratch/$name.jsonl # lines of hybrid_spmm_bench

# Sets `files` to the .mtx files of `data`, of which .mtx.xz files are unpacked into the folder
# UNPACKED. Without UNPACKED they are unpacked for this script only.
find_files() {
    local folder=${UNPACKED:-$scratch/unpacked}
    "$python" "$here/../lib/unpack.py" "$data" "$folder" || failed=1
    mapfile -t files < <(find -L "$folder" -name '*.mtx' | sort)
}

timed() { # OPERATION PROBLEM... OPTION...: adds lines to `raw`
    echo "== $SECONDS s: $*" | cut -c 1-160
    "$bench" "$@" --backend cuda --json "$raw" "${options[@]}" >>"$out/$name.log" 2>&1 && return
    echo "$name.sh: exit code $?, see $out/$name.log" >&2
    failed=1
}

# Profiles a program with Nsight Compute, if PROFILE is 1: writes a table of metrics to a file of
# `scratch`, which the module of the paper reads.
profiled() { # FILE METRICS PROGRAM ARGUMENT...
    [[ ${PROFILE-} == 1 ]] || return 0
    echo "== $SECONDS s: profile of ${*:3}" | cut -c 1-160
    ncu --clock-control none --csv --metrics "$2" "${@:3}" >"$scratch/$1.csv" 2>>"$out/$name.log" &&
        return
    echo "$name.sh: ncu: exit code $?, see $out/$name.log" >&2
    failed=1
}

# Writes OUT/NAME.jsonl (the lines that are kept), OUT/NAME.md and OUT/NAME*.svg, and ends the
# script.
finish() {
    "$python" "$here/$name.py" "$raw" "$out" || failed=1
    cat "$out/$name.md"
    echo "$name.sh: $SECONDS s"
    exit $failed
}
