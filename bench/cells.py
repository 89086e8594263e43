"""Multiplies a file of cells x genes by a vector, and reads it with h5py for comparison.

Usage: cells.py make FILE ENTRIES | cells.py measure FILE THREADS

`make` writes about ENTRIES entries as AnnData does with compression="gzip": f32 counts, 32-bit
indices, chunks of the size that h5py chooses. The matrix of 1.3 million cells has 2e9 entries.
`measure` prints a line of JSON: seconds of y = A x under 2 GiB of host memory, and seconds in which
h5py reads the same arrays piece by piece in one thread. Both read a cached file.
"""

import ctypes
import json
import os
import sys
import time

import h5py
import numpy as np

import hybrid_spmm as hs
from hybrid_spmm._native import capi
from hybrid_spmm._native.library import lib

GENES, PER_CELL, CELLS_AT_ONCE = 27998, 1500, 2000
PIECE = 1 << 22  # numbers that h5py reads at a time


class Operand(ctypes.Structure):
    """hybrid_operand."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("csr", "dense", "file")]


def block(rng, cells):
    """Return lengths of rows, indices and counts of some cells."""
    genes = np.cumsum(rng.integers(1, 2 * GENES // PER_CELL, (cells, PER_CELL)), axis=1) - 1
    kept = genes < GENES
    counts = rng.geometric(0.5, kept.sum()).astype(np.float32)
    return kept.sum(axis=1), genes[kept].astype(np.int32), counts


def make(path, entries):
    """Write the file block by block."""
    cells = max(1, entries // PER_CELL)
    rng = np.random.default_rng(1)
    with h5py.File(path, "w") as file:
        X = file.create_group("X")
        X.attrs["encoding-type"], X.attrs["shape"] = "csr_matrix", (cells, GENES)
        options = {"maxshape": (None,), "compression": "gzip", "chunks": (61035,)}
        indices = X.create_dataset("indices", (0,), "i4", **options)
        data = X.create_dataset("data", (0,), "f4", **options)
        lengths = []
        for begin in range(0, cells, CELLS_AT_ONCE):
            row, gene, count = block(rng, min(CELLS_AT_ONCE, cells - begin))
            lengths.append(row)
            for numbers, new in [(indices, gene), (data, count)]:
                size = len(numbers)
                numbers.resize((size + len(new),))
                numbers[size:] = new
        X["indptr"] = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])


def read(path):
    """Return the seconds in which h5py reads all arrays."""
    begin = time.perf_counter()
    with h5py.File(path) as file:
        for name in ["indptr", "indices", "data"]:
            numbers = file["X"][name]
            for at in range(0, len(numbers), PIECE):
                numbers[at : at + PIECE]
    return time.perf_counter() - begin


def multiply(path, threads):
    """Return the seconds of y = A x, and y."""
    lib.hybrid_file_csr.restype = capi.Csr
    lib.hybrid_file_csr.argtypes = lib.hybrid_file_close.argtypes = [ctypes.c_void_p]
    lib.hybrid_file_open.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    number, pointer = ctypes.c_double, ctypes.c_void_p
    lib.hybrid_spmm_files.argtypes = [pointer, number, *[pointer] * 2, number, *[pointer] * 2]
    with hs.Engine(backend="host", threads=threads, host_memory="2GiB") as engine:
        handle, file = engine._handle, ctypes.c_void_p()
        begin = time.perf_counter()
        handle.call(
            lib.hybrid_file_open, handle.pointer, os.fsencode(path), ctypes.byref(file)
        )
        shape = lib.hybrid_file_csr(file)
        x, y = np.ones(shape.cols, np.float32), np.zeros(shape.rows, np.float32)
        X = capi.Dense(shape.cols, 1, 1, 1, x.ctypes.data, shape.type, 0)
        Y = capi.Dense(shape.rows, 1, 1, 1, y.ctypes.data, shape.type, 0)
        operands = Operand(file=file), Operand(dense=ctypes.addressof(X))
        handle.call(
            lib.hybrid_spmm_files,
            *(handle.pointer, 1.0, *map(ctypes.byref, operands), 0.0, None, ctypes.byref(Y)),
        )
        seconds = time.perf_counter() - begin
        lib.hybrid_file_close(file)
    return seconds, y


def check(path, y):
    """Compare y with the sums of the first rows."""
    with h5py.File(path) as file:
        ptr = file["X/indptr"][:101]
        data = file["X/data"][: ptr[-1]]
    sums = np.add.reduceat(data.astype(np.float64), ptr[:-1])
    assert (y[: len(sums)] == sums).all()


def measure(path, threads):
    """Print the line of JSON. The file is read once before."""
    read(path)
    by_h5py = min(read(path) for _ in range(2))
    by_us, y = min((multiply(path, threads) for _ in range(2)), key=lambda pair: pair[0])
    check(path, y)
    with h5py.File(path) as file:
        entries = len(file["X/data"])
    line = {
        "entries": entries,
        "file_bytes": os.path.getsize(path),
        "threads": threads,
        "h5py_s": round(by_h5py, 3),
        "multiply_s": round(by_us, 3),
        "ratio": round(by_h5py / by_us, 2),
    }
    print(json.dumps(line))


if __name__ == "__main__":
    {"make": make, "measure": measure}[sys.argv[1]](sys.argv[2], int(float(sys.argv[3])))
