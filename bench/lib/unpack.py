#!/usr/bin/env python3
"""bench/lib/unpack.py DATA FOLDER - puts the Matrix Market files of DATA into FOLDER.

NAME.mtx.xz is unpacked, and NAME.mtx becomes a link. A file that FOLDER already has stays. The
program xz is not needed, and all cores unpack.
"""
import lzma
import multiprocessing
import os
import shutil
import sys


def put(job):
    """Makes one file. It appears in FOLDER when it is complete."""
    source, target = job
    part = f"{target}.part"
    if source.endswith(".xz"):
        with lzma.open(source) as f, open(part, "wb") as g:
            shutil.copyfileobj(f, g, 1 << 20)
    else:
        os.symlink(os.path.abspath(source), part)
    os.replace(part, target)


def jobs(data, folder):
    for name in sorted(os.listdir(data)):
        target = os.path.join(folder, name.removesuffix(".xz"))
        if name.endswith((".mtx", ".mtx.xz")) and not os.path.exists(target):
            yield os.path.join(data, name), target


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    data, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    with multiprocessing.Pool() as pool:
        pool.map(put, jobs(data, folder), 1)


if __name__ == "__main__":
    main()
