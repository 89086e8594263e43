"""The functions of the package, which use the default engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ._engine import default_engine
from ._pin import Pin
from ._products.plan import Plan
from ._reports.progress import Progress
from ._reports.report import Report
from ._reports.trace import Trace


def matmul(
    A: Any,
    B: Any,
    *,
    out: Any = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    progress: Progress = False,
    resume: bool = False,
    part_rows: int = 0,
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
        or Fortran order are used without a copy. Float32 and float64 arrays of CuPy and
        PyTorch on a GPU are multiplied there; the result belongs to the same library.
        Matrices that :func:`open` has opened are read in parts and need not fit in memory.
    out : numpy.ndarray or path, optional
        Where a dense result of shape (m, n), or (m,) or (n,), is written. A path is a file
        whose ending selects its format, such as ``"C.npz"`` or ``"Y.npy"``: the result is
        written while it is computed, and need not fit in memory. It holds float32 or float64:
        integers and bools are converted to float64.
    alpha, beta : float, optional
        The result is ``alpha * A @ B + beta * out``. With beta 0 NaN in `out` is ignored.
    progress : bool or callable, optional
        True shows a bar of tqdm if tqdm is installed. A function is called with the rows
        done and all rows, about ten times a second.
    resume : bool
        Keep finished parts of a file in a folder beside it, and continue after those that an
        earlier call left there.
    part_rows : int
        Rows of each part of a ``.json`` file, which is written in several parts. Each part is
        a file of its own in a folder beside it, ``C.rows`` for ``"C.json"``. 0 writes one part.

    Returns
    -------
    sparse matrix, numpy.ndarray or path
        A matrix of A's kind and format (CSR for COO operands) if both are sparse; otherwise
        a dense array in C order, or `out`. A product with an open file is a csr array.
        Entries that are zero are kept: call ``.eliminate_zeros()`` to drop them.

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
    return default_engine()._matmul(A, B, out, alpha, beta, progress, resume, part_rows)


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
        Who computes; a number is the CPU's share of a dense product.
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


def matmul_rows(A: Any, B: Any, **options: Any) -> Iterator[tuple[int, Any]]:
    """Multiply two sparse matrices and hand out the rows of the product in panels.

    The product is never stored as a whole. Later panels are computed while the caller uses
    earlier ones; a few wait in memory. Until the generator is exhausted or closed, other
    calls on its engine raise :class:`StateError`.

    Parameters
    ----------
    A, B : SciPy sparse arrays or matrices, shapes (m, k) and (k, n)
    **options
        Those of :func:`plan`; ``chunk_rows`` sets the rows of a panel.

    Yields
    ------
    first_row : int
        The row of the product with which the panel begins.
    rows : sparse csr array or matrix, shape (panel, n)
        A copy of these rows.

    Raises
    ------
    StateError
        If the engine is used by another generator.
    ShapeError, MatrixError, OperandTypeError, ExactnessError
        As in :func:`matmul`, before the first panel.

    Examples
    --------
    >>> import hybrid_spmm as hs, scipy.sparse as sp
    >>> A = sp.random_array((1000, 1000), density=0.01, format="csr", rng=0)
    >>> largest = [(first, rows.max()) for first, rows in hs.matmul_rows(A, A)]
    >>> bool(max(value for _, value in largest) == (A @ A).max())
    True
    """
    return default_engine().matmul_rows(A, B, **options)


def aslinearoperator(A: Any) -> Any:
    """Return a SciPy LinearOperator whose products the library computes.

    A is planned at the first product, and its transpose at the first product with that. Both
    stay on the GPU as far as its memory allows. ``eigsh``, ``svds``, ``lobpcg``, ``cg`` and
    the other functions of SciPy that take operators use them.

    Parameters
    ----------
    A : SciPy sparse array or matrix, shape (m, n)
        Values of integers and bools are converted to float64. A must not be changed while
        the operator is in use.

    Returns
    -------
    scipy.sparse.linalg.LinearOperator
        With shape (m, n) and A's dtype. Products with float64 vectors are of float64, and
        those with complex vectors are two real products.

    Raises
    ------
    MatrixError
        If offsets or indices of A are out of range.
    OperandTypeError
        If A is not sparse, or its values are of float16, complex or another type.
    HostMemoryError, DeviceMemoryError
        By this function or a product, if memory is exhausted.

    Examples
    --------
    >>> import hybrid_spmm as hs, numpy as np, scipy.sparse as sp
    >>> from scipy.sparse.linalg import eigsh
    >>> A = sp.csr_array(np.diag(np.arange(100.0)))
    >>> op = hs.aslinearoperator(A)
    >>> eigsh(op, k=2, return_eigenvectors=False).round(6)
    array([98., 99.])
    """
    return default_engine().aslinearoperator(A)


def pin(X: Any) -> Pin:
    """Pin an array that many products will use, so that a GPU copies it at full speed.

    Pinning takes as long as a few products. Without a GPU it changes nothing.

    Parameters
    ----------
    X : numpy.ndarray, or csr or csc matrix
        An array without gaps. It is kept alive until it is unpinned.

    Returns
    -------
    Pin
        Its ``unpin()``, the end of its ``with`` block, or its collection unpins X.

    Raises
    ------
    ArgumentError
        If X has gaps, or some of it is pinned already.
    HostMemoryError
        If the system does not pin so much.

    Examples
    --------
    >>> import hybrid_spmm as hs, numpy as np, scipy.sparse as sp
    >>> A, X = sp.eye_array(4, format="csr"), np.ones((4, 2))
    >>> with hs.pin(X):
    ...     Y = hs.matmul(A, X)
    """
    return default_engine().pin(X)


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
    >>> import hybrid_spmm as hs, scipy.sparse as sp, json, pathlib, tempfile
    >>> A = sp.random_array((100, 100), density=0.1, format="csr", rng=0)
    >>> path = pathlib.Path(tempfile.mkdtemp(), "run.json")
    >>> with hs.trace(path):
    ...     C = hs.matmul(A, A)
    >>> "traceEvents" in json.loads(path.read_text())
    True
    """
    return default_engine().trace(path)
