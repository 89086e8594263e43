"""Multiplies a file of cells x genes by a vector, and reads it with h5py for comparison.

Usage: cells.py make FILE ENTRIES | cells.py measure FILE THREADS

`make` writes about ENTRIES entries as AnnData does with compression="gzip": f32 counts, 32-bit
indices, chunks of the size that h5py chooses, level 4. A process for each core deflates chunks. The
matrix of 1.3 million cells has 2e9 entries.
`measure` prints a line of JSON: seconds of y = A x under 2 GiB of host memory and of reading the
file's bytes, both from the disk (cold) and from cached pages, and seconds in which h5py reads the
same arrays piece by piece in one thread. h5py reads cached pages, and at most the first 2e8
entries, whose time is scaled to all entries.
"""

import ctypes
import json
import os
import sys
import time
import zlib
from multiprocessing import Pool

import h5py
import numpy as np

import hybrid_spmm as hs
from hybrid_spmm._native import capi
from hybrid_spmm._native.library import lib

GENES, PER_CELL = 27998, 1500
CHUNK = 61035  # numbers
BLOCK = 50  # chunks that a process makes at a time, and numbers that h5py reads at a time
MOST_READ = 200_000_000  # entries that h5py reads
PIECE = 8 << 20  # bytes that are read at a time


class Operand(ctypes.Structure):
    """hybrid_operand."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("csr", "dense", "file")]


def deflate(numbers):
    """Return the chunks of numbers, compressed as HDF5's filter does."""
    return [
        zlib.compress(numbers[at : at + CHUNK].tobytes(), 4)
        for at in range(0, len(numbers), CHUNK)
    ]


def block(seed):
    """Return lengths of the rows, and chunks of indices and counts, of BLOCK * CHUNK entries."""
    rng = np.random.default_rng(seed)
    entries = BLOCK * CHUNK
    cells = entries // PER_CELL * 5 // 4
    genes = np.cumsum(rng.integers(1, 2 * GENES // PER_CELL, (cells, PER_CELL)), axis=1) - 1
    kept = genes < GENES
    ends = np.cumsum(kept.sum(axis=1))
    last = np.searchsorted(ends, entries)  # this row is cut, so that the block is full
    lengths = np.diff(np.append(ends[:last], entries), prepend=0)
    counts = rng.geometric(0.5, entries).astype(np.float32)
    return lengths, deflate(genes[kept][:entries].astype(np.int32)), deflate(counts)


def make(path, entries):
    """Write the file block by block."""
    blocks = max(1, round(entries / (BLOCK * CHUNK)))
    with h5py.File(path, "w") as file, Pool() as pool:
        X = file.create_group("X")
        size = (blocks * BLOCK * CHUNK,)
        options = {"compression": "gzip", "chunks": (CHUNK,)}
        arrays = [X.create_dataset("indices", size, "i4", **options)]
        arrays.append(X.create_dataset("data", size, "f4", **options))
        lengths, at = [np.zeros(1, np.int64)], 0
        for row, *chunks in pool.imap(block, range(blocks)):
            lengths.append(row)
            for k in range(BLOCK):
                for array, packed in zip(arrays, chunks, strict=True):
                    array.id.write_direct_chunk((at,), packed[k])
                at += CHUNK
        X["indptr"] = np.cumsum(np.concatenate(lengths))
        X.attrs["encoding-type"], X.attrs["shape"] = "csr_matrix", (len(X["indptr"]) - 1, GENES)
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def drop(path):
    """Drop the cached pages of the file."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read(path):
    """Return the seconds of reading the bytes of the file."""
    room = [bytearray(PIECE)]
    begin = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        at = 0
        while got := os.preadv(file.fileno(), room, at):
            at += got
    return time.perf_counter() - begin


def read_h5py(path):
    """Return the seconds in which h5py reads all arrays."""
    with h5py.File(path) as file:
        X = file["X"]
        entries = min(len(X["data"]), MOST_READ)
        begin = time.perf_counter()
        for numbers in X["indices"], X["data"]:
            for at in range(0, entries, BLOCK * CHUNK):
                numbers[at : at + BLOCK * CHUNK]
        seconds = (time.perf_counter() - begin) * len(X["data"]) / entries
        begin = time.perf_counter()
        X["indptr"][:]
    return seconds + time.perf_counter() - begin


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


def both(path, threads):
    """Return the least seconds of two readings of the file, and of two products."""
    seconds = [(read(path), multiply(path, threads)[0]) for _ in range(2)]
    return [min(column) for column in zip(*seconds, strict=True)]


def measure(path, threads):
    """Print the line of JSON."""
    drop(path)
    cold_read = read(path)
    drop(path)
    cold_multiply, y = multiply(path, threads)
    check(path, y)
    warm_read, warm_multiply = both(path, threads)
    by_h5py = read_h5py(path)
    with h5py.File(path) as file:
        entries = len(file["X/data"])
    line = {
        "bench": "cells",
        "entries": entries,
        "file_bytes": os.path.getsize(path),
        "threads": threads,
        "cold_read_s": round(cold_read, 3),
        "cold_multiply_s": round(cold_multiply, 3),
        "warm_read_s": round(warm_read, 3),
        "warm_multiply_s": round(warm_multiply, 3),
        "h5py_s": round(by_h5py, 3),
        "cold_ratio": round(cold_read / cold_multiply, 2),
        "h5py_ratio": round(by_h5py / warm_multiply, 2),
    }
    print(json.dumps(line))


if __name__ == "__main__":
    {"make": make, "measure": measure}[sys.argv[1]](sys.argv[2], int(float(sys.argv[3])))
