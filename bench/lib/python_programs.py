"""bench/lib/python_programs.py - the programs that bench/python_peers.py compares.

Each has a name (None for hybrid_spmm), `arrays` (the library whose arrays are the operands:
"numpy", "cupy" or "torch"), and bind(p), which returns a function that computes the product of
the problem `p` and returns when the result is complete. Programs with arrays "numpy" take host
arrays and return host arrays; the others keep operands and results on the GPU.
"""
import importlib
import operator
import sys

import numpy as np

import hybrid_spmm as hs
import peers
import real_peers
from real_check import csr_arrays


class Ours(real_peers.SciPy):
    """hybrid_spmm.matmul() with SciPy's matrices and NumPy's arrays."""

    name, arrays, modules = None, "numpy", []

    def __init__(self):
        super().__init__()
        engine = hs.default_engine()
        self.version, self.threads, self.backend = hs.__version__, engine.threads, engine.backend
        self.device = engine.device if self.backend == "cuda" else peers.cpu_name()

    def product(self, A, B):
        return lambda: hs.matmul(A, B)

    def forget(self):
        hs.default_engine().trim()


class SciPy(real_peers.SciPy):
    arrays = "numpy"


class TorchCPU(real_peers.TorchCPU):
    arrays = "numpy"


class MKL(real_peers.MKL):
    arrays = "numpy"


class CuPy(real_peers.CuPy):
    """CuPy, with the copies to and from the GPU."""

    arrays = "numpy"


class TorchCUDA(peers.TorchCUDA):
    """PyTorch on the GPU, with the copies to and from the GPU."""

    arrays = "numpy"

    def bind(self, p):
        return (lambda: self.spgemm(p)) if p.cols is None else lambda: self.spmm(p)[0]

    def forget(self):
        self.torch.cuda.empty_cache()


class CuPyArrays(real_peers.Peer, peers.CuPy):
    """CuPy, with operands and results on the GPU."""

    arrays, multiply = "cupy", operator.matmul

    def dense(self, X):
        return self.cupy.asarray(X)

    def product(self, A, B):
        multiply, stream = type(self).multiply, self.cupy.cuda.get_current_stream()

        def call():
            result = multiply(A, B)
            stream.synchronize()
            return result
        return call

    def forget(self):
        self.cupy.get_default_memory_pool().free_all_blocks()


class TorchArrays(real_peers.Peer, peers.TorchCUDA):
    """PyTorch, with operands and results on the GPU."""

    arrays, multiply = "torch", operator.matmul

    def dense(self, X):
        return self.up(X)

    def product(self, A, B):
        multiply, synchronize = type(self).multiply, self.torch.cuda.synchronize

        def call():
            result = multiply(A, B)
            synchronize()
            return result
        return call

    def forget(self):
        self.torch.cuda.empty_cache()


class OursOfCuPy(CuPyArrays):
    """hybrid_spmm.matmul() with CuPy's arrays."""

    name, multiply = None, hs.matmul

    def __init__(self):
        super().__init__()
        self.version = hs.__version__


class OursOfTorch(TorchArrays):
    """hybrid_spmm.matmul() with PyTorch's tensors."""

    name, multiply = None, hs.matmul

    def __init__(self):
        super().__init__()
        self.version = hs.__version__


PROGRAMS = (SciPy, Ours, TorchCPU, MKL, CuPy, TorchCUDA, OursOfCuPy, CuPyArrays, OursOfTorch,
            TorchArrays)


def title(program):
    """Return the program's name, with the library of its arrays if these are on the GPU."""
    name = program.name or "hybrid_spmm"
    return name if program.arrays == "numpy" else f"{name} of {program.arrays} arrays"


def usable(names):
    """Yield the programs that are installed and can run; name the others on stderr."""
    real_peers.find_mkl()
    for program in PROGRAMS:
        if program.name and program.name not in names:
            continue
        try:
            for module in program.modules:
                importlib.import_module(module)
            made = program()
            warm(made)
            yield made
        except Exception as error:
            print(f"{title(program)} left out: {error}", file=sys.stderr)


def warm(program):
    """Compute tiny products, for which a program loads libraries and compiles kernels."""
    for dtype in (np.float32, np.float64):
        p = peers.tiny(dtype)
        for p.cols in (None, 2, 1):
            p.X = p.X[:, 0].copy() if p.cols == 1 else p.X
            program.bind(p)()


def on_host(result):
    """Return a dense result as a NumPy array, and a sparse one as row_ptr, col and val."""
    if hasattr(result, "get"):  # CuPy's
        result = result.get()
    if hasattr(result, "cpu"):  # PyTorch's
        result = result.cpu()
        return result.numpy() if "strided" in str(result.layout) else csr_arrays(result)
    return result if isinstance(result, np.ndarray) else csr_arrays(result)
