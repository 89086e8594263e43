"""SciPy's LinearOperator over plans that keep a matrix and its transpose resident."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from scipy.sparse.linalg import LinearOperator

from .._operands.arrays import CODES, common
from .._operands.scipy_classes import sparse
from .._operands.sparse import Bound, Operand, check, to_scipy, transposed, with_values
from .plans import DensePlan, operand
from .product import F64

if TYPE_CHECKING:
    from .._engine import Engine

PLANS = 2  # kept for a matrix: for vectors, and for the width of blocks that was used last


class Resident:
    """A matrix by rows, transposed at the first product if need be, and its plans."""

    def __init__(self, engine: Engine, a: Operand, dtype: Any) -> None:
        self._engine = engine
        self._operand = a
        self._dtype = dtype
        self._handle = engine._alive()
        self._matrices: dict[Any, Any] = {}  # by dtype
        self._plans: OrderedDict[tuple[int, Any], tuple[DensePlan, Bound]] = OrderedDict()

    def matrix(self, dtype: Any) -> Any:
        """Return the matrix as csr with values of `dtype`."""
        if not self._matrices:
            a, found = self._operand, self._operand.matrix
            if a.turned:
                _, _, _, pages = transposed(self._handle, a, self._dtype)
                found = to_scipy(sparse().csr_array, a.shape, pages)
            self._matrices[self._dtype] = found if found.format == "csr" else found.T
        if dtype not in self._matrices:
            found = self._matrices[self._dtype]
            self._matrices[dtype] = with_values(found, found.data.astype(dtype))
        return self._matrices[dtype]

    def __call__(self, X: Any) -> Any:
        """Return the product with a dense X of one or two dimensions."""
        if X.dtype.kind == "c":
            return self(X.real) + 1j * self(X.imag)
        key = X.shape[1] if X.ndim == 2 else 1, common(self._dtype, X.dtype)
        planned = self._plans.get(key)
        if planned is None or self._handle is not self._engine._alive():
            planned = self._plan(*key)
        self._plans.move_to_end(key)
        plan, bound = planned
        return plan.run(bound, X, None, 1.0, 0.0, None)

    def _plan(self, columns: int, dtype: Any) -> tuple[DensePlan, Bound]:
        """Return a plan for that many columns, and the struct of the matrix."""
        if self._handle is not self._engine._alive():  # in the child of a fork
            self._handle = self._engine._alive()
            self._plans.clear()
        matrix = self.matrix(dtype)
        plan = DensePlan(self._engine, matrix, columns, dtype, resident=True)
        struct, rows, nnz, arrays = plan.bind(operand(matrix, quiet=True))
        # Weak references keep ndarray.resize() from moving the elements.
        kept = [(array, weakref.ref(array)) for array in arrays]
        planned = self._plans[columns, dtype] = plan, (struct, rows, nnz, kept)
        if len(self._plans) > PLANS:
            self._plans.popitem(last=False)
        return planned


class Operator(LinearOperator):  # type: ignore[misc]
    """A sparse matrix as a LinearOperator; see :func:`hybrid_spmm.aslinearoperator`."""

    def __init__(self, engine: Engine, A: Any) -> None:
        a = operand(A)
        dtype = common(a.dtype, a.dtype)
        dtype = dtype if dtype in CODES else F64
        check(engine._alive(), a, dtype)
        super().__init__(dtype, a.shape)
        self._forward = Resident(engine, a, dtype)
        self._backward = Resident(engine, a.transpose(), dtype)

    def _matvec(self, x: Any) -> Any:
        return self._forward(x)

    def _matmat(self, X: Any) -> Any:
        return self._forward(X)

    def _rmatvec(self, x: Any) -> Any:
        return self._backward(x)

    def _rmatmat(self, X: Any) -> Any:
        return self._backward(X)
