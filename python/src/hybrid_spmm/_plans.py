"""The two kinds of plans: sparse times sparse and sparse times dense."""

from __future__ import annotations

from ctypes import byref
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _capi
from ._arrays import CODES, common
from ._dense import check_dense, deliver, dense, target
from ._errors import ArgumentError, OperandTypeError, ShapeError, StateError
from ._handle import Pages
from ._library import lib
from ._listen import Show
from ._pattern import Pattern
from ._plan import DenseProduct, Plan, SparseProduct, read_options
from ._product import F64, demand_shapes, dense_result, sparse_result
from ._scipy import format_of
from ._sparse import QUICK, Operand

if TYPE_CHECKING:
    from ._engine import Engine


def operand(matrix: Any, quiet: bool = False) -> Operand:
    """Return a sparse operand; `quiet` does not warn again of what the plan warned of."""
    kind = format_of(matrix)
    if not kind:
        raise OperandTypeError(f"the plan needs a sparse operand, not {type(matrix).__name__}")
    return Operand(matrix, kind, quiet)


class SparsePlan(SparseProduct):
    """A plan of sparse times sparse."""

    def __init__(self, engine: Engine, A: Any, B: Any, **options: Any) -> None:
        super().__init__(engine)
        a = operand(A)
        b = a if B is A else operand(B)
        demand_shapes(a.shape, b.shape)
        self.shape = (a.shape[0], b.shape[1])
        self.dtype = common(a.dtype, b.dtype)
        self._values = self.dtype if self.dtype in CODES else F64
        self._left = Pattern(self._handle, a, self._values, transpose=False)
        self._right = Pattern(self._handle, b, self._values, transpose=a.turned != b.turned)
        self._turned = a.turned
        read = read_options(flags=_capi.REUSE, **options)
        read.offsets = read.columns = _capi.INDEX_AUTO
        first, second = self._bind(a, b)
        self._make(lib.hybrid_spgemm_plan, byref(first), byref(second), byref(read))

    def __repr__(self) -> str:
        return f"<hybrid_spmm.Plan: sparse {self.shape[0]} x {self.shape[1]}, {self.dtype}>"

    def _compute(self, A: Any, B: Any, show: Show | None) -> Any:
        a = operand(A, quiet=True)
        b = a if B is A else operand(B, quiet=True)
        demand_type(self.dtype, common(a.dtype, b.dtype))

        def product(a: Operand, b: Operand, dtype: Any) -> Pages:
            pages = Pages(self._handle, _capi.Csr(), lib.hybrid_csr_free)
            first, second = self._bind(a, b)
            self._handle.call(
                lib.hybrid_spgemm_run,
                self._pointer,
                byref(first),
                byref(second),
                byref(pages.struct),
                listen=first.nnz * second.nnz + first.rows > QUICK,
                show=show,
            )
            return pages

        return sparse_result(A, B, a, b, product)

    def _bind(self, a: Operand, b: Operand) -> tuple[_capi.Csr, _capi.Csr]:
        """Return the structs in the order in which the library multiplies them."""
        first = self._left.bind(a)
        second = first if b is a else self._right.bind(b)
        return (second, first) if self._turned else (first, second)


class DensePlan(DenseProduct):
    """A plan of sparse times dense."""

    def __init__(self, engine: Engine, A: Any, columns: int, dtype: Any, **options: Any) -> None:
        super().__init__(engine)
        a = operand(A)
        self.shape = (a.shape[0], columns)
        self.dtype = common(a.dtype, dtype)
        self._values = self.dtype if self.dtype in CODES else F64
        self._pattern = Pattern(self._handle, a, self._values, transpose=a.turned)
        self._resident = bool(options.get("resident"))
        self._data = A.data if self._resident else None
        struct = self._pattern.bind(a)
        self._make(lib.hybrid_spmm_plan, byref(struct), columns, byref(read_options(**options)))

    def __repr__(self) -> str:
        return f"<hybrid_spmm.Plan: dense {self.shape[0]} x {self.shape[1]}, {self.dtype}>"

    def refresh(self) -> None:
        """Tell a resident plan that the values of A were changed in place."""
        self._handle.tell(lib.hybrid_plan_refresh, self._pointer)

    def _compute(
        self, A: Any, X: Any, out: Any, alpha: float, beta: float, show: Show | None
    ) -> Any:
        a, X = operand(A, quiet=True), check_dense(X)
        demand_type(self.dtype, common(a.dtype, X.dtype))
        columns = 1 if X.ndim == 1 else X.shape[1]
        if columns != self.shape[1]:
            raise StateError(f"X has {columns} columns; the plan is for {self.shape[1]}")
        if self._resident and A.data is not self._data:
            self._data = A.data
            self.refresh()

        def product(a: Operand, X: Any, dtype: Any, out: Any, alpha: float, beta: float) -> Any:
            struct = self._pattern.bind(a)
            result = target(self._handle, struct.rows, X, dtype, out, beta)
            x, y = dense(X, dtype), dense(result, dtype)
            self._handle.call(
                lib.hybrid_spmm_run,
                self._pointer,
                alpha,
                byref(struct),
                byref(x),
                beta,
                byref(y),
                listen=(struct.nnz + struct.rows) * columns > QUICK,
                show=show,
            )
            return deliver(result, out)

        return dense_result(a, X, out, alpha, beta, product)


def demand_type(planned: Any, found: Any) -> None:
    """Raise if a plan is given operands whose product has another type."""
    if planned != found:
        raise StateError(f"the plan is of a product in {planned}, not {found}")


def make_plan(engine: Engine, A: Any, B: Any, **options: Any) -> Plan:
    """Return a plan of A @ B, where B is sparse, dense, or a number of columns."""
    if format_of(B):
        if options.get("resident"):
            raise ArgumentError("resident is for plans of sparse times dense")
        return SparsePlan(engine, A, B, **options)
    if isinstance(B, (int, np.integer)):
        if B < 0:
            raise ShapeError(f"the number of columns is {B}")
        return DensePlan(engine, A, int(B), operand(A).dtype, **options)
    X = check_dense(B)
    demand_shapes(A.shape, X.shape)
    return DensePlan(engine, A, 1 if X.ndim == 1 else X.shape[1], X.dtype, **options)
