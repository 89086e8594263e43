"""The two kinds of plans: sparse times sparse and sparse times dense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import ArgumentError, OperandTypeError, ShapeError, StateError
from .._native import capi
from .._native.handle import Pages, sparse_pages
from .._native.library import lib
from .._native.listen import Show
from .._operands.arrays import CODES, common
from .._operands.dense import check_dense, deliver, dense, target
from .._operands.pattern import Pattern
from .._operands.scipy_classes import format_of
from .._operands.sparse import QUICK, Bound, Operand
from .plan import DenseProduct, Plan, SparseProduct, read_options
from .product import (
    F64,
    demand_plain,
    demand_shapes,
    exact_dense,
    exact_sparse,
    finished,
    product_type,
)

if TYPE_CHECKING:
    from .._engine import Engine


def operand(matrix: Any, quiet: bool = False) -> Operand:
    """Return a sparse operand; `quiet` does not warn again of what the plan warned of."""
    kind = format_of(matrix)
    if not kind:
        raise OperandTypeError(f"a sparse matrix is needed, not {type(matrix).__name__}")
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
        read = read_options(flags=capi.REUSE, **options)
        read.offsets = read.columns = capi.INDEX_AUTO
        first, second = self._bind(a, b)
        self._make(lib.hybrid_spgemm_plan, first[0], second[0], read)

    def __repr__(self) -> str:
        return f"<hybrid_spmm.Plan: sparse {self.shape[0]} x {self.shape[1]}, {self.dtype}>"

    def _compute(self, A: Any, B: Any, show: Show | None) -> Any:
        a = operand(A, quiet=True)
        b = a if B is A else operand(B, quiet=True)
        dtype = product_type(a, b)
        if dtype is not self.dtype:
            demand_type(self.dtype, dtype)
        if dtype in CODES:
            return finished(A, B, a, b, self._run(a, b, show))
        return exact_sparse(A, B, a, b, dtype, lambda a, b: self._run(a, b, show))

    def _run(self, a: Operand, b: Operand, show: Show | None) -> Pages:
        """Return A @ B, or its transpose if A is turned, as the library's CSR."""
        handle = self._handle
        pages = sparse_pages(handle)
        (left, rows, nnz, _kept), (right, _, other_nnz, _kept_too) = self._bind(a, b)
        handle.run(
            lib.hybrid_spgemm_run,
            (self._pointer, left, right, pages.struct),
            nnz * other_nnz + rows > QUICK,
            show,
        )
        return pages

    def _bind(self, a: Operand, b: Operand) -> tuple[Bound, Bound]:
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
        struct, _, _, _kept = self.bind(a)
        self._make(lib.hybrid_spmm_plan, struct, columns, read_options(**options))

    def __repr__(self) -> str:
        return f"<hybrid_spmm.Plan: dense {self.shape[0]} x {self.shape[1]}, {self.dtype}>"

    def refresh(self) -> None:
        """Tell a resident plan that the values of A were changed in place."""
        self._handle.tell(lib.hybrid_plan_refresh, self._pointer)

    def bind(self, a: Operand) -> Bound:
        """Return the struct of an operand; raise if its pattern is not the planned one."""
        return self._pattern.bind(a)

    def _compute(
        self, A: Any, X: Any, out: Any, alpha: float, beta: float, show: Show | None
    ) -> Any:
        a, X = operand(A, quiet=True), check_dense(X)
        dtype = product_type(a, X)
        if dtype is not self.dtype:
            demand_type(self.dtype, dtype)
        columns = X.shape[1] if X.ndim == 2 else 1
        if columns != self.shape[1]:
            raise StateError(f"X has {columns} columns; the plan is for {self.shape[1]}")
        if self._resident and A.data is not self._data:
            self._data = A.data
            self.refresh()
        if dtype in CODES:
            return self.run(self.bind(a), X, out, alpha, beta, show)

        def product(a: Operand, X: Any) -> Any:
            return self.run(self.bind(a), X, None, 1.0, 0.0, show)

        demand_plain(alpha, beta)
        return exact_dense(a, X, dtype, out, product)

    def run(
        self, bound: Bound, X: Any, out: Any, alpha: float, beta: float, show: Show | None
    ) -> Any:
        """Return alpha A X + beta out in float32 or float64."""
        handle, dtype = self._handle, self._values
        struct, rows, nnz, _kept = bound
        result = target(handle, rows, X, dtype, out, beta)
        (x, X), (y, _) = dense(X, dtype), dense(result, dtype)
        handle.run(
            lib.hybrid_spmm_run,
            (self._pointer, alpha, struct, x, beta, y),
            nnz * self.shape[1] + result.size > QUICK,
            show,
        )
        return deliver(result, out)


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
