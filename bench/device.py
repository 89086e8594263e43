#!/usr/bin/env python3
"""bench/device.py - products whose operands and results are in GPU memory, beside CuPy and PyTorch.

    bench/device.py LIBRARY FILE|FOLDER... [--json FILE.jsonl] [--calls N] [--types f32,f64]

For each .mtx or .mtx.xz file, in one process and with the same arrays on the GPU: Y = A*X with 1,
8 and 64 columns, and C = A*A (A*A^T if A is not square). Indices have 32 bits. A call is timed
until the GPU is idle. All programs take turns, and the median counts. Calls of ours:

    once    one-shot calls: hybrid_spmm() and hybrid_spgemm_with()
    plan    runs of a plan
    async   runs of a plan with HYBRID_ASYNC

Peers are the operators of CuPy and PyTorch, and cusparse: cusparseSpMM() without preprocessing
through CuPy's bindings, with descriptors and buffer made in each call. `kernels` is the GPU time of
a run: the mean of runs that are enqueued behind a kernel that waits. Results are compared with
CuPy's. With --summary FILE.jsonl nothing is measured, and a table of the lines is printed.
"""
import argparse
import ctypes as C
import datetime
import json
import os
import statistics
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import library
from real import COLUMNS, TYPES, files
from real_peers import Problem
from real_table import mean

DEVICE, AUTO, ASYNC = 1, 3, 1 << 6  # hybrid_space, hybrid_index, a flag of plan options
RUNS = 50                           # runs enqueued at once to time kernels
WAIT_CYCLES = 20_000_000            # cycles of the kernel before them
NEAR = {"f32": 1e-3, "f64": 1e-9}


# ---- ours ----------------------------------------------------------------------------------

class Ours:
    """Calls of the library with arrays of CuPy."""

    def __init__(self, path):
        self.lib = library.Library(path)
        self.engine = library.Engine(self.lib, "cuda")
        self.so, self.handle = self.lib.so, self.engine.handle
        pointer, number = C.c_void_p, C.c_double
        for name, arguments in {
                "spmm_plan": [pointer, pointer, C.c_int64, pointer, pointer],
                "spmm_run": [pointer, number, pointer, pointer, number, pointer],
                "spgemm_with": [pointer] * 5, "plan_destroy": [pointer],
                "engine_stream": [pointer] * 2}.items():
            getattr(self.so, "hybrid_" + name).argtypes = arguments

    def csr(self, A):
        return self.lib.struct("csr", rows=A.shape[0], cols=A.shape[1], nnz=A.nnz,
                               offset_type=library.I32, row_ptr=A.indptr.data.ptr,
                               col=A.indices.data.ptr, val=A.data.data.ptr,
                               type=library.TYPES[A.dtype], space=DEVICE)

    def dense(self, X):
        return self.lib.struct("dense", rows=X.shape[0], cols=X.shape[1], ld=X.shape[1],
                               order=library.ROW_MAJOR, data=X.data.ptr,
                               type=library.TYPES[X.dtype], space=DEVICE)

    def options(self, **fields):
        options = self.lib.struct("plan_options", **fields)
        options.struct_size = C.sizeof(options)
        return options

    def once(self, A, X, Y):
        a, x, y = self.csr(A), self.dense(X), self.dense(Y)
        call, refs = self.so.hybrid_spmm, (C.byref(a), C.byref(x), C.byref(y))
        return lambda: self.engine.succeed(call(self.handle, 1, refs[0], refs[1], 0, refs[2]))

    def planned(self, A, X, Y, flags):
        """Returns a function that runs a plan, and one that frees it."""
        a, x, y, plan = self.csr(A), self.dense(X), self.dense(Y), C.c_void_p()
        options = self.options(x_space=DEVICE, result_space=DEVICE, flags=flags)
        self.engine.succeed(self.so.hybrid_spmm_plan(self.handle, C.byref(a), X.shape[1],
                                                     C.byref(options), C.byref(plan)))
        call, refs = self.so.hybrid_spmm_run, (C.byref(a), C.byref(x), C.byref(y))
        return (lambda: self.engine.succeed(call(plan, 1, refs[0], refs[1], 0, refs[2])),
                lambda: self.so.hybrid_plan_destroy(plan))

    def squared(self, A, B):
        """Returns a function that computes C. Its arrays are freed with the object that it returns."""
        a, b = self.csr(A), self.csr(B)
        options = self.options(result_space=DEVICE, offsets=AUTO, columns=AUTO)

        def call():
            result = self.lib.struct("csr")
            self.engine.succeed(self.so.hybrid_spgemm_with(
                self.handle, C.byref(options), C.byref(a), C.byref(b), C.byref(result)))
            return library.Product(self.engine, result, A.dtype)
        return call


def arrays_of(cupy, product):
    """Returns a copy of our C as a matrix of CuPy."""
    from cupyx.scipy.sparse import csr_matrix
    C_ = product.matrix
    index = np.int32 if C_.offset_type == library.I32 else np.int64

    def view(address, count, dtype):
        memory = cupy.cuda.UnownedMemory(address or 0, count * np.dtype(dtype).itemsize, product)
        return cupy.ndarray(count, dtype, cupy.cuda.MemoryPointer(memory, 0)).copy()
    return csr_matrix((view(C_.val, C_.nnz, product.dtype), view(C_.col, C_.nnz, index),
                       view(C_.row_ptr, C_.rows + 1, index)), shape=(C_.rows, C_.cols))


# ---- peers ---------------------------------------------------------------------------------

def raw_cusparse(cupy, A, X, Y):
    """Returns a function that calls cusparseSpMM(), with all preparations."""
    from cupy_backends.cuda.libs import cusparse as cs
    from cupy.cuda import device
    kind = {np.dtype(np.float32): 0, np.dtype(np.float64): 1}[A.dtype]  # cudaDataType
    one, zero = np.ones(1, A.dtype), np.zeros(1, A.dtype)
    handle, row_order, csr_alg2 = device.get_cusparse_handle(), 2, 6
    at = (one.ctypes.data, zero.ctypes.data)

    def call():
        a = cs.createCsr(A.shape[0], A.shape[1], A.nnz, A.indptr.data.ptr, A.indices.data.ptr,
                         A.data.data.ptr, cs.CUSPARSE_INDEX_32I, cs.CUSPARSE_INDEX_32I, 0, kind)
        x = cs.createDnMat(X.shape[0], X.shape[1], X.shape[1], X.data.ptr, kind, row_order)
        y = cs.createDnMat(Y.shape[0], Y.shape[1], Y.shape[1], Y.data.ptr, kind, row_order)
        args = handle, 0, 0, at[0], a, x, at[1], y, kind, csr_alg2
        room = cupy.empty(max(1, cs.spMM_bufferSize(*args)), np.int8)
        cs.spMM(*args, room.data.ptr)
        for descriptor in x, y:
            cs.destroyDnMat(descriptor)
        cs.destroySpMat(a)
    return call


def torch_of(torch, A):
    import warnings
    warnings.filterwarnings("ignore", message=".*[Ss]parse (CSR|invariant).*")
    up = lambda array: torch.from_dlpack(array)
    return torch.sparse_csr_tensor(up(A.indptr), up(A.indices), up(A.data), size=A.shape,
                                   check_invariants=False)


# ---- measuring -------------------------------------------------------------------------------

class Device:
    def __init__(self):
        import cupy
        import torch
        self.cupy, self.torch = cupy, torch
        self.name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()

    def matrix(self, arrays):
        from cupyx.scipy.sparse import csr_matrix
        val, col, row_ptr, shape = arrays
        up = self.cupy.asarray
        return csr_matrix((up(val), up(col), up(row_ptr)), shape=shape)

    def seconds(self, call):
        """Returns the seconds of a call. If it fails, CuPy and PyTorch give their pooled memory back,
        and it is made again."""
        try:
            return self.timed(call)
        except Exception:
            self.cupy.get_default_memory_pool().free_all_blocks()
            self.torch.cuda.empty_cache()
            return self.timed(call)

    def timed(self, call):
        self.cupy.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        result = call()
        self.cupy.cuda.runtime.deviceSynchronize()
        taken = time.perf_counter() - start
        del result
        return taken

    def kernels(self, call, ours):
        """Returns the mean GPU seconds of runs that are enqueued while the GPU waits."""
        torch, stream = self.torch, self.torch.cuda.Stream()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        ours.so.hybrid_engine_stream(ours.handle, stream.cuda_stream)
        with torch.cuda.stream(stream):
            torch.cuda._sleep(WAIT_CYCLES)
            begin.record()
            for _ in range(RUNS):
                call()
            end.record()
        stream.synchronize()
        ours.so.hybrid_engine_stream(ours.handle, None)
        return begin.elapsed_time(end) * 1e-3 / RUNS


def take_turns(device, calls, count):
    """Returns {name: median seconds}."""
    times = {name: [] for name in calls}
    for turn in range(count + 2):
        for name, call in calls.items():
            taken = device.seconds(call)
            if turn > 1:  # the first two turns warm up
                times[name].append(taken)
    return {name: statistics.median(t) for name, t in times.items()}


def contend(device, ours, p, A, B):
    """Returns the calls to time, a function that frees them, the call for `kernels` or None, and
    whether the results agree with CuPy's."""
    cupy, torch = device.cupy, device.torch
    if p.cols is None:
        t, u = torch_of(torch, A), torch_of(torch, B)
        calls = {"once": ours.squared(A, B), "cupy": lambda: A @ B, "torch-cuda": lambda: t @ u}
        return calls, lambda: None, None, same_product(cupy, A, B, calls["once"], p.kind)
    X = cupy.asarray(p.X).reshape(A.shape[1], -1)
    Y = cupy.empty((A.shape[0], X.shape[1]), A.dtype)
    run, free_run = ours.planned(A, X, Y, 0)
    early, free_early = ours.planned(A, X, Y, ASYNC)
    x = X[:, 0] if p.cols == 1 else X
    t, u = torch_of(torch, A), torch.from_dlpack(x)
    calls = {"once": ours.once(A, X, Y), "plan": run, "async": early, "cupy": lambda: A @ x,
             "cusparse": raw_cusparse(cupy, A, X, Y), "torch-cuda": lambda: t @ u}
    right, same = A @ X, True
    for name in "once", "plan", "async":
        Y.fill(7)
        calls[name]()
        cupy.cuda.runtime.deviceSynchronize()
        same = same and bool(cupy.allclose(right, Y, rtol=NEAR[p.kind], atol=NEAR[p.kind]))
    return calls, lambda: (free_run(), free_early()), early, same


def same_product(cupy, A, B, once, kind):
    """Returns whether C agrees with CuPy's. If cuSPARSE fails on the product, C times a vector is
    compared with A times B times that vector."""
    mine = arrays_of(cupy, once())
    near = {"rtol": NEAR[kind], "atol": NEAR[kind]}
    try:
        right = A @ B
    except Exception:
        x = cupy.ones(B.shape[1], B.dtype)
        return bool(cupy.allclose(mine @ x, A @ (B @ x), **near))
    right.sort_indices()
    return right.nnz == mine.nnz and bool(cupy.allclose(right.data, mine.data, **near))


def working(device, calls, say):
    """Returns the calls that do not fail, and reports the others."""
    good = {}
    for name, call in calls.items():
        try:
            device.seconds(call)
            good[name] = call
        except Exception as error:
            say(f"{name}: {type(error).__name__}: {error}".splitlines()[0][:200])
    return good


def measure(device, ours, p, args):
    A = device.matrix(p.first())
    B = device.matrix(p.second) if p.cols is None and p.second else A
    calls, free, early, same = contend(device, ours, p, A, B)
    say = lambda text: print(f"{p.name}: {text}", file=sys.stderr)
    seconds = take_turns(device, working(device, calls, say), args.calls)
    kernels = device.kernels(early, ours) if early else None
    free()
    return {"problem": p.name, "op": "spgemm" if p.cols is None else "spmm", "cols": p.cols,
            "type": p.kind, "mode": "device", "rows": p.shape[0], "columns": p.shape[1],
            "nnz": p.nnz, "times": seconds, "kernels": kernels, "peer": None,
            "backend": "cuda", "engine": "cuda",
            "verified": same,
            "device": device.name, "version": ours.lib.version(), "commit": args.commit,
            "date": args.date}


# ---- tables --------------------------------------------------------------------------------

def table(lines):
    """Prints means of peers' times over ours, the worst ratios, and the time beside kernels."""
    groups = {}
    for line in lines:
        groups.setdefault((line["op"], line["cols"] or 0, line["type"]), []).append(line)
    for (op, cols, kind), of in sorted(groups.items()):
        print(f"{op} {cols or ''} {kind}: {len(of)} matrices, "
              f"{sum(not l['verified'] for l in of)} wrong")
        for mine in "once", "plan", "async":
            for peer in "cupy", "cusparse", "torch-cuda":
                found = {l["problem"]: l["times"][peer] / l["times"][mine] for l in of
                         if peer in l["times"] and mine in l["times"]}
                if not found:
                    continue
                worst = sorted(found.items(), key=lambda item: item[1])[:3]
                print(f"  {mine:6s} beside {peer:10s} {mean(list(found.values())):6.2f}, slower on "
                      f"{sum(r < 1 for r in found.values()):2d}; " +
                      ", ".join(f"{name} {ratio:.2f}" for name, ratio in worst))
        over = [(l["times"]["plan"] - l["kernels"]) * 1e6 for l in of if l["kernels"]]
        if over:
            print(f"  a run takes its kernels and {statistics.median(over):.1f} us (median), "
                  f"at most {max(over):.1f}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="?", help="libhybrid_spmm.so")
    parser.add_argument("paths", nargs="*", metavar="FILE|FOLDER")
    parser.add_argument("--json", help="append lines of JSON")
    parser.add_argument("--summary", help="lines to make a table of")
    parser.add_argument("--types", default="f32")
    parser.add_argument("--only", default=",".join(COLUMNS))
    parser.add_argument("--calls", type=int, default=15)
    parser.add_argument("--commit")
    args = parser.parse_args()
    args.date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if not args.summary and not args.paths:
        parser.error("a library and a matrix are needed")
    return args


def main():
    args = parse()
    if args.summary:
        with open(args.summary, encoding="utf-8") as f:
            table([json.loads(line) for line in f])
        return
    device, ours, lines = Device(), Ours(args.library), []
    for path in files(args.paths):
        p = Problem(path)
        for kind in args.types.split(","):
            for product in args.only.split(","):
                p.take(TYPES[kind], COLUMNS[product])
                p.kind = kind
                line = measure(device, ours, p, args)
                lines.append(line)
                print(f"{p.name:20s} {line['op']} {p.cols or '':2} {kind}: " + ", ".join(
                    f"{n} {s * 1e6:.0f}" for n, s in line["times"].items()) +
                    (f", kernels {line['kernels'] * 1e6:.0f}" if line["kernels"] else "") +
                    ("" if line["verified"] else " WRONG"), flush=True)
                if args.json:
                    with open(args.json, "a", encoding="utf-8") as f:
                        f.write(json.dumps(line) + "\n")
    table(lines)
    sys.exit(any(not line["verified"] for line in lines))


if __name__ == "__main__":
    main()
