#!/usr/bin/env python3
"""bench/real.py - ours and its peers on real matrices, in one process.

    bench/real.py LIBRARY FILE|FOLDER... [--json FILE.jsonl]

For each .mtx or .mtx.xz file: Y = A*X with 1, 8 and 64 columns and C = A*A (A*A^T if A is not
square), f32 and f64; one-shot calls from host arrays to host arrays. Ours is libhybrid_spmm by
ctypes; peers are those of peers.py and oneMKL by sparse_dot_mkl. A peer that is not installed
is named and left out. The first call of each is not timed: its result is compared with
SciPy's. Then all take turns, in rounds: results freed after each call, then results kept.
bench/real.sh sets the environment that this needs; bench/README.md tells what lines say.
"""
import argparse
import ctypes
import datetime
import gc
import glob
import importlib
import itertools
import json
import lzma
import os
import re
import sys
import time

import numpy as np
import scipy.io

import library
import peers
from real_table import show_table, who_of

COLUMNS = {"spmm1": 1, "spmm8": 8, "spmm64": 64, "spgemm": None}
TYPES = {"f32": np.float32, "f64": np.float64}
SETTLE_S = 0.003     # in which threads of a peer stop to spin, as real.sh asks them to
TURN_S = 0.004       # short calls of a turn follow each other for so long
TURN_CALLS = 20      # or are so many
LARGE = 2_000_000_000  # products of a SpGEMM beyond which peers on the CPU are left out
SAMPLED = 200_000_000  # products of those rows that are compared then
BLOCK = 1 << 24        # entries of C that are compared at a time
PEER_ROOM = 3          # memory that a peer may take, in results


# ---- operands ------------------------------------------------------------------------------

class Problem(peers.Problem):
    """A matrix of a file, and X for any number of columns."""

    def __init__(self, path):
        name = os.path.basename(path).split(".mtx")[0]
        with (lzma.open if path.endswith(".xz") else open)(path, "rb") as f:
            pattern = b"pattern" in f.readline()
            f.seek(0)
            A = scipy.io.mmread(f).tocsr()
        A.sum_duplicates()
        random = np.random.default_rng(1)
        values = random.random(A.nnz) + 0.5 if pattern else A.data.astype(np.float64)
        super().__init__(name, A.shape, A.indptr, A.indices.astype(np.int32), values, 1)
        self.values = values

    def take(self, dtype, cols):
        """Be the problem of this type, and of so many columns: None is a SpGEMM."""
        self.val, self.cols, self.dtype = self.values.astype(dtype), cols, np.dtype(dtype)
        self.second = self.transposed() if self.shape[0] != self.shape[1] else None
        shape = (self.shape[1], cols or 1)
        X = 2 * np.random.default_rng(2).random(shape, dtype=dtype) - 1
        self.X = X[:, 0].copy() if cols == 1 else X

    def products(self):
        return self.flops("spgemm") // 2 if self.cols is None else self.nnz * self.cols


# ---- who computes: bind() returns a function of nothing that computes the product ------------

class Ours:
    name, backend = None, "host"

    def __init__(self, engine, lib, args):
        self.engine, self.e = engine, library.Engine(lib, engine, args.threads)
        self.version, self.threads = lib.version(), self.e.threads
        self.backend = "cuda" if self.e.has_gpu else "host"
        self.device = self.e.device if self.e.has_gpu else peers.cpu_name()

    def bind(self, p):
        A = self.e.csr(*p.first())
        if p.cols is None:
            B = self.e.csr(*p.second) if p.second else A
            return lambda: self.e.spgemm(A, B, p.dtype)
        if p.cols == 1:
            return lambda: self.e.spmv(A, p.X, p.dtype)
        X = self.e.dense(p.X)
        return lambda: self.e.spmm(A, X, p.dtype)

    def first(self, call):
        """The first call, and what only we tell about it."""
        variants, result = self.e.variants(call)
        report = self.e.report()
        return result, {"variant": ", ".join(variants), "chunks": report.chunks,
                        "host_chunks": report.host_chunks}

    def later(self):
        """Of the last call that was timed."""
        return {"plan_s": getattr(self.e.report(), "plan_s", None)}

    def forget(self):
        self.e.trim()


class Peer:
    """What operands on the CPU are to a peer, it holds before the clock starts."""

    def bind(self, p):
        A = self.csr(*p.first())
        if p.cols is None:
            return self.product(A, self.csr(*p.second) if p.second else A)
        return self.product(A, self.dense(p.X))

    def product(self, A, B):
        return lambda: A @ B

    def dense(self, X):
        return X

    def first(self, call):
        return call(), {"variant": f"{self.name} {self.version}"}

    def later(self):
        return {}

    def forget(self):
        pass


class SciPy(Peer, peers.SciPy):
    pass


class TorchCPU(Peer, peers.TorchCPU):
    def dense(self, X):
        return self.torch.from_numpy(X)


class CuPy(Peer, peers.CuPy):
    """Operands go up and the result comes down while the clock runs."""

    def bind(self, p):
        if p.cols is None:
            return lambda: self.spgemm(p)
        return lambda: self.spmm(p)[0]

    def forget(self):
        self.cupy.get_default_memory_pool().free_all_blocks()


class MKL(Peer, peers.SciPy):
    """oneMKL's inspector-executor, of operands that SciPy holds."""
    name, modules = "mkl", ["sparse_dot_mkl"]

    def __init__(self):
        super().__init__()
        import sparse_dot_mkl
        self.dot, self.threads = sparse_dot_mkl.dot_product_mkl, sparse_dot_mkl.mkl_get_max_threads()
        said = sparse_dot_mkl.get_version_string()
        self.version = re.search(r"Version ([\d.]+)", said)[1]

    def product(self, A, B):
        return lambda: self.dot(A, B)


PEERS = {peer.name: peer for peer in (TorchCPU, MKL, CuPy)}


def find_mkl():
    """sparse_dot_mkl looks for no libmkl_rt.so with a version behind its name."""
    found = sorted(glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*")))
    if found:
        os.environ.setdefault("MKL_RT", found[-1])


def present(args):
    """Ours, SciPy, ours by host and by device alone if there is a GPU, and the other peers."""
    lib = library.Library(args.library)
    found = [Ours("auto", lib, args), SciPy()]
    if found[0].backend == "cuda":
        found += [Ours("host", lib, args), Ours("cuda", lib, args)]
    else:
        print(f"no GPU: {found[0].e.device}", file=sys.stderr)
    find_mkl()
    for name in args.peers.split(","):
        try:
            for module in PEERS[name].modules:
                importlib.import_module(module)
            found.append(PEERS[name]())
        except Exception as error:
            print(f"{name} left out: {error}", file=sys.stderr)
    return found


# ---- results -------------------------------------------------------------------------------

def csr_arrays(C):
    """row_ptr, col and val of any peer's sparse result."""
    if isinstance(C, library.Product):
        return C.arrays()
    if isinstance(C, (list, tuple)):
        return C
    if hasattr(C, "crow_indices"):
        return [part.numpy() for part in (C.crow_indices(), C.col_indices(), C.values())]
    return C.indptr, C.indices, C.data


def ascend(row_ptr, col):
    """Whether columns ascend within each row."""
    falls = np.flatnonzero(np.diff(col) <= 0) + 1
    return bool(np.isin(falls, row_ptr).all()) if falls.size else True


def nbytes(result):
    parts = [result] if hasattr(result, "nbytes") else csr_arrays(result)
    return sum(part.nbytes for part in parts)


def bounds(p, A):
    """By row: what rounding may change, of sums of |a| times the largest of each row of B."""
    B = A if p.cols is None and p.second is None else A.T.tocsr() if p.cols is None else p.X
    most = abs(B).max(axis=1) if p.cols != 1 else abs(B)
    most = most.toarray().ravel() if hasattr(most, "toarray") else most
    terms = np.diff(p.row_ptr).max(initial=0) + 8
    return 2 * terms * np.finfo(p.dtype).eps * (abs(A).astype(np.float64) @ most)


def rows_to_check(p):
    """All, or of a large product some that lie evenly."""
    lengths = np.diff(p.second[2] if p.second else p.row_ptr).astype(np.float64)
    per_row = np.add.reduceat(np.append(lengths[p.col], 0), p.row_ptr[:-1])
    per_row[np.diff(p.row_ptr) == 0] = 0
    step = 1 if p.products() <= LARGE else int(per_row.sum() // SAMPLED) + 1
    return np.arange(0, p.shape[0], step)


def part_of(arrays, begin, end):
    """Rows [begin, end) of row_ptr, col and val."""
    row_ptr, col, val = arrays
    first, last = row_ptr[begin], row_ptr[end]
    return row_ptr[begin:end + 1] - first, col[first:last], val[first:last]


def same_product(p, C, reference, scipy_peer):
    """Raises unless C is A*B as SciPy has it, and sorted; tells how many rows were compared.
    Blocks of rows follow each other, since copies of all would take too much memory."""
    ours, A = csr_arrays(C), scipy_peer.csr(*p.first())
    B = scipy_peer.csr(*p.second) if p.second else A
    bound, rows = bounds(p, A), rows_to_check(p)
    if not ascend(*ours[:2]):
        raise ArithmeticError("columns of C do not ascend")
    if reference is None or rows.size < p.shape[0]:
        for row in rows:
            same_rows(part_of(ours, row, row + 1), A[[row]] @ B, bound[[row]])
        return int(rows.size)
    for begin, end in blocks(reference.indptr):
        theirs = scipy_peer.csr(*reversed(part_of(
            (reference.indptr, reference.indices, reference.data), begin, end)),
            (end - begin, B.shape[1]))
        same_rows(part_of(ours, begin, end), theirs, bound[begin:end])
    return p.shape[0]


def blocks(row_ptr):
    """Of rows: with BLOCK entries, or a row alone."""
    begin, rows = 0, len(row_ptr) - 1
    while begin < rows:
        end = int(np.searchsorted(row_ptr, row_ptr[begin] + BLOCK, side="right")) - 1
        end = min(max(end, begin + 1), rows)
        yield begin, end
        begin = end


def same_rows(ours, theirs, bound):
    """SciPy stores no sum that is 0."""
    theirs.sort_indices()
    row_ptr, col, val = ours
    reference = theirs.data
    if not (np.array_equal(row_ptr, theirs.indptr) and np.array_equal(col, theirs.indices)):
        off = type(theirs)((val, col, row_ptr), shape=theirs.shape) - theirs
        row_ptr, val, reference = off.indptr, off.data, 0
    compare(val, reference, np.repeat(bound, np.diff(row_ptr)))


def compare(ours, theirs, allowed):
    off = np.abs(ours - theirs) > allowed
    if off.any() or not np.isfinite(ours).all():
        raise ArithmeticError(f"{int(off.sum())} values differ from SciPy's by more than "
                              f"rounding explains")


def same_dense(p, Y, reference, scipy_peer):
    A = scipy_peer.csr(*p.first())
    allowed = bounds(p, A)
    compare(Y, A @ p.X if reference is None else reference,
            allowed if p.cols == 1 else allowed[:, None])
    return p.shape[0]


# ---- times ---------------------------------------------------------------------------------

class Contender:
    """Somebody and a product: calls, and what is known of it."""

    def __init__(self, who, p, room):
        self.who, self.line, self.spent = who, {}, 0
        self.error = self.call = self.result = None
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
            start = time.perf_counter()
            self.result, self.line = self.who.first(self.call)
            self.spent = time.perf_counter() - start
            if p.cols is None:
                self.line["sorted"] = ascend(*csr_arrays(self.result)[:2])
            self.bytes = nbytes(self.result)
        except Exception as error:  # a failure is a result
            self.error = f"{type(error).__name__}: {error}".splitlines()[0][:400]

    def check(self, p, reference, scipy_peer):
        same = same_product if p.cols is None else same_dense
        try:
            self.line["checked_rows"] = same(p, self.result, reference, scipy_peer)
            self.line["verified"] = True
        except ArithmeticError as error:
            self.error, self.line["verified"] = str(error), False

    def turn(self, condition, kept):
        """One call, or several short ones that follow each other, after one that is not
        timed: that one finds caches and threads as somebody else left them."""
        calls = 1
        if self.spent < TURN_S:
            kept.append(self.call())
            calls = max(1, min(TURN_CALLS, int(TURN_S / max(self.spent, 1e-6))))
        times = []
        for _ in range(calls):
            if condition == "freed":
                kept.clear()
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


def rounds(contenders, condition, count, args):
    """All in turns, who begins changes. Who took longer than --longest has one turn."""
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
                c.turn(condition, held)
                if condition == "kept":
                    kept.append(held)
    kept.clear()


def spread(name, times):
    times = sorted(times)
    if not times:
        return {f"{name}_s": None, f"{name}_calls": 0}
    return {f"{name}_s": times[(len(times) - 1) // 2], f"{name}_min_s": times[0],
            f"{name}_max_s": times[-1], f"{name}_calls": len(times)}


def fresh_pages():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def available_bytes():
    with open("/proc/meminfo", encoding="utf-8") as f:
        return 1024 * int(re.search(r"MemAvailable:\s*(\d+)", f.read())[1])


def first_calls(p, everybody, scipy_peer):
    """Ours are compared with SciPy's, who is second; of the others one result is there at a
    time."""
    contenders, room = [], 0
    for who in everybody:
        c = Contender(who, p, room)
        contenders.append(c)
        if not c.error:
            room = max(room, PEER_ROOM * c.bytes)
        if len(contenders) > 2:
            finish_first(c, p, contenders[1].result, scipy_peer)
        elif len(contenders) == 2:
            finish_first(contenders[0], p, c.result, scipy_peer)
    contenders[1].result = None
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
            "products": p.products(), "date": args.date, "commit": args.commit,
            "verified": None, "error": c.error}
    line.update(c.line)
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
    parser.add_argument("--commit")
    args = parser.parse_args()
    now = datetime.datetime.now(datetime.timezone.utc)
    args.date = now.strftime("%Y-%m-%dT%H:%M:%SZ")
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
