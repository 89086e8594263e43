"""One-shot products: sparse times sparse, sparse times dense, dense times sparse."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any

import numpy as np

from . import _capi
from ._arrays import CODES, check_dense, common, dense, layout
from ._errors import ArgumentError, MatrixError, OperandTypeError, ShapeError
from ._exact import demand_exact, longest_row, narrow, peak
from ._handle import Handle, Pages
from ._library import lib
from ._listen import Show
from ._scipy import format_of
from ._sparse import (
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


def plan_options(flags: int) -> _capi.PlanOptions:
    """Return options whose results have 32-bit indices wherever these suffice."""
    options = _capi.PlanOptions(ctypes.sizeof(_capi.PlanOptions), flags)
    options.order = _capi.ROW_MAJOR
    options.offsets = options.columns = _capi.INDEX_AUTO
    return options


ONE_SHOT = byref(plan_options(_capi.CHECK))


def multiply(handle: Handle, A: Any, B: Any, out: Any, alpha: float, beta: float, show: Show | None) -> Any:
    """Return A @ B for any operands that the package accepts."""
    left, right = format_of(A), format_of(B)
    if left and right:
        if out is not None or alpha != 1 or beta != 0:
            raise ArgumentError("out, alpha and beta need a dense operand")
        return multiply_sparse(handle, A, left, B, right, show)
    if left:
        return multiply_dense(handle, Operand(A, left), check_dense(B), out, alpha, beta, show)
    if right:
        return multiply_from_left(handle, check_dense(A), B, right, out, alpha, beta, show)
    raise OperandTypeError(
        f"neither operand is sparse: {type(A).__name__} and {type(B).__name__}"
    )


def demand_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Raise unless operands of these shapes can be multiplied."""
    if a[-1] != b[0]:
        raise ShapeError(f"the operands have shapes {a} and {b}: {a[-1]} columns meet {b[0]} rows")


# ---- sparse times sparse ---------------------------------------------------------------


def multiply_sparse(handle: Handle, A: Any, left: str, B: Any, right: str, show: Show | None) -> Any:
    """Return A @ B of two sparse operands in SciPy's class for it."""
    a = Operand(A, left)
    b = a if B is A else Operand(B, right)
    demand_shapes(a.shape, b.shape)
    dtype = common(a.dtype, b.dtype)
    if dtype in CODES:
        pages = spgemm(handle, a, b, dtype, show)
        result = to_scipy(result_class(A, left, a.turned), a.turned, pages)
    else:
        pages = spgemm(handle, a, b, F64, show)
        result = to_scipy(result_class(A, left, a.turned), a.turned, pages)
        bound = peak(a.matrix.data) * peak(b.matrix.data) * inner_terms(a, b)
        demand_exact(
            bound,
            lambda: arrays_of(spgemm(handle, absolute(a), absolute(b), F64, None))[2],
        )
        result = with_values(result, narrow(result.data, dtype))
    return as_blocks(result, A, left, B, right) if left == "bsr" else result


def inner_terms(a: Operand, b: Operand) -> int:
    """Return a bound on the number of products in one sum of A @ B."""
    return longest_row((b if a.turned and b.turned else a).matrix.indptr) if a.turned == b.turned else a.shape[1]


def as_blocks(result: Any, A: Any, left: str, B: Any, right: str) -> Any:
    """Return the product of a BSR matrix in blocks, as SciPy does."""
    columns = B.blocksize[1] if right == "bsr" else 1
    return result.tobsr(blocksize=(A.blocksize[0], columns))


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


def multiply_dense(
    handle: Handle, a: Operand, X: Any, out: Any, alpha: float, beta: float, show: Show | None
) -> Any:
    """Return alpha A X + beta out for a dense X of one or two dimensions."""
    demand_shapes(a.shape, X.shape)
    dtype = common(a.dtype, X.dtype)
    if dtype in CODES:
        struct = transposed(handle, a, dtype) if a.turned else check(handle, a, dtype)
        return spmm(handle, struct, X, dtype, out, alpha, beta, show)
    if alpha != 1 or beta != 0:
        raise OperandTypeError("alpha and beta need an operand of float32 or float64")
    struct = transposed(handle, a, F64) if a.turned else check(handle, a, F64)
    exact = spmm(handle, struct, X.astype(F64), F64, None, 1.0, 0.0, show)
    terms = a.shape[1] if a.turned else longest_row(a.matrix.indptr)
    demand_exact(
        peak(a.matrix.data) * peak(X.astype(F64)) * terms,
        lambda: multiply_dense(handle, absolute(a), np.abs(X.astype(F64)), None, 1.0, 0.0, None),
    )
    exact = narrow(exact, dtype)
    if out is None:
        return exact
    check_out(out, exact.shape, dtype)[...] = exact
    return out


def multiply_from_left(
    handle: Handle,
    X: Any,
    B: Any,
    kind: str,
    out: Any,
    alpha: float,
    beta: float,
    show: Show | None,
) -> Any:
    """Return alpha X B + beta out, as the transpose of alpha B^T X^T + beta out^T."""
    b = Operand(B, kind)
    demand_shapes(X.shape, b.shape)
    turned = Operand.__new__(Operand)
    turned.dtype, turned.repaired, turned.matrix = b.dtype, b.repaired, b.matrix
    turned.turned, turned.shape = not b.turned, (b.shape[1], b.shape[0])
    target = out.T if isinstance(out, np.ndarray) else out
    product = multiply_dense(handle, turned, X.T, target, alpha, beta, show)
    return product.T if out is None else out


def spmm(
    handle: Handle,
    a: _capi.Csr,
    X: Any,
    dtype: Any,
    out: Any,
    alpha: float,
    beta: float,
    show: Show | None,
) -> Any:
    """Return alpha A X + beta out, where A is the library's CSR."""
    shape = (a.rows,) if X.ndim == 1 else (a.rows, X.shape[1])
    if out is None:
        if beta != 0:
            raise ArgumentError("beta needs out, which holds the matrix that it multiplies")
        target = new_dense(handle, shape, dtype)
    else:
        target = check_out(out, shape, dtype)
        if layout(target) is None:
            target = np.array(out, order="C")
    x, y = dense(X, dtype), dense(target, dtype)
    handle.call(
        lib.hybrid_spmm, handle.pointer, alpha, byref(a), byref(x), beta, byref(y), show=show
    )
    if out is None:
        return target
    if target is not out:
        out[...] = target
    return out


def check_out(out: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return `out` if a product of this shape and dtype can be written to it."""
    if not isinstance(out, np.ndarray):
        raise OperandTypeError(f"out is a {type(out).__name__}, not a NumPy array")
    if out.shape != shape or out.dtype != dtype:
        raise ShapeError(f"out has shape {out.shape} and {out.dtype}; the product has {shape} and {dtype}")
    if not out.flags.writeable:
        raise ArgumentError("out is read-only")
    return out


SMALL = 1 << 16  # bytes below which NumPy's allocator is faster than the engine's pages


def new_dense(handle: Handle, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an unset array in C order, over the engine's own pages unless it is small."""
    count = shape[0] * (shape[1] if len(shape) == 2 else 1)
    if count * dtype.itemsize < SMALL:
        return np.empty(shape, dtype)
    pages = Pages(handle, _capi.Dense(), lib.hybrid_dense_free)
    columns = shape[1] if len(shape) == 2 else 1
    handle.call(
        lib.hybrid_dense_create,
        handle.pointer,
        shape[0],
        columns,
        _capi.ROW_MAJOR,
        CODES[dtype],
        byref(pages.struct),
    )
    return np.ndarray(shape, dtype, pages.window(pages.struct.data))
