#!/usr/bin/env python3
"""bench/mtx.py - compares hybrid_read_mtx with scipy.io.mmread on the same files, in turns.

    bench/mtx.py libhybrid_spmm.so 1,2 FILE.mtx ...

Prints for each file and number of threads: median seconds of hybrid_read_mtx (f64, to CSR), of
mmread (to COO) and of mmread().tocsr(), and the ratios of the other two to ours; our MB/s per
thread; and the CPU seconds of the three, which are more reliable if other programs run. Results
are compared first.
"""
import ctypes as C
import os
import sys
import time

import numpy as np
import scipy
import scipy.io

try:
    import scipy.io._fast_matrix_market as fmm
except ImportError:  # SciPy before 1.12 has one thread
    fmm = None

HOST, F64, CALLS = 1, 2, 5


class Options(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("backend", C.c_int), ("threads", C.c_int),
                ("device", C.c_int), ("device_bytes", C.c_size_t), ("host_bytes", C.c_size_t),
                ("alloc", C.c_void_p), ("free", C.c_void_p), ("user", C.c_void_p),
                ("message", C.c_char_p), ("message_size", C.c_size_t), ("rates_path", C.c_char_p)]


class Csr(C.Structure):
    _fields_ = [("rows", C.c_int64), ("cols", C.c_int64), ("nnz", C.c_int64), ("offset_type", C.c_int),
                ("row_ptr", C.c_void_p), ("col", C.c_void_p), ("val", C.c_void_p), ("type", C.c_int),
                ("col_type", C.c_int), ("space", C.c_int)]


def array(ptr, count, ctype):
    return np.ctypeslib.as_array(C.cast(ptr, C.POINTER(ctype)), (count,)) if count else np.empty(0, ctype)


class Engine:
    def __init__(self, library, threads):
        self.library, self.handle = library, C.c_void_p()
        options = Options(struct_size=C.sizeof(Options), backend=HOST, threads=threads, rates_path=b"")
        if library.hybrid_engine_create(C.byref(options), C.byref(self.handle)) != 0:
            sys.exit("no engine")

    def read(self, path, use=None):
        """Reads the file, and calls use(matrix) before the matrix is freed."""
        matrix = Csr()
        status = self.library.hybrid_read_mtx(self.handle, path.encode(), F64, C.byref(matrix))
        if status != 0:
            sys.exit(self.library.hybrid_engine_message(self.handle).decode())
        if use:
            use(matrix)
        self.library.hybrid_csr_free(self.handle, C.byref(matrix))

    def close(self):
        self.library.hybrid_engine_destroy(self.handle)


def check_equal(matrix, path):
    theirs = scipy.io.mmread(path).tocsr()
    theirs.sort_indices()
    same = (matrix.rows, matrix.cols) == theirs.shape and matrix.nnz == theirs.nnz \
        and np.array_equal(array(matrix.row_ptr, matrix.rows + 1, C.c_int64), theirs.indptr) \
        and np.array_equal(array(matrix.col, matrix.nnz, C.c_int32), theirs.indices) \
        and np.array_equal(array(matrix.val, matrix.nnz, C.c_double), theirs.data)
    if not same:
        sys.exit(f"{path}: SciPy reads something else")


def clocks(call):
    """Returns the wall and CPU seconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def main():
    library = C.CDLL(os.path.abspath(sys.argv[1]))
    library.hybrid_engine_message.restype = C.c_char_p
    library.hybrid_engine_message.argtypes = [C.c_void_p]
    print("SciPy", scipy.__version__)
    print("file threads ours mmread times mmread.tocsr times MB/s/thread cpu_ours cpu_mmread cpu_tocsr")
    for path in sys.argv[3:]:
        for threads in map(int, sys.argv[2].split(",")):
            if fmm:
                fmm.PARALLELISM = threads
            engine = Engine(library, threads)
            engine.read(path, lambda matrix: check_equal(matrix, path))
            calls = (lambda: engine.read(path), lambda: scipy.io.mmread(path),
                     lambda: scipy.io.mmread(path).tocsr())
            times = np.median([[clocks(call) for call in calls] for _ in range(CALLS)], axis=0)
            (ours, coo, csr), cpu = times[:, 0], times[:, 1]
            speed = os.path.getsize(path) / 1e6 / ours / threads
            print(f"{os.path.basename(path)} {threads} {ours:.3f} {coo:.3f} {coo / ours:.2f} {csr:.3f} "
                  f"{csr / ours:.2f} {speed:.0f} {cpu[0]:.3f} {cpu[1]:.3f} {cpu[2]:.3f}", flush=True)
            engine.close()


main()
