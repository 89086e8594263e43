"""SciPy's LinearOperator over plans that keep a matrix and its transpose resident."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from scipy.sparse.linalg import LinearOperator

from ._arrays import CODES, common
from ._plans import DensePlan, operand
from ._product import F64
from ._scipy import sparse
from ._sparse import Operand, check, to_scipy, transposed, with_values

if TYPE_CHECKING:
    from ._engine import Engine

PLANS = 2  # of a matrix: for vectors, and for the width of blocks that was used last


class Resident:
    """A matrix by rows, transposed at the first product if need be, and its plans."""

    def __init__(self, engine: Engine, a: Operand, dtype: Any) -> None:
        self._engine = engine
        self._operand = a
        self._dtype = dtype
        self._handle = engine._alive()
        self._matrices: dict[Any, Any] = {}  # by dtype
        self._plans: OrderedDict[tuple[int, Any], DensePlan] = OrderedDict()

    def matrix(self, dtype: Any) -> Any:
        """Return the matrix as csr with values of `dtype`."""
        if not self._matrices:
            a, found = self._operand, self._operand.matrix
            if a.turned:
                pages = transposed(self._handle, a, self._dtype).keep
                found = to_scipy(sparse().csr_array, False, pages)
            self._matrices[self._dtype] = found if found.format == "csr" else found.T
        if dtype not in self._matrices:
            found = self._matrices[self._dtype]
            self._matrices[dtype] = with_values(found, found.data.astype(dtype))
        return self._matrices[dtype]

    def __call__(self, X: Any) -> Any:
        """Return the product with a dense X of one or two dimensions."""
        if X.dtype.kind == "c":
            return self(X.real) + 1j * self(X.imag)
        if self._handle is not self._engine._alive():  # in the child of a fork
            self._handle = self._engine._alive()
            self._plans.clear()
        key = (1 if X.ndim == 1 else X.shape[1]), common(self._dtype, X.dtype)
        matrix = self.matrix(key[1])
        if key not in self._plans:
            self._plans[key] = DensePlan(self._engine, matrix, *key, resident=True)
            if len(self._plans) > PLANS:
                self._plans.popitem(last=False)
        self._plans.move_to_end(key)
        return self._plans[key](matrix, X)


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
