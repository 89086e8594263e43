#!/usr/bin/env python3
"""bench/peers.py - SciPy, PyTorch and CuPy on matrices written by hybrid_spmm_bench --dump.

Times are end to end: NumPy arrays in, NumPy arrays out, transfers and allocations counted.
A peer that is not installed is named and left out; one that fails is recorded as failing.
"""
import argparse
import datetime
import gc
import json
import os
import sys
import time

import numpy as np


# ---- operands ----------------------------------------------------------------------------

class Problem:
    """One matrix as arrays (32-bit offsets, as the peers use), and its X."""

    def __init__(self, folder, dtype, cols):
        load = lambda name: np.load(os.path.join(folder, name + ".npy"))
        with open(os.path.join(folder, "problem.txt"), encoding="utf-8") as f:
            self.name = f.read().strip()
        self.shape = tuple(int(n) for n in load("shape"))
        self.row_ptr = load("row_ptr")
        self.nnz = int(self.row_ptr[-1])
        if self.nnz > np.iinfo(np.int32).max:
            raise OverflowError(f"{self.nnz} entries exceed 32-bit offsets")
        self.row_ptr = self.row_ptr.astype(np.int32)
        self.col = load("col")
        self.val = load("val").astype(dtype)
        self.second = self.transposed() if self.shape[0] != self.shape[1] else None
        self.X = np.random.default_rng(2).uniform(-1, 1, (self.shape[1], cols)).astype(dtype)

    def first(self):
        return self.val, self.col, self.row_ptr, self.shape

    def transposed(self):
        from scipy.sparse import csr_matrix
        A = csr_matrix((self.val, self.col, self.row_ptr), shape=self.shape).T.tocsr()
        A.sort_indices()
        return A.data, A.indices, A.indptr, A.shape

    def flops(self, op):
        if op == "spmm":
            return 2 * self.nnz * self.X.shape[1]
        row_ptr = self.second[2] if self.second else self.row_ptr
        lengths = np.diff(row_ptr).astype(np.int64)
        return 2 * int(np.dot(np.bincount(self.col, minlength=lengths.size), lengths))


# ---- peers: open() raises if not usable; each op returns the result's entries -----------------

class SciPy:
    name, backend = "scipy", "host"

    def __init__(self):
        import scipy
        from scipy.sparse import csr_matrix
        self.matrix, self.version, self.threads = csr_matrix, scipy.__version__, 1
        self.device = cpu_name()

    def csr(self, val, col, row_ptr, shape):
        return self.matrix((val, col, row_ptr), shape=shape)

    def spgemm(self, p):
        A = self.csr(*p.first())
        return (A @ (self.csr(*p.second) if p.second else A)).nnz

    def spmm(self, p):
        return (self.csr(*p.first()) @ p.X).size

    def clean(self):
        pass


class Torch:
    """PyTorch's CSR tensors; on the CPU the product is MKL's."""

    def __init__(self, place):
        import torch
        import warnings
        warnings.filterwarnings("ignore", message=".*[Ss]parse (CSR|invariant).*")
        if place == "cuda" and not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no GPU")
        self.torch, self.place = torch, place
        self.name = "torch-" + place
        self.backend = "cuda" if place == "cuda" else "host"
        self.version = torch.__version__
        self.threads = torch.get_num_threads()
        self.device = torch.cuda.get_device_name() if place == "cuda" else cpu_name()

    def up(self, array):
        return self.torch.from_numpy(array).to(self.place)

    def csr(self, val, col, row_ptr, shape):
        return self.torch.sparse_csr_tensor(self.up(row_ptr), self.up(col), self.up(val),
                                            size=shape, check_invariants=False)

    def spgemm(self, p):
        A = self.csr(*p.first())
        C = A @ (self.csr(*p.second) if p.second else A)
        parts = C.crow_indices(), C.col_indices(), C.values()
        return [part.cpu().numpy() for part in parts][2].size

    def spmm(self, p):
        return (self.csr(*p.first()) @ self.up(p.X)).cpu().numpy().size

    def clean(self):
        if self.place == "cuda":
            self.torch.cuda.empty_cache()


class CuPy:
    name, backend = "cupy", "cuda"

    def __init__(self):
        import cupy
        from cupyx.scipy.sparse import csr_matrix
        if cupy.cuda.runtime.getDeviceCount() == 0:
            raise RuntimeError("CuPy sees no GPU")
        self.cupy, self.matrix = cupy, csr_matrix
        self.version, self.threads = cupy.__version__, 1
        self.device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()

    def csr(self, val, col, row_ptr, shape):
        up = self.cupy.asarray
        return self.matrix((up(val), up(col), up(row_ptr)), shape=shape)

    def spgemm(self, p):
        A = self.csr(*p.first())
        C = A @ (self.csr(*p.second) if p.second else A)
        return [part.get() for part in (C.indptr, C.indices, C.data)][2].size

    def spmm(self, p):
        return (self.csr(*p.first()) @ self.cupy.asarray(p.X)).get().size

    def clean(self):
        self.cupy.get_default_memory_pool().free_all_blocks()


PEERS = {"scipy": SciPy, "torch-cpu": lambda: Torch("cpu"),
         "torch-cuda": lambda: Torch("cuda"), "cupy": CuPy}


# ---- times -----------------------------------------------------------------------------------

def measure(product, problem, reps, budget):
    """(seconds of the first call, of the others, entries of the result)."""
    times = []
    begin = time.perf_counter()
    while len(times) <= reps and (not times or time.perf_counter() - begin < budget):
        start = time.perf_counter()
        entries = product(problem)
        times.append(time.perf_counter() - start)
        gc.collect()
    return times[0], sorted(times[1:]), entries


def line_of(peer, problem, op, args):
    return {
        "problem": problem.name, "op": op, "variant": f"{peer.name} {peer.version}",
        "backend": peer.backend, "peer": peer.name, "device": peer.device,
        "type": args.type, "cols": args.cols if op == "spmm" else None,
        "order": "row" if op == "spmm" else None, "mode": "end", "alloc": "call",
        "pages": "warm", "threads": peer.threads, "rows": problem.shape[0],
        "nnz": problem.nnz, "date": args.date, "commit": args.commit, "driver": None,
        "seconds": None, "cold_s": None, "min_s": None, "max_s": None, "gflops": None,
        "reference_s": None, "speedup_over_reference": None, "ratio": None,
        "verified": None, "error": None,
    }


def time_one(peer, problem, op, args):
    line = line_of(peer, problem, op, args)
    flops = problem.flops(op)
    line["products"] = flops // 2
    try:
        cold, warm, entries = measure(getattr(peer, op), problem, args.reps, args.budget)
        warm = warm or [cold]
        middle = warm[(len(warm) - 1) // 2]
        line.update(seconds=middle, cold_s=cold, min_s=warm[0], max_s=warm[-1],
                    gflops=flops / middle * 1e-9, reps=len(warm), nnz_out=int(entries))
    except Exception as error:  # a peer's failure is a result
        line["error"] = f"{type(error).__name__}: {error}".splitlines()[0][:400]
    gc.collect()
    try:
        peer.clean()
    except Exception as error:
        line["error"] = line["error"] or f"{type(error).__name__}: {error}"
    return line


def show(line):
    head = f"{line['problem']:18s} {line['op']:6s} {line['variant']:28s}"
    if line["error"]:
        print(f"{head} failed: {line['error']}", flush=True)
    else:
        print(f"{head} {line['seconds'] * 1e3:10.2f} ms, first {line['cold_s'] * 1e3:10.2f} ms,"
              f" {line['gflops']:8.2f} GFLOP/s", flush=True)


# ---- program -----------------------------------------------------------------------------------

def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            names = [row.split(":", 1)[1].strip() for row in f if row.startswith("model name")]
        return names[0] if names else "unknown processor"
    except OSError:
        return "unknown processor"


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="DIR",
                        help="a folder written by --dump, or one that holds such folders")
    parser.add_argument("--ops", default="spgemm,spmm")
    parser.add_argument("--peers", default=",".join(PEERS), help="of: " + ",".join(PEERS))
    parser.add_argument("--cols", type=int, default=128)
    parser.add_argument("--type", choices=("f32", "f64"), default="f32")
    parser.add_argument("--reps", type=int, default=3, help="calls timed after the first")
    parser.add_argument("--budget", type=float, default=60,
                        help="seconds after which a product is not repeated again")
    parser.add_argument("--json", help="append lines of JSON")
    parser.add_argument("--commit")
    args = parser.parse_args()
    now = datetime.datetime.now(datetime.timezone.utc)
    args.date = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    args.ops, args.peers = args.ops.split(","), args.peers.split(",")
    for name, known in [(o, ("spgemm", "spmm")) for o in args.ops] + \
                       [(p, PEERS) for p in args.peers]:
        if name not in known:
            parser.error(f"{name!r} is not one of {', '.join(known)}")
    return args


def problem_folders(folders):
    for folder in folders:
        if os.path.exists(os.path.join(folder, "problem.txt")):
            yield folder
        else:
            inner = (os.path.join(folder, name) for name in sorted(os.listdir(folder)))
            yield from (f for f in inner if os.path.exists(os.path.join(f, "problem.txt")))


def open_peers(names):
    for name in names:
        try:
            yield PEERS[name]()
        except Exception as error:
            print(f"{name} left out: {error}", file=sys.stderr)


def main():
    args = parse()
    folders = list(problem_folders(args.folders))
    if not folders:
        sys.exit(f"no matrix in {' '.join(args.folders)}")
    peers = list(open_peers(args.peers))
    out = open(args.json, "a", encoding="utf-8") if args.json else None
    for folder in folders:
        problem = Problem(folder, np.float64 if args.type == "f64" else np.float32, args.cols)
        for op in args.ops:
            for peer in peers:
                line = time_one(peer, problem, op, args)
                show(line)
                if out:
                    print(json.dumps(line), file=out, flush=True)
    if out:
        out.close()


if __name__ == "__main__":
    main()
