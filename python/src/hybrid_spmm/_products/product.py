"""One-shot products: sparse times sparse, sparse times dense, dense times sparse."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from .._errors import ArgumentError, MatrixError, OperandTypeError, ShapeError
from .._native import capi
from .._native.handle import Handle, Pages, sparse_pages
from .._native.library import lib
from .._native.listen import Show
from .._operands.arrays import CODES, common
from .._operands.dense import check_dense, check_out, converted, deliver, dense, target
from .._operands.exact import demand_exact, longest_row, narrow, peak
from .._operands.sparse import (
    QUICK,
    Bound,
    Operand,
    absolute,
    arrays_of,
    check,
    result_class,
    to_scipy,
    transposed,
    with_values,
)

F64 = np.dtype(np.float64)


def multiply(
    handle: Handle,
    A: Any,
    B: Any,
    left: str | None,
    right: str | None,
    out: Any,
    alpha: float,
    beta: float,
    show: Show | None,
) -> Any:
    """Return A @ B, or alpha A B + beta out if an operand is dense.

    `left` and `right` are what format_of() says of A and B.
    """
    if left and right:
        if out is not None or alpha != 1 or beta != 0:
            raise ArgumentError("out, alpha and beta need a dense operand")
        a = Operand(A, left, False)
        b = a if B is A else Operand(B, right, False)
        return multiply_sparse(handle, A, B, a, b, show)
    if left:
        a, X = Operand(A, left, False), check_dense(B)
        return multiply_dense(handle, a, X, out, alpha, beta, show, transposed)
    if right:
        # X B is the transpose of B^T X^T.
        turned = Operand(B, right, False).transpose()
        target = out.T if isinstance(out, np.ndarray) else out
        X = check_dense(A)
        demand_shapes(X.shape, B.shape)
        product = multiply_dense(handle, turned, X.T, target, alpha, beta, show, transposed)
        return product.T if out is None else out
    raise OperandTypeError(f"neither operand is sparse: {type(A).__name__} and {type(B).__name__}")


def demand_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Raise unless operands of these shapes can be multiplied."""
    if a[-1] != b[0]:
        raise ShapeError(f"the operands have shapes {a} and {b}: {a[-1]} columns meet {b[0]} rows")


def product_type(a: Any, b: Any) -> Any:
    """Return the type of a product, of which one operand is sparse; check the shapes."""
    left, right = a.shape, b.shape
    if left[-1] != right[0]:
        demand_shapes(left, right)
    return common(a.dtype, b.dtype)


# ---- sparse times sparse ---------------------------------------------------------------

Spgemm = Callable[[Operand, Operand], Pages]


def multiply_sparse(
    handle: Handle, A: Any, B: Any, a: Operand, b: Operand, show: Show | None
) -> Any:
    """Return A @ B as SciPy's matrix."""
    dtype = product_type(a, b)
    if dtype in CODES:
        return finished(A, B, a, b, spgemm(handle, a, b, dtype, show))
    return exact_sparse(A, B, a, b, dtype, lambda a, b: spgemm(handle, a, b, F64, show))


def finished(A: Any, B: Any, a: Operand, b: Operand, pages: Pages) -> Any:
    """Return a product as a matrix of A's class and format."""
    cls = result_class(A, a.turned)
    result = to_scipy(cls, (a.shape[0], b.shape[1]), pages)
    return result if cls is type(A) else in_blocks(A, B, result)


def in_blocks(A: Any, B: Any, result: Any) -> Any:
    """Return a product as bsr, in the blocks that SciPy takes, if A is bsr."""
    if A.format != "bsr":
        return result
    blocks = A.blocksize[0], B.blocksize[1] if B.format == "bsr" else 1
    return result.tobsr(blocksize=blocks)


def exact_sparse(A: Any, B: Any, a: Operand, b: Operand, dtype: Any, product: Spgemm) -> Any:
    """Return A @ B in integers; `product` computes it in float64."""
    pages = product(a, b)
    demand_exact(
        peak(a.matrix.data) * peak(b.matrix.data) * sum_terms(a, b),
        lambda: arrays_of(product(absolute(a), absolute(b)))[2],
    )
    result = to_scipy(result_class(A, a.turned), (a.shape[0], b.shape[1]), pages)
    return in_blocks(A, B, with_values(result, narrow(result.data, dtype)))


def sum_terms(a: Operand, b: Operand) -> int:
    """Return a bound on the number of products in one sum of A @ B."""
    if not a.turned:
        return longest_row(a.matrix.indptr)
    return longest_row(b.matrix.indptr) if b.turned else a.shape[1]


def checked(index: int) -> Any:
    """Return options that check everything and give indices of that width."""
    options = capi.PlanOptions(ctypes.sizeof(capi.PlanOptions), capi.CHECK)
    options.order = capi.ROW_MAJOR
    options.offsets = options.columns = index
    return options


ONE_SHOT = checked(capi.INDEX_AUTO)  # 32 bits where these suffice
CHECKED = checked(capi.INDEX_DEFAULT)


def spgemm(handle: Handle, a: Operand, b: Operand, dtype: Any, show: Show | None) -> Pages:
    """Return A @ B, or its transpose if A is turned, as the library's CSR."""
    pages = sparse_pages(handle)
    first = a.bind(dtype)
    if b is a:
        second = first
    elif a.turned == b.turned:
        second = b.bind(dtype)
    else:
        second = transposed(handle, b, dtype)
    if a.turned:
        first, second = second, first
    (left, rows, nnz, _kept), (right, _, other_nnz, _kept_too) = first, second
    try:
        handle.run(
            lib.hybrid_spgemm_with,
            (handle.pointer, ONE_SHOT, left, right, pages.struct),
            nnz * other_nnz + rows > QUICK,
            show,
        )
    except MatrixError:
        repaired = a.repaired, b.repaired
        check(handle, a, dtype)
        check(handle, b, dtype)
        if repaired == (a.repaired, b.repaired):
            raise
        return spgemm(handle, a, b, dtype, show)
    return pages


# ---- sparse times dense ----------------------------------------------------------------

Turn = Callable[[Handle, Operand, Any], Bound]
Spmm = Callable[[Operand, Any], Any]


def multiply_dense(
    handle: Handle,
    a: Operand,
    X: Any,
    out: Any,
    alpha: float,
    beta: float,
    show: Show | None,
    turn: Turn,
) -> Any:
    """Return alpha A X + beta out for a dense X; `turn` transposes a csc matrix."""
    dtype = product_type(a, X)
    if dtype in CODES:
        return spmm(handle, a, X, dtype, out, alpha, beta, show, turn)

    def product(a: Operand, X: Any) -> Any:
        return spmm(handle, a, X, F64, None, 1.0, 0.0, show, turn)

    demand_plain(alpha, beta)
    return exact_dense(a, X, dtype, out, product)


def spmm(
    handle: Handle,
    a: Operand,
    X: Any,
    dtype: Any,
    out: Any,
    alpha: float,
    beta: float,
    show: Show | None,
    turn: Turn,
) -> Any:
    """Return alpha A X + beta out in float32 or float64."""
    options = None
    if a.turned:
        bound = turn(handle, a, dtype)
    elif alpha == 0:  # the library does not look at A
        bound = check(handle, a, dtype)
    else:
        bound, options = a.bind(dtype), CHECKED
    struct, rows, nnz, _kept = bound
    result = target(handle, rows, X, dtype, out, beta)
    (x, X), (y, _) = dense(X, dtype), dense(result, dtype)
    try:
        handle.run(
            lib.hybrid_spmm_with,
            (handle.pointer, options, alpha, struct, x, beta, y),
            nnz * (X.shape[1] if X.ndim == 2 else 1) + result.size > QUICK,
            show,
        )
    except MatrixError as error:
        a.repair(error)
        return spmm(handle, a, X, dtype, out, alpha, beta, show, turn)
    return deliver(result, out)


def demand_plain(alpha: float, beta: float) -> None:
    """Raise unless a product of integers is neither scaled nor added to anything."""
    if alpha != 1 or beta != 0:
        raise OperandTypeError("alpha and beta need an operand of float32 or float64")


def exact_dense(a: Operand, X: Any, dtype: Any, out: Any, product: Spmm) -> Any:
    """Return A X in integers; `product` computes it in float64."""
    X = converted(X, F64)
    exact = product(a, X)
    terms = a.shape[1] if a.turned else longest_row(a.matrix.indptr)
    demand_exact(peak(a.matrix.data) * peak(X) * terms, lambda: product(absolute(a), np.abs(X)))
    exact = narrow(exact, dtype)
    if out is None:
        return exact
    check_out(out, exact.shape, dtype)[...] = exact
    return out
