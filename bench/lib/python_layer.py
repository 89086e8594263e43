"""bench/lib/python_layer.py - what the Python package adds to the calls of the C library.

A product of a matrix with 64 rows takes the library a few microseconds, so that most of the call
is Python. Each call is timed as a whole. In further calls clocks around the functions of the C
library, ctypes included, divide the time into that of the library and that of Python. Both parts
are of the same calls, because the library's time varies between runs by more than Python takes.
The time that the clocks add is measured and subtracted. Results are freed between the calls.

Part of Python's time is spent in functions of another package that every product of that kind has
to call. These functions are timed alone, each time after a call of hybrid_spmm, so that the caches
hold what they hold within a call:

- SciPy's LinearOperator.matvec() calls hybrid_spmm in between. An operator that computes nothing
  shows how long SciPy takes.
- A sparse result in GPU memory is a matrix of CuPy or PyTorch, which that package makes from
  arrays that exist. The function is the fastest that it has, which hybrid_spmm calls.
- A dense result in GPU memory is an unset array, which CuPy or PyTorch allocates.
"""
import statistics
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import hybrid_spmm as hs
from hybrid_spmm._native import capi
from hybrid_spmm._native.library import lib

ROWS, COLUMNS = 64, 8
CALLS = 1000
MOST_S = 1.0  # maximum seconds of measuring for one median
GOAL_S = {"numpy": 15e-6, "cupy": 25e-6, "torch": 25e-6}


class Inside:
    """Puts clocks around the functions of the library in a ``with`` block."""

    def __enter__(self):
        self.seconds, self.calls = 0.0, 0
        self.functions = {name: getattr(lib, name) for name in capi.FUNCTIONS}
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
            self.calls += 1
            return result
        return call

    def clock_s(self):
        """Return the seconds that a clock adds to Python's time: those outside the function."""
        nothing, found = self.timed(int), []
        for _ in range(CALLS):
            before, start = self.seconds, time.perf_counter()
            for _ in range(10):
                nothing()
            found.append((time.perf_counter() - start - (self.seconds - before)) / 10)
        return min(found)

    def medians(self, call):
        """Return the median seconds of a call within the library, and outside."""
        clock_s, within, outside = self.clock_s(), [], []
        end = time.perf_counter() + MOST_S
        while len(within) < CALLS and time.perf_counter() < end:
            seconds, calls = self.seconds, self.calls
            start = time.perf_counter()
            result = call()
            whole = time.perf_counter() - start
            del result
            within.append(self.seconds - seconds)
            outside.append(whole - within[-1] - (self.calls - calls) * clock_s)
        return statistics.median(within), statistics.median(outside)


class Nothing(LinearOperator):
    """An operator whose products take no time, so that SciPy's part of a call is left."""

    def __init__(self):
        super().__init__(np.dtype(np.float64), (ROWS, ROWS))
        self.product = np.empty(ROWS)

    def _matvec(self, x):
        return self.product


def median(call, before=lambda: None):
    """Return the median seconds of a call, each after `before` is called."""
    times, end = [], time.perf_counter() + MOST_S
    while len(times) < CALLS and time.perf_counter() < end:
        before()
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
        del result
    return statistics.median(times)


def times(call, theirs):
    """Return the fields of a line that are seconds; `theirs` is what another package must do."""
    for _ in range(20):
        call()
    call_s = median(call)
    with Inside() as inside:
        library_s, python_s = inside.medians(call)
    theirs_s = median(theirs, call) if theirs else 0.0
    return {"call_s": call_s, "library_s": library_s, "python_s": python_s, "theirs_s": theirs_s,
            "layer_s": python_s - theirs_s}


def operands(dtype=np.float64):
    """Return a tridiagonal matrix, a vector, and a block of columns."""
    A = sp.diags([1.0, 2.0, 1.0], [-1, 0, 1], shape=(ROWS, ROWS), format="csr")
    return A.astype(dtype), np.ones(ROWS, dtype), np.ones((ROWS, COLUMNS), dtype)


def host_calls():
    """Yield a product, a function that computes it from host arrays, and SciPy's part or None."""
    A, x, X = operands()
    y, Y = np.empty(ROWS), np.empty((ROWS, COLUMNS))
    square, image, op = hs.plan(A, A), hs.plan(A, X), hs.aslinearoperator(A)
    nothing = Nothing()
    yield "matmul(A, A)", lambda: hs.matmul(A, A), None
    yield "matmul(A, x)", lambda: hs.matmul(A, x), None
    yield "matmul(A, x, out=y)", lambda: hs.matmul(A, x, out=y), None
    yield "matmul(A, X)", lambda: hs.matmul(A, X), None
    yield "matmul(A, X, out=Y)", lambda: hs.matmul(A, X, out=Y), None
    yield "plan(A, A)", lambda: square(A, A), None
    yield "plan(A, X)", lambda: image(A, X), None
    yield "operator.matvec(x)", lambda: op.matvec(x), lambda: nothing.matvec(x)


def device_calls(program):
    """Yield the same for arrays on the GPU, with what their own package does for the result."""
    A, x, X = operands()
    D = program.csr(A.data, A.indices, A.indptr, A.shape)
    d, E = program.dense(x), program.dense(X)
    square, image = hs.plan(D, D), hs.plan(D, E)
    sparse = makers[program.arrays](D)
    if program.arrays == "cupy":
        new = lambda like: lambda: program.cupy.ndarray(like.shape, like.dtype)
    else:
        new = lambda like: lambda: like.new_empty(like.shape)
    yield "matmul(A, A)", lambda: hs.matmul(D, D), sparse
    yield "matmul(A, x)", lambda: hs.matmul(D, d), new(d)
    yield "matmul(A, X)", lambda: hs.matmul(D, E), new(E)
    yield "plan(A, A)", lambda: square(D, D), sparse
    yield "plan(A, X)", lambda: image(D, E), new(E)


def cupy_maker(D):
    """Return a function that makes a matrix from the arrays of another one."""
    cls, arrays = type(D), (D.data, D.indices, D.indptr)
    if hasattr(cls, "_from_parts"):  # not public, and without a copy to the host
        return lambda: cls._from_parts(*arrays, D.shape, True)
    return lambda: cls(arrays, shape=D.shape)


def torch_maker(D):
    """Return a function that makes a tensor from the arrays of another one."""
    import torch
    arrays = D.crow_indices(), D.col_indices(), D.values()
    return lambda: torch.sparse_compressed_tensor(*arrays, size=tuple(D.shape), layout=D.layout,
                                                  check_invariants=False)


makers = {"cupy": cupy_maker, "torch": torch_maker}


def layer_lines(programs):
    """Yield a line for each call of hybrid_spmm: seconds of the call, and of the Python layer."""
    for program in programs:
        if program.name:
            continue
        calls = host_calls() if program.arrays == "numpy" else device_calls(program)
        for name, call, theirs in calls:
            yield {"mode": "layer", "problem": "tridiagonal", "op": name, "type": "f64",
                   "rows": ROWS, "arrays": program.arrays, **times(call, theirs),
                   "goal_s": GOAL_S[program.arrays]}


def layer_text(line):
    """Return a line as a row of a table."""
    cells = [line["op"], line["arrays"]]
    cells += [f"{line[name] * 1e6:.1f}" for name in ("call_s", "library_s", "python_s", "theirs_s",
                                                     "layer_s", "goal_s")]
    return "| " + " | ".join(cells) + " |"


LAYER_HEAD = ("| call | arrays | us | in the C library | in Python | in SciPy, CuPy or PyTorch "
              "| in hybrid_spmm | goal |\n"
              "| --- | --- | --- | --- | --- | --- | --- | --- |")
