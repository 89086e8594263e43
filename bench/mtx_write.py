#!/usr/bin/env python3
"""bench/mtx_write.py - the speed of hybrid_write_mtx.

    bench/mtx_write.py libhybrid_spmm.so THREADS FOLDER

Writes er:1000000,8 in f32 and f64, with random values of full precision and with whole ones (0 to
999), to /dev/null and to a file in FOLDER. Prints the size of the text, and MB per CPU second and
per wall second: medians of 5 calls. Writing to /dev/null measures only formatting and the check of
the matrix. CPU seconds are more reliable if other programs run.
"""
import ctypes as C
import os
import statistics
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from library import Engine, Library

CALLS, PROBLEM = 5, b"er:1000000,8"
TYPES = {"f32": (1, C.c_float), "f64": (2, C.c_double)}


def measure(call):
    """Returns the median CPU and wall seconds of a call."""
    took = []
    for _ in range(CALLS):
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        took.append((time.process_time() - cpu, time.perf_counter() - wall))
    return [statistics.median(t) for t in zip(*took)]


def main(path, threads, folder):
    library = Library(path)
    engine, so = Engine(library, "host", int(threads)), library.so
    so.hybrid_generate.argtypes = [C.c_void_p, C.c_char_p, C.c_int, C.c_uint64, C.c_void_p]
    so.hybrid_write_mtx.argtypes = [C.c_void_p, C.c_char_p, C.c_void_p]
    target = os.path.join(folder, f"mtx_write.{os.getpid()}.mtx")
    print("values         MB   MB/s to /dev/null     MB/s to a file")
    print("                    per core   by wall    per core   by wall")
    for name, (number, ctype) in TYPES.items():
        matrix = library.struct("csr")
        engine.succeed(so.hybrid_generate(engine.handle, PROBLEM, number, 1, C.byref(matrix)))
        values = np.ctypeslib.as_array(C.cast(matrix.val, C.POINTER(ctype)), (matrix.nnz,))
        for kind in "random", "whole":
            if kind == "whole":
                values[:] = np.arange(matrix.nnz) % 1000

            def write(to):
                engine.succeed(so.hybrid_write_mtx(engine.handle, to.encode(), C.byref(matrix)))
            to_file = measure(lambda: write(target))
            size = os.path.getsize(target) / 1e6
            os.remove(target)
            to_null = measure(lambda: write("/dev/null"))
            rates = [f"{size / s:9.0f}" for s in to_null + to_file]
            print(f"{name} {kind:7} {size:5.0f}  {rates[0]} {rates[1]}   {rates[2]} {rates[3]}",
                  flush=True)
        so.hybrid_csr_free(engine.handle, C.byref(matrix))
    engine.close()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
