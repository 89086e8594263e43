"""One-shot products of CuPy's and PyTorch's arrays in the memory of a GPU.

The library computes on that GPU and leaves the result there.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .._errors import ArgumentError, MatrixError, OperandTypeError, ShapeError
from .._native import capi
from .._native.handle import sparse_pages
from .._native.library import lib
from .._native.listen import Show
from .._products.plan import read_options
from .._products.product import CHECKED, demand_shapes
from . import device_operands
from .device_operands import Matrix, common, dense
from .device_plans import engine_for, on_stream, sparse_result, target
from .foreign import Library, View

if TYPE_CHECKING:
    from .._engine import Engine


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
        demand_shapes(a.shape, b.shape)
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
    demand_shapes(library.view(X)[1], b.shape[::-1])
    into = None if out is None else turned(out)
    result = spmm(engine_for(engine, b.device), b, turned(X), into, alpha, beta, show)
    return turned(result) if out is None else out


def turned(array: Any) -> Any:
    """Return the transpose of an array of one or two dimensions, without a copy."""
    return array.T if len(array.shape) == 2 else array


def spgemm(engine: Engine, a: Matrix, b: Matrix, show: Show | None) -> Any:
    """Compute sparse times sparse; operands that are not canonical are repaired."""
    try:
        return multiply_sparse(engine, a, b, show)
    except MatrixError:
        a, b = (a.repaired(), b.repaired()) if b is not a else (a.repaired(),) * 2
        return multiply_sparse(engine, a, b, show)


@functools.cache
def one_shot(space: int) -> capi.PlanOptions:
    """Return options that check everything, for a sparse result in that memory."""
    options = read_options(flags=capi.CHECK)
    options.result_space = space
    options.offsets = options.columns = capi.INDEX_AUTO
    return options


def multiply_sparse(engine: Engine, a: Matrix, b: Matrix, show: Show | None) -> Any:
    """Compute sparse times sparse of canonical operands, which the library checks."""
    handle, dtype = engine._alive(), common(a.dtype, b.dtype)
    first, _kept = a.bind(dtype)
    second, _kept_too = (first, _kept) if b is a else b.held(a.turned).bind(dtype)
    if a.turned:  # (A B)^T = B^T A^T
        first, second = second, first
    pages = sparse_pages(handle)
    pointer, stream = handle.pointer, a.library.stream(a.device)
    options = one_shot(device_operands.SPACE)
    handle.run(
        on_stream,
        (pointer, stream, lib.hybrid_spgemm_with, pointer, options, first, second, pages.struct),
        True,
        show,
    )
    return sparse_result(pages, (a.shape[0], b.shape[1]), a)


def spmm(
    engine: Engine, a: Matrix, X: Any, out: Any, alpha: float, beta: float, show: Show | None
) -> Any:
    """Compute sparse times dense; an operand that is not canonical is repaired."""
    view = a.library.view(X)
    shape = view[1]
    if not 1 <= len(shape) <= 2:
        raise ShapeError(f"a dense operand has {len(shape)} dimensions; 1 and 2 are supported")
    demand_shapes(a.shape, shape)
    if beta != 0 and out is None:
        raise ArgumentError("beta needs out, which holds the matrix that it multiplies")
    try:
        return multiply_dense(engine, a, X, view, out, alpha, beta, show)
    except MatrixError:
        return multiply_dense(engine, a.repaired(), X, view, out, alpha, beta, show)


def multiply_dense(
    engine: Engine,
    a: Matrix,
    X: Any,
    view: View,
    out: Any,
    alpha: float,
    beta: float,
    show: Show | None,
) -> Any:
    """Compute sparse times dense of a canonical operand, which the library checks."""
    library, handle = a.library, engine._alive()
    dtype = common(a.dtype, view[3])
    a = a.held(turned=False)
    result, y = target(library, a, out, (a.shape[0], *view[1][1:]), dtype)
    x, _kept = dense(library, X, view, dtype)
    struct, _kept_too = a.bind(dtype)
    pointer, stream = handle.pointer, library.stream(a.device)
    handle.run(
        on_stream,
        (pointer, stream, lib.hybrid_spmm_with, pointer, CHECKED, alpha, struct, x, beta, y),
        True,
        show,
    )
    return result if out is None else out
