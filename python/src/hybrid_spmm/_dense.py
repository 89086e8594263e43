"""Dense operands and results: NumPy arrays as the library reads and writes them."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref
from typing import Any

import numpy as np

from . import _capi
from ._arrays import ALIGNED, CODES, CONTIGUOUS, address
from ._errors import ArgumentError, OperandTypeError, ShapeError
from ._handle import Handle, Pages
from ._library import lib

Layout = tuple[int, int, int, int]  # rows, cols, ld, order
SMALL = 1 << 16  # bytes below which NumPy's allocator is faster than the engine's pages


def check_dense(operand: Any) -> Any:
    """Return a dense operand as a NumPy array of one or two dimensions."""
    array = np.asarray(operand)
    if not 1 <= array.ndim <= 2:
        raise ShapeError(f"a dense operand has {array.ndim} dimensions; 1 and 2 are supported")
    return array


def layout(array: Any) -> Layout | None:
    """Return how an array of one or two dimensions lies, or None if it must be copied."""
    flags = array.flags.num
    if not flags & ALIGNED:
        return None
    if flags & CONTIGUOUS:
        shape = array.shape
        rows, cols = shape if len(shape) == 2 else (shape[0], 1)
        return rows, cols, cols or 1, _capi.ROW_MAJOR
    if array.ndim == 1:
        return None
    size = array.itemsize
    rows, cols = array.shape
    down, right = array.strides
    if right == size and down % size == 0 and down // size >= cols:
        return rows, cols, down // size, _capi.ROW_MAJOR
    if down == size and right % size == 0 and right // size >= rows:
        return rows, cols, right // size, _capi.COL_MAJOR
    return None


def dense(array: Any, dtype: Any) -> _capi.Dense:
    """Return the struct of a dense operand; C and Fortran order are not copied."""
    if array.dtype != dtype:
        array = array.astype(dtype)
    found = layout(array)
    if found is None:
        array = np.array(array, dtype, order="C")
        found = layout(array)
        assert found is not None
    rows, cols, ld, order = found
    struct = _capi.Dense(rows, cols, ld, order, address(array), CODES[dtype])
    struct.keep = array
    return struct


def new_dense(handle: Handle, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an unset array in C order, over the engine's own pages unless it is small."""
    columns = shape[1] if len(shape) == 2 else 1
    if shape[0] * columns * dtype.itemsize < SMALL:
        return np.empty(shape, dtype)
    pages = Pages(handle, _capi.Dense(), lib.hybrid_dense_free)
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


def check_out(out: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return `out` if a product of this shape and dtype can be written to it."""
    if not isinstance(out, np.ndarray):
        raise OperandTypeError(f"out is a {type(out).__name__}, not a NumPy array")
    if out.shape != shape or out.dtype != dtype:
        raise ShapeError(
            f"out has shape {out.shape} and {out.dtype}; the product has {shape} and {dtype}"
        )
    if not out.flags.writeable:
        raise ArgumentError("out is read-only")
    return out


Write = Callable[[_capi.Dense, _capi.Dense], None]


def write(handle: Handle, rows: int, X: Any, dtype: Any, out: Any, beta: float, call: Write) -> Any:
    """Let `call` compute from the structs of X and Y, and return Y, which is `out` if given."""
    shape = (rows,) if X.ndim == 1 else (rows, X.shape[1])
    if out is None:
        if beta != 0:
            raise ArgumentError("beta needs out, which holds the matrix that it multiplies")
        target = new_dense(handle, shape, dtype)
    else:
        target = check_out(out, shape, dtype)
        if layout(target) is None:
            target = np.array(out, order="C")
    call(dense(X, dtype), dense(target, dtype))
    if out is None or target is out:
        return target
    out[...] = target
    return out
