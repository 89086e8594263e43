"""Reads a result with the package that owns its format and compares it with A*A or A*X.

Usage: read_result.py RESULT A.npz [X.npy]

RESULT is the product of the matrix in A.npz and itself, or of the matrix and X. Exits with
77 if a package is missing, or with 1 if HYBRID_REQUIRE_PYTHON is 1.
"""

import glob
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path


def missing(error):
    """End the program because a package is missing."""
    print(error)
    sys.exit(1 if os.environ.get("HYBRID_REQUIRE_PYTHON") == "1" else 77)


try:
    import numpy as np
    import scipy.io
    import scipy.sparse as sp
except ImportError as error:
    missing(error)


def read_h5(path):
    """Read a Binsparse file: with its package, or with h5py alone."""
    try:
        import binsparse

        C = binsparse.load_binsparse(path)
        return sp.csr_matrix((C.values, C.indices_1, C.pointers_to_1), C.shape)
    except ImportError:
        import h5py
    with h5py.File(path) as file:
        shape = json.loads(file.attrs["binsparse"])["binsparse"]["shape"]
        arrays = [file[name][:] for name in ("values", "indices_1", "pointers_to_1")]
    return sp.csr_matrix(tuple(arrays), shape)


def read_petsc(path):
    """Read a matrix of PETSc."""
    sys.path += glob.glob("/usr/lib/petscdir/*/*-real/lib/python3/dist-packages")
    from petsc4py import PETSc

    viewer = PETSc.Viewer().createBinary(str(path), "r", comm=PETSc.COMM_SELF)
    M = PETSc.Mat().create(comm=PETSc.COMM_SELF)
    M.setType("seqaij")
    indptr, indices, data = M.load(viewer).getValuesCSR()
    return sp.csr_matrix((data, indices, indptr), shape=M.getSize())


def read_zst(path):
    """Read a text that zstd decompresses."""
    if not shutil.which("zstd"):
        raise ImportError("there is no program zstd")
    text = path.with_suffix("")
    with open(text, "wb") as file:
        subprocess.run(["zstd", "-dc", path], stdout=file, check=True)
    return scipy.io.mmread(text)


def read_json(path):
    """Read raw numbers as their description says."""
    form = json.loads(path.read_text())
    if form["format"] == "hybrid-rows":
        return sp.vstack([read_json(path.parent / part["file"]) for part in form["parts"]])

    def numbers(part, kind, count):
        return np.fromfile(path.parent / part["file"], kind, count, offset=part.get("offset", 0))

    indptr = numbers(form["row_ptr"], "<i8", form["rows"] + 1)
    indices = numbers(form["col"], "<i4", form["nnz"])
    kind = "<f8" if form["type"] == "f64" else "<f4"
    data = numbers(form["values"], kind, form["nnz"])
    return sp.csr_matrix((data, indices, indptr), (form["rows"], form["cols"]))


READERS = {
    ".npz": sp.load_npz,
    ".npy": np.load,
    ".h5": read_h5,
    ".petsc": read_petsc,
    ".mtx": scipy.io.mmread,
    ".gz": scipy.io.mmread,
    ".zst": read_zst,
    ".json": read_json,
}


def main():
    path, A = Path(sys.argv[1]), sp.load_npz(sys.argv[2])
    B = np.load(sys.argv[3]) if len(sys.argv) > 3 else A
    try:
        C = READERS[path.suffix](path)
    except ImportError as error:
        missing(error)
    wanted = A @ B
    assert C.shape == wanted.shape
    assert path.suffix == ".npy" or C.nnz == wanted.nnz, (C.nnz, wanted.nnz)
    difference = abs(C - wanted)
    assert (difference > 1e-12 * abs(wanted).max()).sum() == 0, difference.max()


main()
