"""bench/lib/python_layer.py - what the Python package adds to the calls of the C library.

A product of a matrix with 64 rows takes the library a few microseconds, so that most of the call
is Python. Two medians are measured: the time of the whole call, and the time within the
functions of the library, ctypes included. Their difference is the cost of the Python layer.

SciPy's LinearOperator.matvec() calls the package in between. The difference includes SciPy's
part. An operator that computes nothing shows how much that is.
"""
import statistics
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import hybrid_spmm as hs
from hybrid_spmm import _capi
from hybrid_spmm._library import lib

ROWS, COLUMNS = 64, 8
CALLS = 1000
MOST_S = 1.0  # seconds for one median
MATVEC = "operator.matvec(x)"
GOAL_S = {"numpy": 15e-6, "cupy": 25e-6, "torch": 25e-6}


class Inside:
    """Replaces the functions of the library in a ``with`` block by ones that add up times."""

    def __enter__(self):
        self.seconds = 0.0
        self.functions = {name: getattr(lib, name) for name in _capi.FUNCTIONS}
        for name, function in self.functions.items():
            setattr(lib, name, self.timed(function))
        return self

    def __exit__(self, *error):
        for name, function in self.functions.items():
            setattr(lib, name, function)

    def timed(self, function):
        def call(*arguments):
            start = time.perf_counter()
            result = function(*arguments)
            self.seconds += time.perf_counter() - start
            return result
        return call


class Nothing(LinearOperator):
    """An operator whose products take no time, so that SciPy's part of a call is left."""

    def __init__(self):
        super().__init__(np.dtype(np.float64), (ROWS, ROWS))
        self.product = np.empty(ROWS)

    def _matvec(self, x):
        return self.product


def median(call, read=time.perf_counter):
    """Return the median by which `read()` grows in a call."""
    times, end = [], time.perf_counter() + MOST_S
    while len(times) < CALLS and time.perf_counter() < end:
        before = read()
        call()
        times.append(read() - before)
    return statistics.median(times)


def medians(name, call):
    """Return the median seconds of a call, those within the library, and those of SciPy."""
    for _ in range(20):
        call()
    total = median(call)
    with Inside() as inside:
        within = median(call, lambda: inside.seconds)
    if name != MATVEC:
        return total, within, 0.0
    operator, x = Nothing(), np.ones(ROWS)
    return total, within, median(lambda: operator.matvec(x))


def operands(dtype=np.float64):
    """Return a tridiagonal matrix, a vector, and a block of columns."""
    A = sp.diags([1.0, 2.0, 1.0], [-1, 0, 1], shape=(ROWS, ROWS), format="csr")
    return A.astype(dtype), np.ones(ROWS, dtype), np.ones((ROWS, COLUMNS), dtype)


def host_calls():
    """Yield the name of a product and a function that computes it from host arrays."""
    A, x, X = operands()
    y, Y = np.empty(ROWS), np.empty((ROWS, COLUMNS))
    square, image, op = hs.plan(A, A), hs.plan(A, X), hs.aslinearoperator(A)
    yield "matmul(A, A)", lambda: hs.matmul(A, A)
    yield "matmul(A, x)", lambda: hs.matmul(A, x)
    yield "matmul(A, x, out=y)", lambda: hs.matmul(A, x, out=y)
    yield "matmul(A, X)", lambda: hs.matmul(A, X)
    yield "matmul(A, X, out=Y)", lambda: hs.matmul(A, X, out=Y)
    yield "plan(A, A)", lambda: square(A, A)
    yield "plan(A, X)", lambda: image(A, X)
    yield MATVEC, lambda: op.matvec(x)


def device_calls(program):
    """Yield the name of a product and a function that computes it from arrays on the GPU."""
    A, x, X = operands()
    D = program.csr(A.data, A.indices, A.indptr, A.shape)
    d, E = program.dense(x), program.dense(X)
    square, image = hs.plan(D, D), hs.plan(D, E)
    yield "matmul(A, A)", lambda: hs.matmul(D, D)
    yield "matmul(A, x)", lambda: hs.matmul(D, d)
    yield "matmul(A, X)", lambda: hs.matmul(D, E)
    yield "plan(A, A)", lambda: square(D, D)
    yield "plan(A, X)", lambda: image(D, E)


def layer_lines(programs):
    """Yield a line for each call of hybrid_spmm: seconds of the call, and of the Python layer."""
    for program in programs:
        if program.name:
            continue
        calls = host_calls() if program.arrays == "numpy" else device_calls(program)
        for name, call in calls:
            total, within, scipy = medians(name, call)
            yield {"mode": "layer", "problem": "tridiagonal", "op": name, "type": "f64",
                   "rows": ROWS, "arrays": program.arrays, "call_s": total, "library_s": within,
                   "layer_s": total - within, "scipy_s": scipy,
                   "goal_s": GOAL_S[program.arrays]}


def layer_text(line):
    """Return a line as a row of a table."""
    cells = [line["op"], line["arrays"]]
    cells += [f"{line[name] * 1e6:.1f}"
              for name in ("call_s", "library_s", "layer_s", "scipy_s", "goal_s")]
    return "| " + " | ".join(cells) + " |"


LAYER_HEAD = ("| call | arrays | us | in the library | in Python | of these in SciPy | goal |\n"
              "| --- | --- | --- | --- | --- | --- | --- |")
