"""Plans of products in the memory of a GPU.

Every run waits for the current stream of the operands' library, and is complete when the call
returns.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _capi, _device
from ._arrays import DTYPES, INDEX_DTYPES
from ._device import Matrix, common, dense, layout
from ._errors import ArgumentError, OperandTypeError, ShapeError, StateError
from ._foreign import Exported, Library, Parts, View
from ._handle import Handle, Pages, sparse_pages
from ._library import lib
from ._listen import Show
from ._plan import DenseProduct, Plan, SparseProduct, read_options
from ._product import demand_shapes

if TYPE_CHECKING:
    from ._engine import Engine


def on_stream(handle: Handle, stream: int | None, function: Callable[..., int]) -> Any:
    """Return a function of the library that waits for a stream first."""

    def run(*arguments: Any) -> int:
        lib.hybrid_engine_stream(handle.pointer, stream)
        try:
            return function(*arguments)
        finally:
            lib.hybrid_engine_stream(handle.pointer, None)

    return run


def dense_operands(
    library: Library, a: Matrix, X: Any, view: View, out: Any, dtype: Any, shape: tuple[int, int]
) -> tuple[Any, tuple[bytes, Any], tuple[bytes, Any]]:
    """Return `out` or a new array for a product of that shape, and dense() of X and of it."""
    wanted = (shape[0],) if len(view.shape) == 1 else shape
    result = library.empty(wanted, dtype, a.parts.data) if out is None else library.own(out)
    found = library.view(result)
    if found.shape != wanted or found.dtype != dtype:
        raise ShapeError(
            f"out has shape {found.shape} and {found.dtype}; the product has {wanted} and {dtype}"
        )
    if layout(found) is None:
        raise ArgumentError("out on a device must be in C or Fortran order")
    return result, dense(library, X, view, dtype), dense(library, result, found, dtype)


def sparse_result(
    library: Library, pages: Pages, shape: tuple[int, int], turned: bool, a: Matrix
) -> Any:
    """Return C as a matrix of the library of its operands, over the arrays of `pages`."""
    found = pages.struct
    parts = Parts(
        "csc" if turned else "csr",
        shape,
        Exported(found.row_ptr, found.rows + 1, INDEX_DTYPES[found.offset_type], pages),
        Exported(found.col, found.nnz, INDEX_DTYPES[found.col_type or _capi.I32], pages),
        Exported(found.val, found.nnz, DTYPES[found.type], pages),
    )
    return library.matrix(parts, a.parts.data)


class DevicePlan(Plan):
    """What plans of both kinds of product on a device have in common."""

    def __init__(self, engine: Engine, a: Matrix, **options: Any) -> None:
        super().__init__(engine)
        self._library, self._device = a.library, a.device
        self._patterns: list[tuple[Any, ...]] = []
        self._options = read_options(**options)
        self._options.flags |= _capi.CHECK
        self._options.result_space = _device.SPACE

    def _run(self, function: Callable[..., int], *arguments: Any, show: Show | None) -> None:
        stream = self._library.stream(self._device)
        self._handle.run(on_stream(self._handle, stream, function), arguments, True, show)

    def _plan(self, function: Callable[..., int], *arguments: Any) -> None:
        self._make(
            on_stream(self._handle, self._library.stream(self._device), function), *arguments
        )

    def _demand(self, *operands: Matrix) -> None:
        """Raise unless the operands have the patterns that were planned for."""
        if not self._patterns:
            self._patterns = [(m.parts.indptr, m.parts.indices, *m.views[:2]) for m in operands]
        for m, (indptr, indices, *views) in zip(operands, self._patterns, strict=True):
            if m.views[:2] != views:  # other arrays, whose elements have to be the same
                planned = (m.parts.indptr, indptr), (m.parts.indices, indices)
                if not all(self._library.same(*pair) for pair in planned):
                    raise StateError("the pattern of an operand is not the planned one")


class DeviceDensePlan(DevicePlan, DenseProduct):
    """A plan of sparse times dense on a device."""

    def __init__(self, engine: Engine, a: Matrix, columns: int, dtype: Any, **options: Any) -> None:
        super().__init__(engine, a, **options)
        a = a.held(turned=False)
        self.shape = (a.parts.shape[0], columns)
        self.dtype = common(a.library, a.dtype, dtype)
        self._options.x_space = _device.SPACE
        self._demand(a)
        struct, _kept = a.bind(self.dtype)
        self._plan(lib.hybrid_spmm_plan, struct, columns, self._options)

    def multiply(
        self, a: Matrix, X: Any, view: View, out: Any, alpha: float, beta: float, show: Show | None
    ) -> Any:
        """Return alpha A X + beta out; `view` is that of X."""
        library, a = self._library, a.held(turned=False)
        self._demand(a)
        operands = dense_operands(library, a, X, view, out, self.dtype, self.shape)
        result, (x, _kept), (y, _) = operands
        struct, _kept_too = a.bind(self.dtype)
        self._run(
            lib.hybrid_spmm_run,
            self._pointer,
            alpha,
            struct,
            x,
            beta,
            y,
            show=show,
        )
        return result if out is None else out

    def _compute(
        self, A: Any, X: Any, out: Any, alpha: float, beta: float, show: Show | None
    ) -> Any:
        if beta != 0 and out is None:
            raise ArgumentError("beta needs out, which holds the matrix that it multiplies")
        a, X = Matrix(self._library, A), self._library.own(X)
        view = self._library.view(X)
        demand_shapes(a.parts.shape, view.shape)
        return self.multiply(a, X, view, out, alpha, beta, show)


class DeviceSparsePlan(DevicePlan, SparseProduct):
    """A plan of sparse times sparse on a device."""

    def __init__(self, engine: Engine, a: Matrix, b: Matrix, **options: Any) -> None:
        super().__init__(engine, a, **options)
        self.shape = (a.parts.shape[0], b.parts.shape[1])
        self.dtype = common(a.library, a.dtype, b.dtype)
        self._options.offsets = self._options.columns = _capi.INDEX_AUTO
        self._turned = a.turned
        (first, _kept), (second, _kept_too) = self._bind(a, b)
        self._plan(lib.hybrid_spgemm_plan, first, second, self._options)

    def _bind(self, a: Matrix, b: Matrix) -> tuple[tuple[bytes, Any], tuple[bytes, Any]]:
        """Return what Matrix.bind() does, in the order in which the library multiplies."""
        b = b.held(a.turned)
        self._demand(a, b)
        first, second = a.bind(self.dtype), b.bind(self.dtype)
        return (second, first) if self._turned else (first, second)

    def multiply(self, a: Matrix, b: Matrix, show: Show | None) -> Any:
        """Return A @ B as a matrix of the operands' library."""
        pages = sparse_pages(self._handle)
        (first, _kept), (second, _kept_too) = self._bind(a, b)
        self._run(
            lib.hybrid_spgemm_run,
            self._pointer,
            first,
            second,
            pages.struct,
            show=show,
        )
        return sparse_result(self._library, pages, self.shape, self._turned, a)

    def _compute(self, A: Any, B: Any, show: Show | None) -> Any:
        a = Matrix(self._library, A)
        return self.multiply(a, a if B is A else Matrix(self._library, B), show)


# ---- plans of the default engine ---------------------------------------------------------

_engines: dict[int, Engine] = {}
_lock = threading.Lock()


def engine_for(engine: Engine, device: int) -> Engine:
    """Return the engine of a GPU, if `engine` is the default one, which uses the first GPU."""
    from ._engine import Engine, is_default

    if device == 0 or not is_default(engine):
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
        raise OperandTypeError(f"the plan needs a sparse operand, not {type(A).__name__}")
    a = Matrix(library, A)
    engine = engine_for(engine, a.device)
    if isinstance(B, int):
        return DeviceDensePlan(engine, a, B, a.dtype, **options)
    if library.is_sparse(B):
        b = a if B is A else Matrix(library, B)
        demand_shapes(a.parts.shape, b.parts.shape)
        return DeviceSparsePlan(engine, a, b, flags=_capi.REUSE, **options)
    view = library.view(library.own(B))
    demand_shapes(a.parts.shape, view.shape)
    columns = view.shape[1] if len(view.shape) == 2 else 1
    return DeviceDensePlan(engine, a, columns, view.dtype, **options)
