#!/usr/bin/env python3
"""bench/lib/peers.py - SciPy, PyTorch and CuPy on matrices written by hybrid_spmm_bench --dump.

Times are those of whole calls with NumPy arrays, transfers and allocations included. Each product
of each peer has a process of its own, in which the peer computes a tiny product before the clock
starts. The first call is followed by calls whose results are freed, and by calls whose results are
all kept, in fresh pages. malloc's freed memory goes back to the system before the first call and
before the calls with kept results. With MALLOC_MMAP_MAX_=0 and a large MALLOC_TRIM_THRESHOLD_ in
the environment, results reuse the pages of freed ones; otherwise every result has fresh pages.
A peer that is not installed is named and left out. A peer that fails is recorded as failing.
"""
import argparse
import ctypes
import datetime
import gc
import importlib.metadata
import json
import multiprocessing
import os
import platform
import re
import sys
import time

import numpy as np


# ---- operands ----------------------------------------------------------------------------

class Problem:
    """A matrix as arrays, with the 32-bit offsets that the peers use, and its X."""

    def __init__(self, name, shape, row_ptr, col, val, cols):
        self.name, self.shape, self.nnz = name, shape, int(row_ptr[-1])
        if self.nnz > np.iinfo(np.int32).max:
            raise OverflowError(f"{self.nnz} entries exceed 32-bit offsets")
        self.row_ptr, self.col, self.val = row_ptr.astype(np.int32), col, val
        self.second = self.transposed() if shape[0] != shape[1] else None
        random = np.random.default_rng(2).random((shape[1], cols), dtype=val.dtype)
        self.X = 2 * random - 1

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


def load(folder, dtype, cols):
    array = lambda name: np.load(os.path.join(folder, name + ".npy"))
    with open(os.path.join(folder, "problem.txt"), encoding="utf-8") as f:
        name = f.read().strip()
    shape = tuple(int(n) for n in array("shape"))
    return Problem(name, shape, array("row_ptr"), array("col"),
                   array("val").astype(dtype), cols)


def tiny(dtype):
    """Returns a tiny problem. Computing it makes a peer load its libraries and compile its kernels."""
    return Problem("tiny", (2, 2), np.array([0, 1, 2]), np.array([0, 1], np.int32),
                   np.ones(2, dtype), 2)


# ---- peers: made in the timed process; each operation returns its result ----------------------

class SciPy:
    name, modules, backend = "scipy", ["scipy.sparse"], "host"

    def __init__(self):
        import scipy
        from scipy.sparse import csr_matrix
        self.matrix, self.version, self.threads = csr_matrix, scipy.__version__, 1
        self.device, self.versions = cpu_name(), [f"SciPy {scipy.__version__}"]

    def csr(self, val, col, row_ptr, shape):
        return self.matrix((val, col, row_ptr), shape=shape)

    def spgemm(self, p):
        A = self.csr(*p.first())
        C = A @ (self.csr(*p.second) if p.second else A)
        return C.indptr, C.indices, C.data

    def spmm(self, p):
        return (self.csr(*p.first()) @ p.X,)


class Torch:
    """PyTorch with CSR tensors. On the CPU it calls MKL."""

    modules = ["torch"]

    def __init__(self, place):
        import torch
        import warnings
        warnings.filterwarnings("ignore", message=".*[Ss]parse (CSR|invariant).*")
        self.torch, self.place = torch, place
        self.version = torch.__version__
        self.threads = torch.get_num_threads()
        self.versions = [f"PyTorch {self.version}"]
        if place == "cpu":
            self.device = cpu_name()
            mkl = re.search(r"Math Kernel Library Version ([\d.]+)", torch.__config__.show())
            self.versions.append(f"MKL {mkl[1] if mkl else 'none'}")
            return
        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no GPU")
        self.device = torch.cuda.get_device_name()
        self.versions += [f"CUDA {torch.version.cuda}", *gpu_versions()]

    def up(self, array):
        return self.torch.from_numpy(array).to(self.place)

    def csr(self, val, col, row_ptr, shape):
        return self.torch.sparse_csr_tensor(self.up(row_ptr), self.up(col), self.up(val),
                                            size=shape, check_invariants=False)

    def spgemm(self, p):
        A = self.csr(*p.first())
        C = A @ (self.csr(*p.second) if p.second else A)
        parts = C.crow_indices(), C.col_indices(), C.values()
        return [part.cpu().numpy() for part in parts]

    def spmm(self, p):
        return ((self.csr(*p.first()) @ self.up(p.X)).cpu().numpy(),)


class TorchCPU(Torch):
    name, backend = "torch-cpu", "host"

    def __init__(self):
        super().__init__("cpu")


class TorchCUDA(Torch):
    name, backend = "torch-cuda", "cuda"

    def __init__(self):
        super().__init__("cuda")


class CuPy:
    name, modules, backend = "cupy", ["cupy", "cupyx.scipy.sparse"], "cuda"

    def __init__(self):
        import cupy
        from cupyx.scipy.sparse import csr_matrix
        if cupy.cuda.runtime.getDeviceCount() == 0:
            raise RuntimeError("CuPy sees no GPU")
        self.cupy, self.matrix = cupy, csr_matrix
        self.version, self.threads = cupy.__version__, 1
        self.device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        runtime = cupy.cuda.runtime.runtimeGetVersion()
        self.versions = [f"CuPy {self.version}",
                         f"CUDA {runtime // 1000}.{runtime % 1000 // 10}", *gpu_versions()]

    def csr(self, val, col, row_ptr, shape):
        up = self.cupy.asarray
        return self.matrix((up(val), up(col), up(row_ptr)), shape=shape)

    def spgemm(self, p):
        A = self.csr(*p.first())
        C = A @ (self.csr(*p.second) if p.second else A)
        return [part.get() for part in (C.indptr, C.indices, C.data)]

    def spmm(self, p):
        return ((self.csr(*p.first()) @ self.cupy.asarray(p.X)).get(),)


PEERS = {peer.name: peer for peer in (SciPy, TorchCPU, TorchCUDA, CuPy)}


def gpu_versions():
    """Returns the versions of the installed CUDA wheels. The libraries in use may differ."""
    found = []
    for package in ("nvidia-cusparse", "nvidia-cusparse-cu12"):
        try:
            found.append(f"cuSPARSE {importlib.metadata.version(package)}")
            break
        except importlib.metadata.PackageNotFoundError:
            pass
    try:
        with open("/sys/module/nvidia/version", encoding="utf-8") as f:
            found.append(f"driver {f.read().strip()}")
    except OSError:
        pass
    return found


# ---- times -----------------------------------------------------------------------------------

def fresh_pages():
    """Returns freed memory to the system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def clock(product, problem):
    start = time.perf_counter()
    result = product(problem)
    return time.perf_counter() - start, result


def repeat(product, problem, reps, budget, keep):
    """Returns the seconds of 1 to `reps` calls. With `keep` all results stay in memory."""
    times, kept = [], []
    while len(times) < reps and sum(times) < budget:
        spent, result = clock(product, problem)
        times.append(spent)
        if keep:
            kept.append(result)
        del result
        gc.collect()
    return times


def spread(name, times):
    times = sorted(times)
    if not times:
        return {}
    return {f"{name}_s": times[(len(times) - 1) // 2], f"{name}_min_s": times[0],
            f"{name}_max_s": times[-1], f"{name}_reps": len(times)}


def measure(name, op, problem, args):
    """Returns the measured fields of a line. Runs in a process of its own."""
    try:
        peer = PEERS[name]()
        product = getattr(peer, op)
        product(tiny(problem.val.dtype))
        fresh_pages()
        first, result = clock(product, problem)
        entries = int(result[-1].size)
        del result
        gc.collect()
        freed = repeat(product, problem, args.reps, args.budget, keep=False)
        fresh_pages()
        keep = args.keep if first < args.longest else 0
        kept = repeat(product, problem, keep, args.budget, keep=True)
    except Exception as error:  # a failure of a peer is recorded
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0][:400]}
    versions = [f"Python {platform.python_version()}", f"NumPy {np.__version__}"]
    return {"variant": f"{name} {peer.version}", "device": peer.device,
            "threads": peer.threads, "versions": ", ".join(versions + peer.versions),
            "cold_s": first, "nnz_out": entries, **spread("freed", freed),
            **spread("kept", kept)}


def in_child(limit, function, *arguments):
    """Returns the result of `function`, which runs in a process of its own."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=lambda: there.send(function(*arguments)))
    child.start()
    there.close()
    try:
        return here.recv() if here.poll(limit) else {"error": f"longer than {limit:.0f} s"}
    except EOFError:
        return {"error": "its process ended before it answered"}
    finally:
        child.kill()
        child.join()


def time_one(name, problem, op, args):
    flops = problem.flops(op)
    line = {
        "problem": problem.name, "op": op, "variant": name,
        "backend": PEERS[name].backend, "peer": name, "device": None,
        "type": args.type, "cols": args.cols if op == "spmm" else None,
        "order": "row" if op == "spmm" else None, "mode": "end", "threads": None,
        "rows": problem.shape[0], "nnz": problem.nnz, "products": flops // 2,
        "first_in_process": True, "date": args.date, "commit": args.commit,
        "versions": None, "seconds": None, "cold_s": None, "freed_s": None, "kept_s": None,
        "gflops": None, "ratio": None, "verified": None, "error": None,
    }
    line.update(in_child(args.limit, measure, name, op, problem, args))
    if not line["error"]:
        line.update(seconds=line["freed_s"], min_s=line["freed_min_s"],
                    max_s=line["freed_max_s"], reps=line["freed_reps"],
                    gflops=flops / line["freed_s"] * 1e-9)
    return line


def ms(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.2f}"


def show(line):
    head = f"{line['problem']:18s} {line['op']:6s} {line['variant']:28s}"
    if line["error"]:
        print(f"{head} failed: {line['error']}", flush=True)
    else:
        print(f"{head} first {ms(line['cold_s']):>10s} ms, freed {ms(line['freed_s']):>10s},"
              f" kept {ms(line['kept_s']):>10s}", flush=True)


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
    parser.add_argument("--reps", type=int, default=3,
                        help="calls whose results are freed, after the first")
    parser.add_argument("--keep", type=int, default=3,
                        help="calls whose results are all kept, after those")
    parser.add_argument("--budget", type=float, default=60,
                        help="seconds after which calls of a kind are not repeated again")
    parser.add_argument("--longest", type=float, default=10,
                        help="a first call that takes as long is followed by no kept ones")
    parser.add_argument("--limit", type=float, default=300,
                        help="seconds after which a peer is given up on a product")
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


def usable_peers(names):
    """Returns the peers whose modules are installed. They are imported here once for all processes."""
    for name in names:
        try:
            for module in PEERS[name].modules:
                importlib.import_module(module)
            yield name
        except Exception as error:
            print(f"{name} left out: {error}", file=sys.stderr)


def main():
    args = parse()
    folders = list(problem_folders(args.folders))
    if not folders:
        sys.exit(f"no matrix in {' '.join(args.folders)}")
    peers = list(usable_peers(args.peers))
    out = open(args.json, "a", encoding="utf-8") if args.json else None
    for folder in folders:
        problem = load(folder, np.float64 if args.type == "f64" else np.float32, args.cols)
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
