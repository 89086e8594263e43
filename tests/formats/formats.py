"""Compares files of the library with those of the packages that own the formats.

Usage: formats.py scipy | petsc

copy_matrix, next to the programs of the tests, reads a file that a package has written and
writes one that the package reads. Both matrices must be equal. Without the package the test
is skipped, or fails if HYBRID_REQUIRE_PYTHON is 1.
"""

import glob
import os
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(os.environ["HYBRID_BUILD"])

try:
    import numpy as np
    import scipy.sparse as sp

    if sys.argv[1] == "petsc":
        # Debian's package is beside the library, and its path needs a link of petsc-dev.
        sys.path += glob.glob("/usr/lib/petscdir/*/*-real/lib/python3/dist-packages")
        import petsc4py

        petsc4py.init()
        from petsc4py import PETSc
except ImportError as error:
    print(error)
    sys.exit(1 if os.environ.get("HYBRID_REQUIRE_PYTHON") == "1" else 77)


program = subprocess.Popen([BUILD / "bin/copy_matrix"], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, text=True)


def copy(source, target, *words, status=0):
    """Let copy_matrix do a job. Return what it says."""
    words = words or ("100",)
    program.stdin.write("\t".join([str(source), str(target), *words]) + "\n")
    program.stdin.flush()
    found, _, message = program.stdout.readline().partition(" ")
    assert found == str(status), (source, target, words, found, message)
    return message


def matrices():
    """Yield sparse matrices of many shapes, with sorted indices and without duplicates."""
    random = np.random.default_rng(1)
    for rows, cols, density in [(1, 1, 1), (5, 7, 0.5), (300, 200, 0.05), (1000, 3, 0.2),
                                (7, 5000, 0.01), (40, 40, 0), (0, 5, 0), (5, 0, 0)]:
        A = sp.random(rows, cols, density, format="csr", random_state=random)
        A.data = np.arange(1.0, len(A.data) + 1) - 3
        A.sort_indices()
        yield A


def check_same(A, B):
    """Compare two CSR matrices entry by entry, explicit zeros included."""
    assert A.shape == B.shape, (A.shape, B.shape)
    B.sort_indices()
    assert np.array_equal(A.indptr, B.indptr)
    assert np.array_equal(A.indices, B.indices)
    assert np.array_equal(A.data.astype(np.float64), B.data.astype(np.float64))


# ---- SciPy and NumPy ----------------------------------------------------------------


def swapped(path, members):
    """Rewrite members of an .npz file with the given dtypes."""
    arrays = dict(np.load(path))
    for name, dtype in members.items():
        arrays[name] = arrays[name].astype(dtype)
    np.savez(path, **arrays)


def check_npz(folder):
    """Every layout, stored and deflated, with both sizes of indices."""
    layouts = ["csr", "csc", "coo"]
    for A in matrices():
        for layout in layouts:
            for compressed in False, True:
                path = folder / "a.npz"
                sp.save_npz(path, A.asformat(layout), compressed)
                for words in ["1"], ["17", "i64"], ["100000"]:
                    copy(path, folder / "b.npz", *words)
                    check_same(A, sp.load_npz(folder / "b.npz"))
                    for name in "indices", "indptr":
                        dtype = np.load(folder / "b.npz")[name].dtype
                        assert dtype == ("<i8" if "i64" in words else "<i4")


def check_raw(folder):
    """Raw numbers go through JSON files, also if a file replaces one of the same name."""
    for A in matrices():
        sp.save_npz(folder / "a.npz", A)
        for step in "1", "100":
            copy(folder / "a.npz", folder / "r.json", step)
            copy(folder / "r.json", folder / "b.npz")
            check_same(A, sp.load_npz(folder / "b.npz"))
    (folder / "s.index.bin").write_text("another file")  # no s.json: it belongs to nobody
    copy(folder / "a.npz", folder / "s.json", "1")
    assert (folder / "s.index.bin").read_text() == "another file"
    assert (folder / "s.1.index.bin").exists() and (folder / "s.values.bin").exists()
    copy(folder / "s.json", folder / "b.npz")
    check_same(A, sp.load_npz(folder / "b.npz"))
    for shape in (30, 20), (1000, 3), (0, 4), (4, 0):
        X = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        np.save(folder / "x.npy", X)
        for words in [], ["7", "col"]:
            copy(folder / "x.npy", folder / "r.json", *words)
            copy(folder / "r.json", folder / "y.npy")
            assert np.array_equal(np.load(folder / "y.npy"), X)
    names = {path.name for path in folder.glob("r.*")}
    assert names == {"r.json", "r.index.bin", "r.values.bin", "r.1.index.bin",
                     "r.1.values.bin"}, names


def check_npz_types(folder):
    """Indices, values, format and shape of other types, in both byte orders."""
    A = list(matrices())[2]
    A.data = np.abs(A.data) % 100
    path = folder / "a.npz"
    for values in "<f4", ">f4", ">f8", "<f2", "<i8", ">i4", "<u2", "|i1", "|u1", ">u8":
        for indices in ">i4", "<i8", ">i8", "<u4":
            sp.save_npz(path, A)
            swapped(path, {"data": values, "indices": indices, "indptr": indices,
                           "format": "U" if values[0] == "<" else ">U3",
                           "shape": indices})
            copy(path, folder / "b.npz")
            B = sp.load_npz(folder / "b.npz")
            assert B.dtype == (np.float32 if values[1:] in ("f4", "f2") else np.float64)
            check_same(A, B)
    sp.save_npz(path, A.astype(bool))
    copy(path, folder / "b.npz")
    check_same(A.astype(bool), sp.load_npz(folder / "b.npz"))


def check_npz_unsorted(folder):
    """Products of SciPy have rows whose columns do not ascend, and sums may repeat them."""
    for A in matrices():
        A.indices = A.indices.astype(np.int64 if A.nnz % 2 else np.int32)
        for i in range(len(A.indptr) - 1):
            row = slice(A.indptr[i], A.indptr[i + 1])
            A.indices[row], A.data[row] = A.indices[row][::-1].copy(), A.data[row][::-1].copy()
        if A.nnz > 2:
            A.indices[A.indptr[np.argmax(np.diff(A.indptr) > 1)]:][:2] = 0  # twice, if in a row
        A.has_sorted_indices = A.has_canonical_format = False
        for compressed in False, True:
            sp.save_npz(folder / "a.npz", A, compressed)
            copy(folder / "a.npz", folder / "b.npz")
            B = A.copy()
            B.sum_duplicates()
            check_same(B, sp.load_npz(folder / "b.npz"))


def check_npz_longer_arrays(folder):
    """Arrays of SciPy may be longer than the last offset says."""
    A = list(matrices())[1]
    arrays = {"format": b"csr", "shape": A.shape, "indptr": A.indptr,
              "indices": np.append(A.indices, 0), "data": np.append(A.data, 7)}
    np.savez(folder / "a.npz", **arrays)
    copy(folder / "a.npz", folder / "b.npz")
    check_same(A, sp.load_npz(folder / "b.npz"))


def check_npy(folder):
    """Dense matrices in both orders, alone and as a member of an .npz file."""
    for shape in (1, 1), (30, 20), (1000, 3), (0, 4), (4, 0), (9,):
        for dtype in "<f8", ">f4", "<i4", "|b1":
            for order in "C", "F":
                X = np.asarray(np.arange(np.prod(shape)).reshape(shape), dtype, order)
                np.save(folder / "x.npy", X)
                np.savez(folder / "x.npz", other=X[:1], X=X)
                np.savez_compressed(folder / "xc.npz", other=X[:1], X=X)
                for source in "x.npy", "x.npz::X", "xc.npz::X":
                    for words in [], ["7", "col"]:
                        copy(f"{folder}/{source}", folder / "y.npy", *words)
                        Y = np.load(folder / "y.npy")
                        assert np.array_equal(Y, X if X.ndim == 2 else X[:, None])
                        assert Y.flags.f_contiguous or "col" not in words


def check_scipy(folder):
    check_npz(folder)
    check_npz_types(folder)
    check_npz_unsorted(folder)
    check_npz_longer_arrays(folder)
    check_npy(folder)
    check_raw(folder)


# ---- PETSc --------------------------------------------------------------------------


def load_petsc(path, kind="seqaij"):
    """Return the matrix of this kind that PETSc reads from a file."""
    viewer = PETSc.Viewer().createBinary(str(path), "r", comm=PETSc.COMM_SELF)
    M = PETSc.Mat().create(comm=PETSc.COMM_SELF)
    M.setType(kind)
    M.load(viewer)
    if kind == "seqdense":
        return M.getDenseArray().copy()
    indptr, indices, data = M.getValuesCSR()
    return sp.csr_matrix((data, indices, indptr), shape=M.getSize())


def save_petsc(path, M):
    """Let PETSc write a matrix."""
    M.assemble()
    viewer = PETSc.Viewer().createBinary(str(path), "w", comm=PETSc.COMM_SELF)
    viewer.pushFormat(PETSc.Viewer.Format.NATIVE)
    M.view(viewer)
    viewer.destroy()


def bytes_of(A, index, value="f8"):
    """Return the bytes of a PETSc with indices of this type, which the manual of its
    MatLoad() describes."""
    numbers = [1211216, *A.shape, A.nnz, *np.diff(A.indptr), *A.indices]
    return np.array(numbers, f">{index}").tobytes() + A.data.astype(f">{value}").tobytes()


def check_petsc(folder):
    """PETSc reads our files, and we read those of PETSc, with both sizes of integers."""
    ours, theirs = folder / "a.petsc", folder / "theirs"
    for A in matrices():
        M = PETSc.Mat().createAIJ(A.shape, csr=(A.indptr, A.indices, A.data),
                                  comm=PETSc.COMM_SELF)
        save_petsc(theirs, M)
        assert theirs.read_bytes() == bytes_of(A, "i4")
        for index, value in ("i4", "f8"), ("i8", "f8"), ("i4", "f4"), ("i8", "f4"):
            theirs.write_bytes(bytes_of(A, index, value))
            copy(theirs, ours, "7")
            assert ours.read_bytes() == bytes_of(A, "i4")
            check_same(A, load_petsc(ours))
            copy(ours, folder / "b.petsc", "1000", "i64")
            assert (folder / "b.petsc").read_bytes() == bytes_of(A, "i8")
            copy(folder / "b.petsc", folder / "c.npz")
            check_same(A, sp.load_npz(folder / "c.npz"))
    for shape in (1, 1), (30, 20), (5000, 3):
        X = np.random.default_rng(1).random(shape)
        M = PETSc.Mat().createDense(shape, array=np.asfortranarray(X), comm=PETSc.COMM_SELF)
        save_petsc(theirs, M)
        for words in [], ["7", "col"]:
            copy(theirs, folder / "x.npy", *words)
            assert np.array_equal(np.load(folder / "x.npy"), X)
            copy(folder / "x.npy", ours)
            assert np.array_equal(load_petsc(ours, "seqdense"), X)


def main():
    with tempfile.TemporaryDirectory() as folder:
        globals()[f"check_{sys.argv[1]}"](Path(folder))
    program.stdin.close()
    assert program.wait() == 0


main()
