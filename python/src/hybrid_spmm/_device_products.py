"""Products of CuPy's and PyTorch's arrays in the memory of a GPU.

The library computes on that GPU and leaves the result there. Every product waits for the
current stream of the operands' library, and is complete when the call returns.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from ctypes import byref
from typing import TYPE_CHECKING, Any

from . import _capi
from ._arrays import CODES, DTYPES, INDEX_CODES, INDEX_DTYPES
from ._errors import ArgumentError, MatrixError, OperandTypeError, ShapeError, StateError
from ._foreign import Exported, Library, Parts, View, library_of
from ._handle import Handle, Pages
from ._library import lib
from ._listen import Show
from ._plan import Plan, read_options
from ._product import demand_shapes
from ._progress import Progress, showing
from ._sparse import warn

if TYPE_CHECKING:
    from ._engine import Engine

SPACE = _capi.SPACE_DEVICE


class Matrix:
    """A sparse operand on a device, as the library reads it.

    ``parts`` holds the arrays of ``original``, and the shape of the operand; ``turned`` says
    that the arrays are the CSR of the operand's transpose.
    """

    def __init__(self, library: Library, operand: Any) -> None:
        kind = library.format(operand)
        self.library = library
        self.original = library.convert(operand, kind if kind == "csc" else "csr")
        self.parts: Parts = library.parts(self.original)
        self.views = [library.view(array) for array in self.parts[2:]]
        self.turned = self.parts.format == "csc"
        self.dtype = self.views[2].dtype
        self.device = library.device(self.parts.data)

    def over(self, original: Any, turned: bool) -> Matrix:
        """Return the same operand over the arrays of another matrix."""
        result = Matrix.__new__(Matrix)
        result.__dict__.update(self.__dict__)
        result.original, result.turned = original, turned
        result.parts = self.library.parts(original)._replace(shape=self.parts.shape)
        result.views = [self.library.view(array) for array in result.parts[2:]]
        return result

    def transpose(self) -> Matrix:
        """Return the operand that is the transpose, over the same arrays."""
        result = self.over(self.original, not self.turned)
        result.parts = self.parts._replace(shape=self.parts.shape[::-1])
        return result

    def held(self, turned: bool) -> Matrix:
        """Return the operand held by rows, or turned; its library converts it if need be."""
        if turned == self.turned:
            return self
        other = "csc" if self.parts.format == "csr" else "csr"
        return self.over(self.library.convert(self.original, other), turned)

    def bind(self, dtype: Any) -> _capi.Csr:
        """Return the struct; values of another type are converted on the device."""
        library, parts, views = self.library, self.parts, self.views
        arrays: list[Any] = list(parts[2:])
        if self.dtype != dtype or any(view.strides != (1,) for view in views):
            if self.dtype != dtype:
                arrays[2] = library.cast(arrays[2], dtype)
            arrays = [plain(library, array) for array in arrays]
            views = [library.view(array) for array in arrays]
        offsets, columns, values = views
        rows, cols = parts.shape[::-1] if self.turned else parts.shape
        nnz = columns.shape[0]
        if offsets.shape != (rows + 1,) or values.shape != (nnz,):
            raise MatrixError(
                f"{rows} rows with {nnz} indices have {offsets.shape[0]} offsets "
                f"and values of shape {values.shape}"
            )
        struct = _capi.Csr(
            rows,
            cols,
            nnz,
            INDEX_CODES[offsets.dtype],
            offsets.pointer,
            columns.pointer,
            values.pointer,
            CODES[dtype],
            INDEX_CODES[columns.dtype],
            SPACE,
        )
        struct.keep = arrays
        return struct

    def repaired(self) -> Matrix:
        """Return the operand sorted and without repeated entries; raise if it is damaged."""
        parts, size = self.parts, self.parts.shape[self.turned ^ 1]
        offsets, columns = parts.indptr, parts.indices
        sound = (
            int(offsets[0]) == 0
            and int(offsets[-1]) == columns.shape[0]
            and bool((offsets[1:] >= offsets[:-1]).all())
            and bool(((columns >= 0) & (columns < size)).all())
        )
        if not sound:
            raise MatrixError("offsets of a matrix on a device fall, or an index is out of range")
        warn("unsorted, or has duplicate entries")
        return self.over(self.library.canonical(self.original), self.turned)


def plain(library: Library, array: Any) -> Any:
    """Return an array of one dimension without gaps, copied if it has some."""
    view = library.view(array)
    if len(view.shape) != 1:
        raise MatrixError(f"an array of a sparse matrix has {len(view.shape)} dimensions")
    return array if view.strides == (1,) else library.cast(array, view.dtype)


def layout(view: View) -> tuple[int, int, int, int] | None:
    """Return rows, columns, ld and order of a dense array, or None if it must be copied."""
    rows, cols = view.shape if len(view.shape) == 2 else (view.shape[0], 1)
    down, right = view.strides if len(view.shape) == 2 else (view.strides[0], 1)
    if (right == 1 or cols < 2) and (down >= cols or rows < 2):
        return rows, cols, max(down if rows > 1 else cols, cols, 1), _capi.ROW_MAJOR
    if (down == 1 or rows < 2) and (right >= rows or cols < 2):
        return rows, cols, max(right if cols > 1 else rows, rows, 1), _capi.COL_MAJOR
    return None


def dense(library: Library, array: Any, view: View, dtype: Any) -> _capi.Dense:
    """Return the struct of a dense operand; C and Fortran order are not copied."""
    found = layout(view) if view.dtype == dtype else None
    if found is None:
        array = library.cast(array, dtype)
        view = library.view(array)
        found = layout(view)
        assert found is not None
    struct = _capi.Dense(*found, view.pointer, CODES[dtype], SPACE)
    struct.keep = array
    return struct


def common(library: Library, a: Any, b: Any) -> Any:
    """Return the type of a product of float32 and float64; raise if one has another type."""
    for dtype in (a, b):
        if dtype not in CODES:
            raise OperandTypeError(
                f"values of {dtype} on a device are not supported; float32 and float64 are"
            )
    return DTYPES[max(CODES[a], CODES[b])]


def on_stream(handle: Handle, stream: int | None, function: Callable[..., int]) -> Any:
    """Return a function of the library that waits for a stream first."""

    def run(*arguments: Any) -> int:
        lib.hybrid_engine_stream(handle.pointer, stream)
        try:
            return function(*arguments)
        finally:
            lib.hybrid_engine_stream(handle.pointer, None)

    return run


class DevicePlan(Plan):
    """What plans of both kinds of product on a device have in common."""

    def __init__(self, engine: Engine, a: Matrix, **options: Any) -> None:
        super().__init__(engine)
        self._library, self._device = a.library, a.device
        self._patterns: list[tuple[Any, ...]] = []
        self._options = read_options(**options)
        self._options.flags |= _capi.CHECK
        self._options.result_space = SPACE

    def _run(self, function: Callable[..., int], *arguments: Any, show: Show | None) -> None:
        stream = self._library.stream(self._device)
        self._handle.call(on_stream(self._handle, stream, function), *arguments, show=show)

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


class DeviceDensePlan(DevicePlan):
    """A plan of sparse times dense on a device."""

    def __init__(self, engine: Engine, a: Matrix, columns: int, dtype: Any, **options: Any) -> None:
        super().__init__(engine, a, **options)
        a = a.held(turned=False)
        self.shape = (a.parts.shape[0], columns)
        self.dtype = common(a.library, a.dtype, dtype)
        self._options.x_space = SPACE
        self._demand(a)
        struct = a.bind(self.dtype)
        self._plan(lib.hybrid_spmm_plan, byref(struct), columns, byref(self._options))

    def multiply(
        self, a: Matrix, X: Any, view: View, out: Any, alpha: float, beta: float, show: Show | None
    ) -> Any:
        """Return alpha A X + beta out; `view` is that of X."""
        library, a = self._library, a.held(turned=False)
        self._demand(a)
        shape = (self.shape[0],) if len(view.shape) == 1 else self.shape
        result = library.empty(shape, self.dtype, a.parts.data) if out is None else library.own(out)
        found = library.view(result)
        if found.shape != shape or found.dtype != self.dtype:
            raise ShapeError(
                f"out has shape {found.shape} and {found.dtype}; "
                f"the product has {shape} and {self.dtype}"
            )
        if layout(found) is None:
            raise ArgumentError("out on a device must be in C or Fortran order")
        x, y = dense(library, X, view, self.dtype), dense(library, result, found, self.dtype)
        struct = a.bind(self.dtype)
        self._run(
            lib.hybrid_spmm_run,
            self._pointer,
            alpha,
            byref(struct),
            byref(x),
            beta,
            byref(y),
            show=show,
        )
        return result if out is None else out

    def __call__(
        self,
        A: Any,
        X: Any,
        *,
        out: Any = None,
        alpha: float = 1.0,
        beta: float = 0.0,
        progress: Progress = False,
    ) -> Any:
        """Return alpha A X + beta out; A has the pattern that was planned for."""
        if beta != 0 and out is None:
            raise ArgumentError("beta needs out, which holds the matrix that it multiplies")
        a, X = Matrix(self._library, A), self._library.own(X)
        view = self._library.view(X)
        demand_shapes(a.parts.shape, view.shape)
        if progress is False:
            return self.multiply(a, X, view, out, alpha, beta, None)
        with showing(progress) as show:
            return self.multiply(a, X, view, out, alpha, beta, show)


class DeviceSparsePlan(DevicePlan):
    """A plan of sparse times sparse on a device."""

    def __init__(self, engine: Engine, a: Matrix, b: Matrix, **options: Any) -> None:
        super().__init__(engine, a, **options)
        self.shape = (a.parts.shape[0], b.parts.shape[1])
        self.dtype = common(a.library, a.dtype, b.dtype)
        self._options.offsets = self._options.columns = _capi.INDEX_AUTO
        self._turned = a.turned
        first, second = self._bind(a, b)
        self._plan(lib.hybrid_spgemm_plan, byref(first), byref(second), byref(self._options))

    def _bind(self, a: Matrix, b: Matrix) -> tuple[_capi.Csr, _capi.Csr]:
        """Return the structs in the order in which the library multiplies them."""
        b = b.held(a.turned)
        self._demand(a, b)
        first, second = a.bind(self.dtype), b.bind(self.dtype)
        return (second, first) if self._turned else (first, second)

    def multiply(self, a: Matrix, b: Matrix, show: Show | None) -> Any:
        """Return A @ B as a matrix of the operands' library."""
        pages = Pages(self._handle, _capi.Csr(), lib.hybrid_csr_free)
        first, second = self._bind(a, b)
        self._run(
            lib.hybrid_spgemm_run,
            self._pointer,
            byref(first),
            byref(second),
            byref(pages.struct),
            show=show,
        )
        found = pages.struct
        parts = Parts(
            "csc" if self._turned else "csr",
            self.shape,
            Exported(found.row_ptr, found.rows + 1, INDEX_DTYPES[found.offset_type], pages),
            Exported(found.col, found.nnz, INDEX_DTYPES[found.col_type or _capi.I32], pages),
            Exported(found.val, found.nnz, DTYPES[found.type], pages),
        )
        return self._library.matrix(parts, a.parts.data)

    def __call__(self, A: Any, B: Any, *, progress: Progress = False) -> Any:
        """Return A @ B, whose patterns are those that were planned for."""
        a = Matrix(self._library, A)
        b = a if B is A else Matrix(self._library, B)
        if progress is False:
            return self.multiply(a, b, None)
        with showing(progress) as show:
            return self.multiply(a, b, show)


# ---- one-shot products -----------------------------------------------------------------

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


def library_for(A: Any, B: Any) -> Library | None:
    """Return the library whose arrays on a GPU are to be multiplied, None for host memory."""
    left, right = library_of(A), library_of(B)
    if left is None and right is None:
        return None
    here = [
        (library, operand)
        for library, operand in ((left, A), (right, B))
        if library is not None and library.on_device(operand)
    ]
    for library, operand in here:
        if library.is_sparse(operand):
            return library
    return here[0][0] if here else None


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


def multiply_on_device(
    library: Library,
    engine: Engine,
    A: Any,
    B: Any,
    out: Any,
    alpha: float,
    beta: float,
    show: Show | None,
) -> Any:
    """Return A @ B, or alpha A B + beta out, in the memory of the GPU of the operands."""
    left, right = library.is_sparse(A), library.is_sparse(B)
    if left and right:
        if out is not None or alpha != 1 or beta != 0:
            raise ArgumentError("out, alpha and beta need a dense operand")
        a = Matrix(library, A)
        b = a if B is A else Matrix(library, B)
        demand_shapes(a.parts.shape, b.parts.shape)
        return spgemm(engine_for(engine, a.device), a, b, show)
    if not left and not right:
        raise OperandTypeError(
            f"neither operand is sparse: {type(A).__name__} and {type(B).__name__}"
        )
    if left:
        a, X = Matrix(library, A), library.own(B)
        return spmm(engine_for(engine, a.device), a, X, out, alpha, beta, show)
    # X B is the transpose of B^T X^T.
    b, X = Matrix(library, B).transpose(), library.own(A)
    demand_shapes(library.view(X).shape, b.parts.shape[::-1])
    target = None if out is None else turned(out)
    result = spmm(engine_for(engine, b.device), b, turned(X), target, alpha, beta, show)
    return turned(result) if out is None else out


def turned(array: Any) -> Any:
    """Return the transpose of an array of one or two dimensions, without a copy."""
    return array.T if len(array.shape) == 2 else array


def spgemm(engine: Engine, a: Matrix, b: Matrix, show: Show | None) -> Any:
    """Plan and compute sparse times sparse; operands that are not canonical are repaired."""
    try:
        return DeviceSparsePlan(engine, a, b).multiply(a, b, show)
    except MatrixError:
        a, b = (a.repaired(), b.repaired()) if b is not a else (a.repaired(),) * 2
        return DeviceSparsePlan(engine, a, b).multiply(a, b, show)


def spmm(
    engine: Engine, a: Matrix, X: Any, out: Any, alpha: float, beta: float, show: Show | None
) -> Any:
    """Plan and compute sparse times dense; an operand that is not canonical is repaired."""
    view = a.library.view(X)
    if not 1 <= len(view.shape) <= 2:
        raise ShapeError(f"a dense operand has {len(view.shape)} dimensions; 1 and 2 are supported")
    demand_shapes(a.parts.shape, view.shape)
    if beta != 0 and out is None:
        raise ArgumentError("beta needs out, which holds the matrix that it multiplies")
    columns = view.shape[1] if len(view.shape) == 2 else 1
    try:
        plan = DeviceDensePlan(engine, a, columns, view.dtype)
    except MatrixError:
        a = a.repaired()
        plan = DeviceDensePlan(engine, a, columns, view.dtype)
    return plan.multiply(a, X, view, out, alpha, beta, show)
