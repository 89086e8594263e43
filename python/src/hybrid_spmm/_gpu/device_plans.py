"""Plans of products in the memory of a GPU.

Every run waits for the current stream of the operands' library, and is complete when the call
returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._errors import ArgumentError, OperandTypeError, ShapeError, StateError
from .._native import capi
from .._native.fork_lock import ForkLock
from .._native.handle import Pages, sparse_pages
from .._native.library import lib
from .._native.listen import Show
from .._operands.arrays import DTYPES, INDEX_DTYPES
from .._products.plan import DenseProduct, Plan, SparseProduct, read_options
from .._products.product import demand_shapes
from . import device_operands
from .device_operands import Matrix, common, dense, layout, new_dense
from .foreign import Flat, Library, View

if TYPE_CHECKING:
    from .._engine import Engine

unpack = capi.CSR.unpack_from


def on_stream(engine: Any, stream: int | None, function: Callable[..., int], *rest: Any) -> int:
    """Call a function of the library that waits for a stream first."""
    lib.hybrid_engine_stream(engine, stream)
    try:
        return function(*rest)
    finally:
        lib.hybrid_engine_stream(engine, None)


def target(
    library: Library, a: Matrix, out: Any, shape: tuple[int, ...], dtype: Any
) -> tuple[Any, bytes]:
    """Return `out` or a new array for a product of that shape, and its packed struct."""
    if out is None:
        return new_dense(library, a, shape, dtype)
    result = library.own(out)
    view = library.view(result)
    check_out(view, shape, dtype)
    return result, dense(library, result, view, dtype)[0]


def check_out(found: View, shape: tuple[int, ...], dtype: Any) -> None:
    """Raise unless an array can hold a product of that shape and type."""
    if found[1] != shape or found[3] != dtype:
        raise ShapeError(
            f"out has shape {found[1]} and {found[3]}; the product has {shape} and {dtype}"
        )
    if layout(found) is None:
        raise ArgumentError("out on a device must be in C or Fortran order")


def sparse_result(pages: Pages, shape: tuple[int, int], a: Matrix) -> Any:
    """Return A B, of which `pages` holds the result, as a matrix of the library of A."""
    rows, _, nnz, offset_type, offsets, columns, values, kind, column_type, _ = unpack(pages.struct)
    made = [
        (offsets, rows + 1, INDEX_DTYPES[offset_type]),
        (columns, nnz, INDEX_DTYPES[column_type or capi.I32]),
        (values, nnz, DTYPES[kind]),
    ]
    return a.library.matrix("csc" if a.turned else "csr", shape, made, pages, a.arrays[2])


class DevicePlan(Plan):
    """What plans of both kinds of product on a device have in common."""

    def __init__(self, engine: Engine, a: Matrix, **options: Any) -> None:
        super().__init__(engine)
        self._library, self._device = a.library, a.device
        self._patterns: list[tuple[Any, Flat, Any, Flat]] = []
        self._options = read_options(**options)
        self._options.flags |= capi.CHECK
        self._options.result_space = device_operands.SPACE

    def _run(self, show: Show | None, function: Callable[..., int], *arguments: Any) -> None:
        handle, stream = self._handle, self._library.stream(self._device)
        arguments = handle.pointer, stream, function, self._pointer, *arguments
        handle.run(on_stream, arguments, True, show)

    def _plan(self, function: Callable[..., int], *arguments: Any) -> None:
        stream = self._library.stream(self._device)

        def make(engine: Any, *rest: Any) -> int:
            return on_stream(engine, stream, function, engine, *rest)

        self._make(make, *arguments)

    def _demand(self, *operands: Matrix) -> None:
        """Raise unless the operands have the patterns that were planned for."""
        if not self._patterns:
            self._patterns = [(m.arrays[0], m.flat[0], m.arrays[1], m.flat[1]) for m in operands]
        for m, (indptr, ends, indices, columns) in zip(operands, self._patterns, strict=True):
            if m.flat[0] == ends and m.flat[1] == columns:
                continue
            same = self._library.same  # other arrays, whose elements have to be the same
            if not (same(m.arrays[0], indptr) and same(m.arrays[1], indices)):
                raise StateError("the pattern of an operand is not the planned one")


class DeviceDensePlan(DevicePlan, DenseProduct):
    """A plan of sparse times dense on a device."""

    def __init__(self, engine: Engine, a: Matrix, columns: int, dtype: Any, **options: Any) -> None:
        super().__init__(engine, a, **options)
        a = a.held(turned=False)
        self.shape = (a.shape[0], columns)
        self.dtype = common(a.dtype, dtype)
        self._options.x_space = device_operands.SPACE
        self._demand(a)
        struct, _kept = a.bind(self.dtype)
        self._plan(lib.hybrid_spmm_plan, struct, columns, self._options)

    def multiply(
        self, a: Matrix, X: Any, view: View, out: Any, alpha: float, beta: float, show: Show | None
    ) -> Any:
        """Return alpha A X + beta out; `view` is that of X."""
        library, a, dtype = self._library, a.held(turned=False), self.dtype
        self._demand(a)
        shape = self.shape if len(view[1]) == 2 else self.shape[:1]
        result, y = target(library, a, out, shape, dtype)
        x, _kept = dense(library, X, view, dtype)
        struct, _kept_too = a.bind(dtype)
        self._run(show, lib.hybrid_spmm_run, alpha, struct, x, beta, y)
        return result if out is None else out

    def _compute(
        self, A: Any, X: Any, out: Any, alpha: float, beta: float, show: Show | None
    ) -> Any:
        if beta != 0 and out is None:
            raise ArgumentError("beta needs out, which holds the matrix that it multiplies")
        a, X = Matrix(self._library, A), self._library.own(X)
        view = self._library.view(X)
        demand_shapes(a.shape, view[1])
        return self.multiply(a, X, view, out, alpha, beta, show)


class DeviceSparsePlan(DevicePlan, SparseProduct):
    """A plan of sparse times sparse on a device."""

    def __init__(self, engine: Engine, a: Matrix, b: Matrix, **options: Any) -> None:
        super().__init__(engine, a, **options)
        self.shape = (a.shape[0], b.shape[1])
        self.dtype = common(a.dtype, b.dtype)
        self._options.offsets = self._options.columns = capi.INDEX_AUTO
        self._turned = a.turned
        (first, _kept), (second, _kept_too) = self._bind(a, b)
        self._plan(lib.hybrid_spgemm_plan, first, second, self._options)

    def _bind(self, a: Matrix, b: Matrix) -> tuple[tuple[bytes, Any], tuple[bytes, Any]]:
        """Return what Matrix.bind() does, in the order in which the library multiplies."""
        b = b.held(a.turned)
        self._demand(a, b)
        first = a.bind(self.dtype)
        second = first if b is a else b.bind(self.dtype)
        return (second, first) if self._turned else (first, second)

    def multiply(self, a: Matrix, b: Matrix, show: Show | None) -> Any:
        """Return A @ B as a matrix of the operands' library."""
        pages = sparse_pages(self._handle)
        (first, _kept), (second, _kept_too) = self._bind(a, b)
        self._run(show, lib.hybrid_spgemm_run, first, second, pages.struct)
        return sparse_result(pages, self.shape, a)

    def _compute(self, A: Any, B: Any, show: Show | None) -> Any:
        a = Matrix(self._library, A)
        return self.multiply(a, a if B is A else Matrix(self._library, B), show)


# ---- plans of the default engine ---------------------------------------------------------

_engines: dict[int, Engine] = {}
_lock = ForkLock()


def engine_for(engine: Engine, device: int) -> Engine:
    """Return the engine of a GPU, if `engine` is the default one, which uses the first GPU."""
    if device == 0:
        return engine
    from .._engine import Engine, is_default

    if not is_default(engine):
        return engine
    with _lock:
        if device not in _engines:
            _engines[device] = Engine(devices=[device])
        return _engines[device]


def make_device_plan(
    library: Library, engine: Engine, A: Any, B: Any, **options: Any
) -> DevicePlan:
    """Return a plan of A @ B, where B is sparse, dense, or a number of columns."""
    if not library.is_sparse(A):
        raise OperandTypeError(f"a sparse matrix is needed, not {type(A).__name__}")
    a = Matrix(library, A)
    engine = engine_for(engine, a.device)
    if isinstance(B, int):
        return DeviceDensePlan(engine, a, B, a.dtype, **options)
    if library.is_sparse(B):
        b = a if B is A else Matrix(library, B)
        demand_shapes(a.shape, b.shape)
        return DeviceSparsePlan(engine, a, b, flags=capi.REUSE, **options)
    view = library.view(library.own(B))
    demand_shapes(a.shape, view[1])
    columns = view[1][1] if len(view[1]) == 2 else 1
    return DeviceDensePlan(engine, a, columns, view[3], **options)
