#!/usr/bin/env python3
"""Compares products with A, B or X in a file with reading that file.

    python3 bench/file.py PROGRAM [--mib 2048] [--cap 256MiB] [--runs 5] [--where FOLDER]

PROGRAM is hybrid_spmm. The file has MIB MiB of random numbers. It is read with pread() in pieces
of the size of a part of A, and as an operand of a product under a cap on host memory. Both are
measured cold, with the file's pages dropped before each run (posix_fadvise), and warm. The output
is a line of JSON for each operand, with medians of bytes per second of both (total_s)."""
import argparse
import array
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

ENTRIES = 64     # entries of a row, in columns i % ENTRIES + [0, ENTRIES)
COLS = 2 * ENTRIES - 1
FEW_ROWS = 64    # rows of the matrix that is multiplied by a B or X in a file
X_COLS = 64      # columns of X
BLOCK = 1 << 20  # bytes per write


def write_numbers(f, count):
    """Writes numbers in [1, 2). Blocks differ in their first number only."""
    block = array.array("d", (random.uniform(1, 2) for _ in range(BLOCK // 8)))
    while count > 0:
        block[0] += 1
        f.write(block[:count].tobytes())
        count -= len(block)


def describe(name, **members):
    with open(name, "w", encoding="utf-8") as f:
        json.dump(members, f)


def make_sparse(rows):
    """Writes a.bin and a.json, and few.mtx, which is multiplied by it."""
    nnz = rows * ENTRIES
    pattern = b"".join(array.array("i", range(i, i + ENTRIES)).tobytes()
                       for i in range(ENTRIES))
    with open("a.bin", "wb") as f:
        for begin in range(0, rows + 1, 1 << 16):
            end = min(begin + (1 << 16), rows + 1)
            f.write(array.array("q", range(begin * ENTRIES, end * ENTRIES, ENTRIES)).tobytes())
        for _ in range(rows // ENTRIES):
            f.write(pattern)
        write_numbers(f, nnz)
        os.fsync(f.fileno())
    offsets = 8 * (rows + 1)
    describe("a.json", format="hybrid-csr", version=1, rows=rows, cols=COLS, nnz=nnz,
             type="f64", row_ptr={"file": "a.bin", "type": "i64"},
             col={"file": "a.bin", "offset": offsets, "type": "i32"},
             values={"file": "a.bin", "offset": offsets + 4 * nnz})
    with open("few.mtx", "w", encoding="utf-8") as f:
        f.write(f"%%MatrixMarket matrix coordinate real general\n{FEW_ROWS} {rows} {rows}\n")
        f.writelines(f"{j * FEW_ROWS // rows + 1} {j + 1} 1\n" for j in range(rows))


def make_dense(rows):
    """Writes x.bin, and col.json and row.json, which describe it as an X in columns and in rows.
    Writes wide.mtx, which is multiplied by it."""
    with open("x.bin", "wb") as f:
        write_numbers(f, rows * X_COLS)
        os.fsync(f.fileno())
    for order in "col", "row":
        describe(order + ".json", format="hybrid-dense", version=1, rows=rows, cols=X_COLS,
                 type="f64", order=order, values={"file": "x.bin"})
    with open("wide.mtx", "w", encoding="utf-8") as f:
        f.write(f"%%MatrixMarket matrix coordinate real general\n{FEW_ROWS} {rows} {rows}\n")
        f.writelines(f"{j * FEW_ROWS // rows + 1} {j + 1} 1\n" for j in range(rows))


def drop(name):
    fd = os.open(name, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def read(name, piece):
    """Returns the seconds of reading the file in pieces."""
    room = [bytearray(piece)]
    fd = os.open(name, os.O_RDONLY)
    begin = time.perf_counter()
    at = 0
    while got := os.preadv(fd, room, at):
        at += got
    seconds = time.perf_counter() - begin
    os.close(fd)
    return seconds


def multiply(options, words):
    command = [options.program, "multiply", *words, "-q", "--report", "-", "--backend", "host",
               "--rates=", "--host-memory", options.cap]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def measure(options, operand, name, words):
    size = os.path.getsize(name)
    cap = int(options.cap.removesuffix("MiB")) << 20
    line = {"bench": "file", "operand": operand, "file_bytes": size, "cap_bytes": cap,
            "panel_bytes": cap // 8, "runs": options.runs}
    for state in "cold", "warm":
        disk, product = [], []
        for _ in range(options.runs):
            if state == "cold":
                drop(name)
            disk.append(read(name, cap // 8))
            if state == "cold":
                drop(name)
            report = multiply(options, words)
            product.append(report["total_s"])
        line[f"{state}_read_Bps"] = round(size / statistics.median(disk))
        line[f"{state}_product_Bps"] = round(size / statistics.median(product))
        line[f"{state}_ratio"] = round(statistics.median(disk) / statistics.median(product), 2)
    line.update(variant=report["variant"], threads=report["threads"], device=report["device"],
                peak_host_bytes=report["peak_host_bytes"], version=report["version"],
                time=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--mib", type=int, default=2048)
    parser.add_argument("--cap", default="256MiB")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--where", default=".", help="folder on the disk to be measured")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    if not options.cap.endswith("MiB"):
        sys.exit("file.py: give --cap in MiB")
    with tempfile.TemporaryDirectory(dir=options.where) as folder:
        os.chdir(folder)
        rows = (options.mib << 20) // (12 * ENTRIES + 8) // ENTRIES * ENTRIES
        make_sparse(rows)
        measure(options, "A of A x", "a.bin", ["a.json", "--dense-cols", "1"])
        measure(options, "B of A B", "a.bin", ["few.mtx", "a.json"])
        os.remove("a.bin")
        make_dense((options.mib << 20) // 8 // X_COLS)
        measure(options, "X of A X", "x.bin", ["wide.mtx", "col.json"])
        measure(options, "X of A X, in rows", "x.bin", ["wide.mtx", "row.json"])
        os.chdir("..")


if __name__ == "__main__":
    main()
