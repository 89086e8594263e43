#!/usr/bin/env bash
# bench/cells.sh [ENTRIES [THREADS]] - makes a file like that of 1.3 million cells, with 2e7 entries
# or ENTRIES (2e9 are the whole matrix, and take 5 GB), and prints a line of JSON: seconds of its
# product with a vector under 2 GiB, and seconds in which h5py reads the file (cells.py). The file
# stays in build/cells. The library is that of HYBRID_SPMM_LIBRARY, or of build/release.
set -euo pipefail
cd "$(dirname "$0")/.."
entries=${1:-2e7}
folder=build/cells
mkdir -p "$folder"
[ -x "$folder/venv/bin/python" ] || python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet 'h5py<4' 'numpy<2.6' 'scipy<1.19'
export HYBRID_SPMM_LIBRARY=${HYBRID_SPMM_LIBRARY:-build/release/lib/libhybrid_spmm.so} PYTHONPATH=python/src
file=$folder/$entries.h5ad
[ -e "$file" ] || "$folder/venv/bin/python" bench/cells.py make "$file" "$entries"
"$folder/venv/bin/python" bench/cells.py measure "$file" "${2:-$(nproc)}"
