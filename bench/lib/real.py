#!/usr/bin/env python3
"""bench/lib/real.py - times ours and its peers on real matrices, in one process.

    bench/lib/real.py LIBRARY FILE|FOLDER... [--json FILE.jsonl]

For each .mtx or .mtx.xz file it computes Y = A*X with 1, 8 and 64 columns, and C = A*A (A*A^T if A
is not square), in f32 and f64, with one-shot calls from host arrays to host arrays. Ours is
libhybrid_spmm through ctypes. Peers are those of peers.py, and oneMKL through sparse_dot_mkl. A
peer that is not installed is named and left out. The first result of each is compared with SciPy's.
Then all take turns in rounds, first with results freed after each call, then with results kept.
bench/real.sh sets the environment that this needs. bench/README.md describes the lines.
"""
import argparse
import ctypes
import datetime
import gc
import itertools
import json
import os
import re
import sys
import time

import numpy as np

import library
from real_check import LARGE, ascend, csr_arrays, nbytes, same_dense, same_product
from real_peers import PEERS, Ours, Problem, SciPy, installed
from real_table import show_table, who_of

COLUMNS = {"spmm1": 1, "spmm8": 8, "spmm64": 64, "spgemm": None}
TYPES = {"f32": np.float32, "f64": np.float64}
NEIGHBOUR_S = 0.002  # PyTorch computes for this long before a call, with --neighbour
SETTLE_S = 0.003     # a peer's threads stop spinning in this time, as real.sh sets it
TURN_S = 0.004       # a turn with short calls lasts this long
TURN_CALLS = 20      # maximum number of calls of a turn
PEER_ROOM = 3        # memory that a peer may take, in sizes of the result
REST_S, REST_MOST_S = 0.002, 0.5  # between checks whether threads rest, and the longest wait
MUCH = 1e9           # bytes; above, malloc's freed memory goes back to the system


# ---- programs ------------------------------------------------------------------------------

def present(args):
    """Returns ours, SciPy, with a GPU ours on the host and on the device alone, and the peers."""
    lib = library.Library(args.library)
    found = [Ours("auto", lib, args), SciPy()]
    if found[0].backend == "cuda":
        found += [Ours("host", lib, args), Ours("cuda", lib, args)]
    else:
        print(f"no GPU: {found[0].e.device}", file=sys.stderr)
    return found + installed(args.peers)


# ---- times ---------------------------------------------------------------------------------

class Contender:
    """A program and a product, with its calls and times."""

    def __init__(self, who, p, room):
        self.who, self.line, self.spent, self.first = who, {}, 0, None
        self.error = self.call = self.result = self.entries = None
        self.times = {"freed": [], "kept": []}
        if who.name and who.backend == "host" and p.cols is None and p.products() > LARGE:
            self.error = f"left out: more than {LARGE:.0e} products"
        elif who.name and who.backend == "host" and room > available_bytes():
            self.error = f"left out: {room / 1e9:.1f} GB of memory are not free"
        else:
            self.begin(p)

    def begin(self, p):
        try:
            self.call = self.who.bind(p)
            self.result, self.line = self.who.first(self.clocked)
            if p.cols is None:
                self.entries = int(csr_arrays(self.result)[0][-1])
                self.line["sorted"] = ascend(*csr_arrays(self.result)[:2])
            self.bytes = nbytes(self.result)
        except Exception as error:  # a failure is recorded
            self.error = f"{type(error).__name__}: {error}".splitlines()[0][:400]

    def compare(self, ours):
        """Checks that a sparse result has as many entries as ours, whose values are checked."""
        if not self.error and self.entries != ours.entries:
            self.error = f"wrong: {self.entries} entries, not {ours.entries}"

    def clocked(self):
        """Times the first call."""
        start = time.perf_counter()
        result = self.call()
        self.first = self.spent = time.perf_counter() - start
        return result

    def check(self, p, reference, scipy_peer):
        same = same_product if p.cols is None else same_dense
        try:
            self.line["checked_rows"] = same(p, self.result, reference, scipy_peer)
            self.line["verified"] = True
        except ArithmeticError as error:
            self.error, self.line["verified"] = str(error), False

    def turn(self, condition, kept, neighbour):
        """Times one call, or several short calls after one that is not timed, because caches and
        threads are in the state in which the previous program left them. With a neighbour,
        PyTorch computes before each call, and its threads still spin when the call begins."""
        calls = 1
        if self.spent < TURN_S:
            kept.append(self.call())
            calls = max(1, min(TURN_CALLS, int(TURN_S / max(self.spent, 1e-6))))
        times = []
        for _ in range(calls):
            if condition == "freed":
                kept.clear()
            if neighbour:
                neighbour()
            start = time.perf_counter()
            result = self.call()
            times.append(time.perf_counter() - start)
            kept.append(result)
            del result
        if condition == "freed":
            kept.clear()
        self.times[condition] += times
        self.spent = min(times)
        time.sleep(SETTLE_S)


def torch_neighbour():
    """Returns a function that makes all threads of PyTorch compute for a while. Its OpenMP runtime
    lets them spin afterwards, for milliseconds by default."""
    import torch
    x = torch.ones(1 << 22)

    def compute():
        end = time.perf_counter() + NEIGHBOUR_S
        while time.perf_counter() < end:
            x.mul_(1.0)
    return compute


def rounds(contenders, condition, count, args):
    """Times all in turns; the first one changes each turn. A program whose call took longer than
    --longest has one turn."""
    kept, turns = [], 0
    if condition == "kept":
        room = min(args.keep_bytes, available_bytes() / 4)
        each = sum(c.bytes * (TURN_CALLS if c.spent < TURN_S else 1) for c in contenders)
        count = min(count, int(room / max(each, 1)))
        if count <= 0:
            return
    for turns in range(count):
        for c in contenders[turns % len(contenders):] + contenders[:turns % len(contenders)]:
            if turns == 0 or c.spent < args.longest:
                held = []
                c.turn(condition, held, args.neighbour)
                if condition == "kept":
                    kept.append(held)
    kept.clear()


def spread(name, times):
    times = sorted(times)
    if not times:
        return {f"{name}_s": None, f"{name}_calls": 0}
    return {f"{name}_s": times[(len(times) - 1) // 2], f"{name}_min_s": times[0],
            f"{name}_max_s": times[-1], f"{name}_calls": len(times)}


def rest():
    """Wait until the threads of this process no longer compute or spin."""
    end = time.perf_counter() + REST_MOST_S
    while time.perf_counter() < end:
        cpu, wall = time.process_time(), time.perf_counter()
        time.sleep(REST_S)
        if time.process_time() - cpu < 0.1 * (time.perf_counter() - wall):
            return


def fresh_pages():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def available_bytes():
    with open("/proc/meminfo", encoding="utf-8") as f:
        return 1024 * int(re.search(r"MemAvailable:\s*(\d+)", f.read())[1])


def first_calls(p, everybody, scipy_peer):
    """Times first calls, and compares our result with that of SciPy, which is second. Results are
    freed as early as possible."""
    contenders, room, reference = [], 0, None
    for who in everybody:
        if who.name and who is not scipy_peer:
            reference = None
        c = Contender(who, p, room)
        contenders.append(c)
        if not contenders[0].error:
            c.compare(contenders[0])
        if not c.error:
            room = max(room, PEER_ROOM * c.bytes)
        if who is scipy_peer:
            reference = c.result
            finish_first(contenders[0], p, reference, scipy_peer)
            c.result = None
        elif c is not contenders[0]:
            finish_first(c, p, reference, scipy_peer)
        if room > MUCH:
            fresh_pages()
    return contenders


def finish_first(c, p, reference, scipy_peer):
    if c.who.name is None and not c.error:
        c.check(p, reference, scipy_peer)
    c.result = None


def measure(p, everybody, args):
    fresh_pages()
    contenders = first_calls(p, everybody, everybody[1])
    running = [c for c in contenders if not c.error]
    fresh_pages()
    rounds(running, "freed", args.rounds, args)
    for c in running:
        c.line.update(c.who.later())
    fresh_pages()
    rounds(running, "kept", args.keep, args)
    for c in contenders:
        c.who.forget()
    return contenders


def line_of(c, p, args):
    line = {"problem": p.name, "op": "spgemm" if p.cols is None else "spmm",
            "type": args.type, "cols": p.cols, "mode": "real", "peer": c.who.name,
            "engine": None if c.who.name else c.who.engine, "backend": c.who.backend,
            "version": c.who.version, "device": c.who.device, "threads": c.who.threads,
            "rows": p.shape[0], "columns": p.shape[1], "nnz": p.nnz,
            "neighbour": bool(args.neighbour), "products": p.products(), "date": args.date, "commit": args.commit,
            "verified": None, "error": c.error}
    line.update(c.line)
    line["first_s"] = None if c.error else c.first
    for condition, times in c.times.items():
        line.update(spread(condition, times))
    return line


# ---- program -------------------------------------------------------------------------------

def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libhybrid_spmm.so")
    parser.add_argument("paths", nargs="+", metavar="FILE|FOLDER")
    parser.add_argument("--json", help="append lines of JSON")
    parser.add_argument("--types", default="f32,f64")
    parser.add_argument("--only", default=",".join(COLUMNS), metavar="PRODUCT",
                        help="of: " + ",".join(COLUMNS))
    parser.add_argument("--peers", default=",".join(PEERS), help="beside SciPy, of: " + ",".join(PEERS))
    parser.add_argument("--threads", type=int, default=0, help="of ours; 0: it chooses. Peers go by OMP_NUM_THREADS")
    parser.add_argument("--rounds", type=int, default=7, help="in which results are freed")
    parser.add_argument("--keep", type=int, default=3, help="in which they are kept")
    parser.add_argument("--longest", type=float, default=0.3,
                        help="seconds of a call beyond which it is timed once")
    parser.add_argument("--keep-bytes", type=float, default=4e9,
                        help="of kept results; there are fewer rounds where they take more")
    parser.add_argument("--quick", action="store_true", help="one round of each kind")
    parser.add_argument("--neighbour", action="store_true",
                        help="PyTorch computes on the CPU before each call of everybody")
    parser.add_argument("--commit")
    args = parser.parse_args()
    now = datetime.datetime.now(datetime.timezone.utc)
    args.date = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    args.neighbour = torch_neighbour() if args.neighbour else None
    if args.quick:
        args.rounds = args.keep = 1
    for names, known in (args.only, COLUMNS), (args.peers, PEERS), (args.types, TYPES):
        for name in names.split(","):
            if name not in known:
                parser.error(f"{name!r} is not one of {', '.join(known)}")
    return args


def files(paths):
    for path in paths:
        inner = [os.path.join(path, n) for n in os.listdir(path)] if os.path.isdir(path) else [path]
        yield from sorted((f for f in inner if f.endswith((".mtx", ".mtx.xz"))),
                          key=os.path.getsize)


def main():
    args = parse()
    paths = list(files(args.paths))
    if not paths:
        sys.exit(f"no .mtx or .mtx.xz file in {' '.join(args.paths)}")
    everybody, lines, wrong = present(args), [], 0
    out = open(args.json, "a", encoding="utf-8") if args.json else None
    for path in paths:
        p = Problem(path)
        for args.type, product in itertools.product(args.types.split(","), args.only.split(",")):
            p.take(TYPES[args.type], COLUMNS[product])
            done = [line_of(c, p, args) for c in measure(p, everybody, args)]
            lines += done
            wrong += sum(not line["peer"] and bool(line["error"]) for line in done)
            show(done)
            if out:
                out.writelines(json.dumps(line) + "\n" for line in done)
                out.flush()
    show_table(lines)
    sys.exit(wrong > 0)


def show(lines):
    line = lines[0]
    print(f"{line['problem']:18s} {line['op']} {line['cols'] or '':2} {line['type']}: " + ", ".join(
        f"{who_of(l)} {l['error'] or '%.4g' % (l['freed_s'] * 1e3)}" for l in lines), flush=True)


if __name__ == "__main__":
    main()
