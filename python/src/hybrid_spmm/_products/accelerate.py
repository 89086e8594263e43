"""SciPy's own operators, computed by the library inside a ``with`` block.

SciPy checks the operands of ``@``, ``*`` and ``dot`` and hands them to one of three methods
of the left operand's class: for a vector, for several, or for a sparse matrix. These methods
are replaced while any block is open. A context variable tells which block the caller is in,
so other threads keep SciPy's methods.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from .._engine import Engine, default_engine
from .._errors import ArgumentError, ExactnessError, HostMemoryError, UnsupportedError
from .._native.fork_lock import ForkLock
from .._operands.scipy_classes import format_of, sparse
from .._operands.sparse import Operand
from .product import multiply_dense, multiply_sparse
from .turned import Transposes, memory

if TYPE_CHECKING:
    from .._native.handle import Handle

FORMATS = ("csr", "csc", "bsr", "coo")
# With fewer columns SciPy multiplies a CSC matrix before the library has transposed it.
FEW = 16
BUSY = "the engine is in use by matmul_rows() or by the function that calls this"

# The three methods, as SciPy 1.11 calls them and as newer versions do.
NAMES = (
    ("_mul_vector", "_mul_multivector", "_mul_sparse_matrix"),
    ("_matmul_vector", "_matmul_multivector", "_matmul_sparse"),
)


class Acceleration:
    """What happened in one block of :func:`hybrid_spmm.accelerate`.

    Attributes
    ----------
    products : int
        Number of products that the library computed.
    fallbacks : collections.Counter
        Number of products that SciPy computed, by operands and reason, such as
        ``"csr complex128 @ dense float64: values of complex128"``.
    """

    def __init__(self, engine: Engine | None) -> None:
        if not (engine is None or isinstance(engine, Engine)):
            raise ArgumentError(f"engine is {engine!r}; it is an Engine or None")
        self.products = 0
        self.fallbacks: Counter[str] = Counter()
        self._engine = engine
        self._transposes = Transposes()
        self._lock = ForkLock()  # a context may be copied to other threads

    def __repr__(self) -> str:
        left = ", ".join(f"{count} {reason}" for reason, count in self.fallbacks.items())
        return f"<hybrid_spmm.Acceleration: {self.products} products, fallbacks: {left or 'none'}>"

    def _multiply(self, original: Callable[[Any, Any], Any], A: Any, B: Any) -> Any:
        """Return A @ B from the library, or from SciPy's method if the library cannot."""
        reason = refusal(A, B)
        if not reason and (A.ndim == 1 or (B.ndim == 1 and format_of(B))):
            return flat(A, B)
        if not reason:
            engine = default_engine() if self._engine is None else self._engine
            handle = engine._alive()
            if handle.caller == threading.get_ident() or not handle.has_room():
                reason = BUSY
        if not reason:
            try:
                result = self._product(handle, A, B)
            except (ExactnessError, UnsupportedError) as error:
                reason = str(error)
            else:
                with self._lock:
                    self.products += 1
                return result
        with self._lock:
            self.fallbacks[f"{describe(A)} @ {describe(B)}: {reason}"] += 1
        return original(A, B)

    def _product(self, handle: Handle, A: Any, B: Any) -> Any:
        """Return A @ B; if memory runs out, once more without the transposes that are kept."""
        try:
            return product(handle, A, B, self._transposes)
        except HostMemoryError:
            if not self._transposes.clear():
                raise
        return product(handle, A, B, self._transposes)


def flat(A: Any, B: Any) -> Any:
    """Return A @ B, of which one is sparse with one dimension, as SciPy does.

    The operand becomes a matrix of one row, or of one column on the right.
    """
    left = A.reshape(1, A.shape[0]) if A.ndim == 1 else A
    right = B.reshape(B.shape[0], 1) if B.ndim == 1 and format_of(B) else B
    C = left @ right
    shape = A.shape[:-1] + B.shape[1:]
    if not format_of(C):
        return np.reshape(C, shape)[()]  # a number if it has no dimension
    if not shape:
        return np.asarray(C[0, 0])
    C = C.tocsr()
    return C.reshape(shape) if C.nnz else type(C)(shape, dtype=C.dtype)


def refusal(A: Any, B: Any) -> str:
    """Return why the library does not take these operands; empty if it does."""
    dense = not format_of(B)
    if A.format not in FORMATS and (dense or A.format == B.format):
        return f"{A.format} format"  # which SciPy's own loops serve best
    if A.format == "csc" and dense and (B.ndim == 1 or B.shape[1] < FEW):
        return f"a csc matrix times less than {FEW} columns, which is not worth a transpose"
    for operand in (A, B):
        dtype = operand.dtype
        if dtype.kind not in "biu" and (dtype.kind != "f" or dtype.itemsize not in (4, 8)):
            return f"values of {dtype}"
    if A.ndim > 2 or B.ndim > 2:
        return "more than two dimensions"
    if "f" not in (A.dtype.kind, B.dtype.kind) and copied(A, B) > memory() / 2:
        return "integers whose copies in float64 would take more than half of the memory"
    return ""


def copied(A: Any, B: Any) -> int:
    """Return the bytes in float64 of two operands of integers, and of a dense result."""
    if format_of(B):
        return 8 * int(A.nnz + B.nnz)
    return 8 * int(A.nnz + B.size + A.shape[0] * (B.size // max(B.shape[0], 1)))


def describe(operand: Any) -> str:
    """Return format and type of an operand in words."""
    return f"{format_of(operand) or 'dense'} {operand.dtype}"


def product(handle: Handle, A: Any, B: Any, transposes: Transposes) -> Any:
    """Return A @ B as SciPy does: no stored zeros, and A's class if both are sparse."""
    a = Operand(A, A.format, quiet=True)
    kind = format_of(B)
    if not kind:
        return multiply_dense(handle, a, B, None, 1.0, 0.0, None, transposes.turn)
    b = a if B is A else Operand(B, kind, quiet=True)
    C = multiply_sparse(handle, A, B, a, b, None)
    if C.format in ("csr", "csc") and not C.data.all():
        C.eliminate_zeros()
    if (wide(A) or wide(B)) and isinstance(C, sparse().sparray):
        C.indptr, C.indices = C.indptr.astype(np.int64), C.indices.astype(np.int64)
    return C if type(C) is type(A) or C.format != A.format else type(A)(C)


def wide(operand: Any) -> bool:
    """Return whether a matrix has 64-bit indices, which SciPy's arrays hand on to a product."""
    return operand.format in ("csr", "csc", "bsr") and 8 in (
        operand.indptr.dtype.itemsize,
        operand.indices.dtype.itemsize,
    )


# ---- SciPy's methods -------------------------------------------------------------------

_current: ContextVar[Acceleration | None] = ContextVar("hybrid_spmm.accelerate", default=None)
_lock = ForkLock()
_open = 0  # blocks in all threads
_originals: list[tuple[type, str, Any]] = []


def methods() -> list[tuple[type, str, Any]]:
    """Return class, name and function of every method that multiplies.

    LIL has none of its own. The classes that LIL derives from convert an operand to CSR and
    call the methods of that class, so they are left out.
    """
    module = sparse()
    names = NAMES[hasattr(module.csr_array, NAMES[1][0])]
    classes = {
        cls
        for kind in (*FORMATS, "dia", "dok")
        for cls in getattr(module, f"{kind}_array").__mro__
        if cls not in module.lil_array.__mro__
    }
    return [(cls, name, vars(cls)[name]) for cls in classes for name in names if name in vars(cls)]


def routed(original: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a method that asks the block that the caller is in to multiply."""

    @functools.wraps(original)
    def method(self: Any, other: Any) -> Any:
        active = _current.get()
        return original(self, other) if active is None else active._multiply(original, self, other)

    return method


def install() -> None:
    """Replace SciPy's methods when the first block opens."""
    global _open
    with _lock:
        if not _open:
            _originals[:] = methods()
            for cls, name, original in _originals:
                setattr(cls, name, routed(original))
        _open += 1


def restore() -> None:
    """Put SciPy's methods back when the last block closes."""
    global _open
    with _lock:
        _open -= 1
        if not _open:
            for cls, name, original in _originals:
                setattr(cls, name, original)


@contextlib.contextmanager
def accelerate(engine: Engine | None = None) -> Iterator[Acceleration]:
    """Compute the products of scipy.sparse with the library inside a ``with`` block.

    The operators ``@`` and ``*`` and the method ``dot`` of SciPy's sparse arrays and
    matrices, and what SciPy and other packages build on them, are affected in the thread that
    entered the block. SciPy's rules hold for results: entries that are zero are dropped, and
    integers wrap. SciPy computes what the library does not take: complex and other values,
    the formats DIA and DOK times dense operands, products of two DIA matrices, operands with
    more than two dimensions, and integers whose copies in float64 would take more than half
    of the memory. Blocks may be nested.

    A CSC matrix times a dense one, and a dense one times a CSR matrix, need a transpose. It is
    kept from the second product by the same matrix on, and made anew if the matrix was changed
    in place. With less than 16 columns, or rows on the left, even a kept transpose gains
    nothing on a CPU, and SciPy computes the product.

    Parameters
    ----------
    engine : Engine, optional
        The engine to use; by default that of :func:`matmul`.

    Yields
    ------
    Acceleration
        Its ``products`` counts what the library computed, its ``fallbacks`` what SciPy did, by
        reason.

    Raises
    ------
    ArgumentError
        If `engine` is not an engine.
    MatrixError
        By a product, if offsets or indices of an operand are out of range.
    HostMemoryError, DeviceMemoryError
        By a product, if memory is exhausted.

    Examples
    --------
    >>> import hybrid_spmm as hs, scipy.sparse as sp
    >>> A = sp.random_array((1000, 1000), density=0.01, format="csr", rng=0)
    >>> with hs.accelerate() as used:
    ...     C = A @ A
    ...     D = A @ (1j * A)
    >>> used.products, dict(used.fallbacks)
    (1, {'csr float64 @ csr complex128: values of complex128': 1})
    """
    block = Acceleration(engine)
    install()
    token = _current.set(block)
    try:
        yield block
    finally:
        _current.reset(token)
        restore()
        block._transposes.clear()
