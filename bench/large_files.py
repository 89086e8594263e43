#!/usr/bin/env python3
"""Times products from files to files beside writing as many bytes.

    python3 bench/large_files.py PROGRAM spgemm|spmm [--side N] [--where FOLDER] [OPTION...]

PROGRAM is hybrid_spmm, and every OPTION is passed on to `multiply`. The matrix is stencil27:N in
f64. spgemm: C = A*A from a Binsparse file to a Binsparse file; N = 240 makes a C of 20 GB. spmm:
Y = A*X with 128 columns, from and to .npy files; N = 228 makes an X and a Y of 12 GB each.

The budgets are 4 GiB of device memory and 8 GiB of host memory. The output is a line of JSON. Wall
times are those of the whole command, with pages of the operands in the cache (warm) or not (cold).
write_s is the time of writing the bytes of the result and fsync(), by one thread through the cache
or past it (O_DIRECT), whichever is faster; read_s that of reading A and X cold. max_rss_bytes
counts what CUDA maps, too. spmm compares ten rows of Y with a product in NumPy if h5py is there."""
import argparse
import json
import mmap
import multiprocessing
import os
import subprocess
import sys
import time

COLS = 128
BLOCK = 1 << 26  # bytes that are written or read at a time


def drop(name):
    fd = os.open(name, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def write_seconds(size, flags):
    """Returns the seconds of writing `size` bytes of random numbers to a new file."""
    block = mmap.mmap(-1, BLOCK)
    block.write(os.urandom(BLOCK))
    fd = os.open("rate.bin", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | flags)
    begin = time.perf_counter()
    for _ in range(0, size, BLOCK):
        os.write(fd, block)
    os.fsync(fd)
    seconds = time.perf_counter() - begin
    os.close(fd)
    os.remove("rate.bin")
    return seconds * size / (-(-size // BLOCK) * BLOCK)


def read_seconds(name):
    room = [bytearray(BLOCK)]
    drop(name)
    fd = os.open(name, os.O_RDONLY)
    begin = time.perf_counter()
    at = 0
    while got := os.preadv(fd, room, at):
        at += got
    seconds = time.perf_counter() - begin
    os.close(fd)
    return seconds


def multiply(options, words, result):
    """Returns the wall seconds of the command, its peak of resident memory, and its report."""
    begin = time.perf_counter()
    done = subprocess.Popen([options.program, "multiply", *words, "-o", result, "-q", "--report",
                             "report.json", "--device-memory", "4GiB", "--host-memory", "8GiB",
                             *options.rest])
    _, status, usage = os.wait4(done.pid, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        sys.exit("multiply failed")
    with open("report.json", encoding="utf-8") as f:
        return seconds, usage.ru_maxrss * 1024, json.load(f)


def measure(options, operands, words, result):
    """Prints the line. Runs the product cold, then warm, and leaves the last result."""
    line = {"bench": "large_files", "product": options.product, "side": options.side,
            "options": options.rest, "operand_bytes": sum(map(os.path.getsize, operands)),
            "read_s": round(sum(map(read_seconds, operands)), 2)}
    for state in options.states:
        if state == "cold":
            for name in operands:
                drop(name)
        if os.path.exists(result):
            os.remove(result)
        wall, rss, report = multiply(options, words, result)
        line[state + "_s"] = round(wall, 2)
        for key in ("total_s", "write_s", "multiply_s", "h2d_bytes", "d2h_bytes"):
            line[f"{state}_{key}"] = report[key]
        line["max_rss_bytes"] = rss
        print(f"{state}: {wall:.2f} s, in the report {report['total_s']:.2f}, write "
              f"{report['write_s']:.2f}, {report['bound']}", file=sys.stderr, flush=True)
    line["result_bytes"] = os.path.getsize(result)
    for key in ("variant", "chunks", "threads", "device", "reference_s", "predicted_s",
                "peak_host_bytes", "peak_pinned_bytes", "peak_device_bytes"):
        line[key] = report[key]
    return line


def finish(options, line, result):
    """Adds what depends on the disk. The result is removed, so that there is room."""
    size = os.path.getsize(result)
    os.remove(result)
    line["buffered_write_s"] = round(write_seconds(size, 0), 2)
    line["direct_write_s"] = round(write_seconds(size // 4, os.O_DIRECT) * 4, 2)
    line["write_s"] = min(line["buffered_write_s"], line["direct_write_s"])
    least = max(line["write_s"], line["reference_s"])
    for state in options.states:
        line[state + "_ratio"] = round(line[state + "_s"] / least, 2)
    line["time"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    print(json.dumps(line), flush=True)


def make_a(options, name):
    subprocess.run([options.program, "convert", f"gen:stencil27:{options.side}", name, "-q"],
                   check=True)


def fill(arguments):
    """Writes rows [begin, end) of X."""
    import numpy as np
    name, begin, end = arguments
    X = np.load(name, mmap_mode="r+")
    X[begin:end] = np.random.default_rng(begin).random((end - begin, COLS))


def make_x(options):
    import numpy as np
    rows = options.side ** 3
    np.lib.format.open_memmap("X.npy", "w+", np.float64, (rows, COLS))
    step = BLOCK // 8 // COLS
    with multiprocessing.Pool() as pool:
        pool.map(fill, [("X.npy", at, min(at + step, rows)) for at in range(0, rows, step)], 1)
    drop("X.npy")


def check_y(options):
    """Compares ten rows of Y in the middle."""
    try:
        import h5py
    except ImportError:
        return "no h5py"
    import numpy as np
    X, Y = np.load("X.npy", mmap_mode="r"), np.load("Y.npy", mmap_mode="r")
    row = options.side ** 3 // 2
    with h5py.File("A.h5") as A:
        ends = A["pointers_to_1"][row:row + 11]
        for k in range(10):
            where = slice(ends[k], ends[k + 1])
            y = A["values"][where] @ X[A["indices_1"][where]]
            if not np.allclose(y, Y[row + k], rtol=1e-12):
                sys.exit(f"row {row + k} of Y is wrong")
    return "right"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("product", choices=["spgemm", "spmm"])
    parser.add_argument("--side", type=int)
    parser.add_argument("--states", default="cold,warm", help="runs to measure")
    parser.add_argument("--where", default=".", help="folder on the disk to be measured")
    options, options.rest = parser.parse_known_args()
    options.states = options.states.split(",")
    options.program = os.path.abspath(options.program)
    options.side = options.side or (240 if options.product == "spgemm" else 228)
    os.chdir(options.where)
    if not os.path.exists("A.h5"):
        make_a(options, "A.h5")
    if options.product == "spgemm":
        line = measure(options, ["A.h5"], ["A.h5"], "C.h5")
        finish(options, line, "C.h5")
    else:
        if not os.path.exists("X.npy"):
            make_x(options)
        line = measure(options, ["A.h5", "X.npy"], ["A.h5", "X.npy"], "Y.npy")
        line["rows_of_y"] = check_y(options)
        finish(options, line, "Y.npy")


if __name__ == "__main__":
    main()
