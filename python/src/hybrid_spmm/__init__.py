"""Sparse products computed by the CPU and GPUs together, for SciPy's matrices.

>>> import hybrid_spmm as hs, numpy as np, scipy.sparse as sp
>>> A = sp.random_array((1000, 1000), density=0.01, format="csr", rng=0)
>>> C = hs.matmul(A, A)
>>> bool(np.allclose((C - A @ A).data, 0))
True
"""

from __future__ import annotations

import os
from typing import Any

from ._engine import Engine, default_engine
from ._errors import (
    ArgumentError,
    CancelledError,
    DeviceError,
    DeviceMemoryError,
    DeviceNotFoundError,
    Error,
    ExactnessError,
    FileError,
    FileMissingError,
    FormatError,
    FormatWarning,
    HostMemoryError,
    MatrixError,
    OperandTypeError,
    ShapeError,
    StateError,
    UnsupportedError,
)
from ._plan import Plan
from ._progress import Progress
from ._report import Report, Use
from ._trace import Trace

__version__ = "0.2.0"

__all__ = [
    "ArgumentError",
    "CancelledError",
    "DeviceError",
    "DeviceMemoryError",
    "DeviceNotFoundError",
    "Engine",
    "Error",
    "ExactnessError",
    "FileError",
    "FileMissingError",
    "FormatError",
    "FormatWarning",
    "HostMemoryError",
    "MatrixError",
    "OperandTypeError",
    "Plan",
    "Report",
    "ShapeError",
    "StateError",
    "Trace",
    "UnsupportedError",
    "Use",
    "default_engine",
    "last_report",
    "matmul",
    "plan",
    "trace",
]


def matmul(
    A: Any,
    B: Any,
    *,
    out: Any = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    progress: Progress = False,
) -> Any:
    """Multiply A and B, of which at least one is sparse.

    Parameters
    ----------
    A, B : SciPy sparse arrays or matrices, or NumPy arrays
        Shapes (m, k) and (k, n); a dense operand may be a vector. Values are float32,
        float64, integers or bools. CSR operands are used without a copy, and so are two CSC
        operands and the transposes of both. A CSC matrix times a dense one is transposed in
        every call; a plan transposes it once. Other formats, and matrices whose entries are
        unsorted or repeated, are converted with a :class:`FormatWarning`. Dense operands in C
        or Fortran order are used without a copy.
    out : numpy.ndarray, optional
        Where a dense result of shape (m, n), or (m,) or (n,), is written.
    alpha, beta : float, optional
        The result is ``alpha * A @ B + beta * out``. With beta 0 NaN in `out` is ignored.
    progress : bool or callable, optional
        True shows a bar of tqdm if tqdm is installed. A function is called with the rows
        done and all rows, about ten times a second.

    Returns
    -------
    sparse matrix or numpy.ndarray
        A matrix of A's kind and format (CSR for COO operands) if both are sparse; otherwise
        a dense array in C order, or `out`. Entries that are zero are kept: call
        ``.eliminate_zeros()`` to drop them.

    Raises
    ------
    ShapeError
        If the shapes do not fit together.
    MatrixError
        If offsets or indices of a sparse operand are out of range.
    OperandTypeError
        If neither operand is sparse, or values are of float16, complex or another type.
    ExactnessError
        If a product of integers exceeds its type, or a sum exceeds 2^53.
    HostMemoryError, DeviceMemoryError
        If memory, or a cap of the engine, is exhausted.

    Examples
    --------
    >>> import hybrid_spmm as hs, numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array([[1.0, 0.0], [2.0, 3.0]])
    >>> hs.matmul(A, A).toarray()
    array([[1., 0.],
           [8., 9.]])
    >>> hs.matmul(A, np.array([1.0, 1.0]))
    array([1., 5.])
    """
    return default_engine().matmul(A, B, out=out, alpha=alpha, beta=beta, progress=progress)


def plan(A: Any, B: Any, **options: Any) -> Plan:
    """Inspect the patterns of A and B once, and multiply many times.

    Parameters
    ----------
    A : SciPy sparse array or matrix, shape (m, k)
    B : SciPy sparse array or matrix, NumPy array, or int
        The other operand, or the number of columns of a dense one.
    deterministic : bool
        Runs give the same bits.
    resident : bool
        A dense product keeps A on the GPU. After values of A were changed in place, call the
        plan's ``refresh()``.
    explain : bool
        ``explain()`` predicts what was not chosen too, which takes some milliseconds.
    allow_tf32 : bool
        A float32 product with a dense operand may round to TF32, with errors of 5e-4.
    variant : str, optional
        Name, or prefix of a name, of the variant to use, such as ``"spgemm.host"``.
    split : {"default", "auto", "gpu", "host"} or float
        Who computes; a number is the CPU's share.
    depth, chunk_rows : int
        Chunks in flight, and rows of a chunk; 0 leaves the choice to the library.

    Returns
    -------
    Plan
        Call it with operands of the same patterns: ``plan(A, B)``. A plan of a dense product
        takes `out`, `alpha` and `beta` as :func:`matmul` does. Patterns must not be changed in
        place.

    Raises
    ------
    UnsupportedError
        If no variant can compute the product in the requested way.
    ShapeError, MatrixError, OperandTypeError, HostMemoryError, DeviceMemoryError
        As in :func:`matmul`.

    Examples
    --------
    >>> import hybrid_spmm as hs, scipy.sparse as sp
    >>> A = sp.csr_array([[1.0, 0.0], [2.0, 3.0]])
    >>> square = hs.plan(A, A)
    >>> square(A, A).data
    array([1., 8., 9.])
    >>> square(2 * A, 2 * A).data
    array([ 4., 32., 36.])
    """
    return default_engine().plan(A, B, **options)


def last_report() -> Report:
    """Return the report of the last product: where its time went and what it moved.

    Returns
    -------
    Report
        Times in seconds and sizes in bytes.

    Raises
    ------
    StateError
        If nothing was multiplied yet.

    Examples
    --------
    >>> import hybrid_spmm as hs, scipy.sparse as sp
    >>> C = hs.matmul(sp.eye_array(3, format="csr"), sp.eye_array(3, format="csr"))
    >>> hs.last_report().nnz_out
    3
    """
    return default_engine().last_report()


def trace(path: str | os.PathLike[str] | None) -> Trace | None:
    """Record every stage of the products that follow, for chrome://tracing or Perfetto.

    Parameters
    ----------
    path : path or None
        JSON file to write. It is written when the trace is closed: at the end of a ``with``
        block, by the next call of this function, or as the process ends. None closes the
        current trace.

    Returns
    -------
    Trace or None
        The trace that has begun.

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import hybrid_spmm as hs, scipy.sparse as sp, json, os, tempfile
    >>> A = sp.random_array((100, 100), density=0.1, format="csr", rng=0)
    >>> path = os.path.join(tempfile.mkdtemp(), "run.json")
    >>> with hs.trace(path):
    ...     C = hs.matmul(A, A)
    >>> "traceEvents" in json.load(open(path))
    True
    """
    return default_engine().trace(path)
