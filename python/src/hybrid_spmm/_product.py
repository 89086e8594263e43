"""One-shot products: sparse times sparse, sparse times dense, dense times sparse."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import byref
from typing import Any

import numpy as np

from . import _capi
from ._arrays import CODES, address, common
from ._dense import check_dense, check_out, converted, deliver, dense, target, vector
from ._errors import ArgumentError, MatrixError, OperandTypeError, ShapeError
from ._exact import demand_exact, longest_row, narrow, peak
from ._handle import Handle, Pages
from ._library import lib
from ._listen import Show
from ._scipy import format_of
from ._sparse import (
    QUICK,
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
    handle: Handle, A: Any, B: Any, out: Any, alpha: float, beta: float, show: Show | None
) -> Any:
    """Return A @ B, or alpha A B + beta out if an operand is dense."""
    left, right = format_of(A), format_of(B)
    if left and right:
        if out is not None or alpha != 1 or beta != 0:
            raise ArgumentError("out, alpha and beta need a dense operand")
        a = Operand(A, left)
        b = a if B is A else Operand(B, right)
        return sparse_result(A, B, a, b, lambda a, b, dtype: spgemm(handle, a, b, dtype, show))
    if left:
        return multiply_dense(handle, Operand(A, left), check_dense(B), out, alpha, beta, show)
    if right:
        # X B is the transpose of B^T X^T.
        turned = Operand(B, right).transpose()
        target = out.T if isinstance(out, np.ndarray) else out
        X = check_dense(A)
        demand_shapes(X.shape, B.shape)
        product = multiply_dense(handle, turned, X.T, target, alpha, beta, show)
        return product.T if out is None else out
    raise OperandTypeError(f"neither operand is sparse: {type(A).__name__} and {type(B).__name__}")


def demand_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Raise unless operands of these shapes can be multiplied."""
    if a[-1] != b[0]:
        raise ShapeError(f"the operands have shapes {a} and {b}: {a[-1]} columns meet {b[0]} rows")


# ---- sparse times sparse ---------------------------------------------------------------

Spgemm = Callable[[Operand, Operand, Any], Pages]


def sparse_result(A: Any, B: Any, a: Operand, b: Operand, product: Spgemm) -> Any:
    """Return A @ B as SciPy's matrix; `product` computes it in float32 or float64."""
    demand_shapes(a.shape, b.shape)
    dtype = common(a.dtype, b.dtype)
    cls = result_class(A, a.turned)
    if dtype in CODES:
        result = to_scipy(cls, a.turned, product(a, b, dtype))
    else:
        result = to_scipy(cls, a.turned, product(a, b, F64))
        demand_exact(
            peak(a.matrix.data) * peak(b.matrix.data) * sum_terms(a, b),
            lambda: arrays_of(product(absolute(a), absolute(b), F64))[2],
        )
        result = with_values(result, narrow(result.data, dtype))
    if A.format == "bsr":  # in blocks, as SciPy does
        blocks = A.blocksize[0], B.blocksize[1] if B.format == "bsr" else 1
        return result.tobsr(blocksize=blocks)
    return result


def sum_terms(a: Operand, b: Operand) -> int:
    """Return a bound on the number of products in one sum of A @ B."""
    if not a.turned:
        return longest_row(a.matrix.indptr)
    return longest_row(b.matrix.indptr) if b.turned else a.shape[1]


def one_shot_options() -> _capi.PlanOptions:
    """Return options that check everything and give 32-bit indices where these suffice."""
    options = _capi.PlanOptions(ctypes.sizeof(_capi.PlanOptions), _capi.CHECK)
    options.order = _capi.ROW_MAJOR
    options.offsets = options.columns = _capi.INDEX_AUTO
    return options


ONE_SHOT = byref(one_shot_options())


def spgemm(handle: Handle, a: Operand, b: Operand, dtype: Any, show: Show | None) -> Pages:
    """Return A @ B, or its transpose if A is turned, as the library's CSR."""
    pages = Pages(handle, _capi.Csr(), lib.hybrid_csr_free)
    first = a.bind(dtype)
    second = first if b is a else b.bind(dtype)
    if a.turned != b.turned:
        second = transposed(handle, b, dtype)
    if a.turned:
        first, second = second, first
    try:
        handle.call(
            lib.hybrid_spgemm_with,
            handle.pointer,
            ONE_SHOT,
            byref(first),
            byref(second),
            byref(pages.struct),
            listen=first.nnz * second.nnz + first.rows > QUICK,
            show=show,
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

Spmm = Callable[[Operand, Any, Any, Any, float, float], Any]


def dense_result(a: Operand, X: Any, out: Any, alpha: float, beta: float, product: Spmm) -> Any:
    """Return alpha A X + beta out; `product` computes it in float32 or float64."""
    demand_shapes(a.shape, X.shape)
    dtype = common(a.dtype, X.dtype)
    if dtype in CODES:
        return product(a, X, dtype, out, alpha, beta)
    if alpha != 1 or beta != 0:
        raise OperandTypeError("alpha and beta need an operand of float32 or float64")
    X = converted(X, F64)
    exact = product(a, X, F64, None, 1.0, 0.0)
    terms = a.shape[1] if a.turned else longest_row(a.matrix.indptr)
    demand_exact(
        peak(a.matrix.data) * peak(X) * terms,
        lambda: product(absolute(a), np.abs(X), F64, None, 1.0, 0.0),
    )
    exact = narrow(exact, dtype)
    if out is None:
        return exact
    check_out(out, exact.shape, dtype)[...] = exact
    return out


def multiply_dense(
    handle: Handle,
    a: Operand,
    X: Any,
    out: Any,
    alpha: float,
    beta: float,
    show: Show | None,
    turn: Callable[[Handle, Operand, Any], _capi.Csr] = transposed,
) -> Any:
    """Return alpha A X + beta out for a dense X; `turn` transposes a csc matrix."""

    def product(a: Operand, X: Any, dtype: Any, out: Any, alpha: float, beta: float) -> Any:
        struct = turn(handle, a, dtype) if a.turned else check(handle, a, dtype)
        result = target(handle, struct.rows, X, dtype, out, beta)
        listen = (struct.nnz + struct.rows) * (X.shape[1] if X.ndim == 2 else 1) > QUICK
        if X.ndim == 1:
            x = vector(X, dtype)
            handle.call(
                lib.hybrid_spmv,
                handle.pointer,
                alpha,
                byref(struct),
                address(x),
                beta,
                address(result),
                listen=listen,
                show=show,
            )
        else:
            handle.call(
                lib.hybrid_spmm,
                handle.pointer,
                alpha,
                byref(struct),
                byref(dense(X, dtype)),
                beta,
                byref(dense(result, dtype)),
                listen=listen,
                show=show,
            )
        return deliver(result, out)

    return dense_result(a, X, out, alpha, beta, product)
