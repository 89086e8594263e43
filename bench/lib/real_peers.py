"""bench/lib/real_peers.py - matrices from files, and the programs that bench/lib/real.py times."""
import glob
import importlib
import lzma
import os
import re
import sys

import numpy as np
import scipy.io

import library
import peers


# ---- operands ------------------------------------------------------------------------------

class Problem(peers.Problem):
    """A matrix from a file, and an X with any number of columns."""

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
        """Becomes the problem of this type with `cols` columns of X; None means A*A."""
        self.val, self.cols, self.dtype = self.values.astype(dtype), cols, np.dtype(dtype)
        self.second = self.transposed() if self.shape[0] != self.shape[1] else None
        shape = (self.shape[1], cols or 1)
        X = 2 * np.random.default_rng(2).random(shape, dtype=dtype) - 1
        self.X = X[:, 0].copy() if cols == 1 else X

    def products(self):
        return self.flops("spgemm") // 2 if self.cols is None else self.nnz * self.cols


# ---- programs: bind() returns a function without arguments that computes the product ---------

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
            return self.e.spmv(A, p.X, p.dtype)
        return self.e.spmm(A, self.e.dense(p.X), p.dtype)

    def first(self, call):
        """Returns the result of the first call, and the fields of the line that only ours has."""
        variants, result = self.e.variants(call)
        report = self.e.report()
        return result, {"variant": ", ".join(variants), "chunks": report.chunks,
                        "host_chunks": report.host_chunks}

    def later(self):
        """Returns the fields of the last timed call."""
        return {"plan_s": getattr(self.e.report(), "plan_s", None)}

    def forget(self):
        self.e.trim()


class Peer:
    """A peer. On the CPU it makes its own form of the operands before the clock starts."""

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
    """CuPy. Operands and result are copied while the clock runs."""

    def bind(self, p):
        if p.cols is None:
            return lambda: self.spgemm(p)
        return lambda: self.spmm(p)[0]

    def forget(self):
        self.cupy.get_default_memory_pool().free_all_blocks()


class MKL(Peer, peers.SciPy):
    """oneMKL's inspector-executor, with SciPy's operands."""
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
    """Sets the path of oneMKL, because sparse_dot_mkl does not find a libmkl_rt.so with a version."""
    found = sorted(glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*")))
    if found:
        os.environ.setdefault("MKL_RT", found[-1])


def installed(names, known=PEERS):
    """Returns peers by name; one that cannot be imported is named on stderr and left out."""
    find_mkl()
    found = []
    for name in names.split(","):
        try:
            for module in known[name].modules:
                importlib.import_module(module)
            found.append(known[name]())
        except Exception as error:
            print(f"{name} left out: {error}", file=sys.stderr)
    return found
