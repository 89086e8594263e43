#!/usr/bin/env python3
"""bench/machine/pages.py GIB [THREADS...] - how fast the machine provides fresh pages.

Maps GIB of memory with huge pages twice for each number of threads (default: one per core) and lets
the threads write every page. The first mapping may get memory that the system has never used, which
the host of a virtual machine must provide. The second one gets the memory that the first one gave
back. Prints the seconds and GB/s of each, and of writing the same pages a second time.
"""
import ctypes
import mmap
import os
import sys
import threading
import time

PIECE = 32 << 20  # bytes that a thread writes at a time


def write(address, size, count):
    """Sets all bytes with `count` threads, and returns the seconds."""
    begins = iter(range(0, size, PIECE))
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                begin = next(begins, None)
            if begin is None:
                return
            ctypes.memset(address + begin, 1, min(PIECE, size - begin))

    threads = [threading.Thread(target=work) for _ in range(count)]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - start


def once(size, count):
    """Returns the seconds of writing fresh pages, and of writing them again."""
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.madvise(mmap.MADV_HUGEPAGE)
    first = ctypes.c_char.from_buffer(pages)
    seconds = [write(ctypes.addressof(first), size, count) for _ in range(2)]
    del first
    pages.close()
    return seconds


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    size = int(float(sys.argv[1]) * 2 ** 30)
    for count in [int(word) for word in sys.argv[2:]] or [len(os.sched_getaffinity(0))]:
        for mapping in ("first", "second"):
            fresh, again = once(size, count)
            print(f"{count} threads, {mapping} mapping: fresh pages {fresh:.3f} s, "
                  f"{size / fresh / 1e9:.1f} GB/s; again {again:.3f} s, "
                  f"{size / again / 1e9:.1f} GB/s", flush=True)


if __name__ == "__main__":
    main()
