"""Dense operands and results: NumPy arrays as the library reads and writes them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .._errors import ArgumentError, OperandTypeError, ShapeError
from .._native import capi
from .._native.handle import BEGIN, Handle, pages_for
from .._native.library import lib
from .arrays import ALIGNED, CODES, CONTIGUOUS, READABLE, address, copy_of

Layout = tuple[int, int, int, int]  # rows, cols, ld, order
pack, ROWS, HOST = capi.DENSE.pack, capi.ROW_MAJOR, capi.SPACE_HOST
SMALL = 1 << 16  # bytes below which NumPy's allocator is faster than the engine's pages


def check_dense(operand: Any) -> Any:
    """Return a dense operand as a NumPy array of one or two dimensions."""
    array = np.asarray(operand)
    if array.dtype == object and array.ndim == 0:
        raise OperandTypeError(f"{type(operand).__name__} is not an operand here")
    if not 1 <= array.ndim <= 2:
        raise ShapeError(f"a dense operand has {array.ndim} dimensions; 1 and 2 are supported")
    return array


def factor(name: str, value: Any) -> float:
    """Return a number that a product is multiplied by; `name` is that of the argument."""
    try:
        return ctypes.c_double(value).value
    except TypeError:
        kind = type(value).__name__
        raise OperandTypeError(f"{name} must be a real number, not {kind}") from None


def layout(array: Any) -> Layout | None:
    """Return how an array of one or two dimensions lies, or None if it must be copied."""
    flags = array.flags.num
    if not flags & ALIGNED:
        return None
    if flags & CONTIGUOUS:
        shape = array.shape
        rows, cols = shape if len(shape) == 2 else (shape[0], 1)
        return rows, cols, cols or 1, capi.ROW_MAJOR
    if array.ndim == 1:
        return None
    size = array.itemsize
    rows, cols = array.shape
    down, right = array.strides
    if right == size and down % size == 0 and down // size >= cols:
        return rows, cols, down // size, capi.ROW_MAJOR
    if down == size and right % size == 0 and right // size >= rows:
        return rows, cols, right // size, capi.COL_MAJOR
    return None


def dense(array: Any, dtype: Any) -> tuple[bytes, Any]:
    """Return the packed struct of a dense operand, and the array that it describes.

    The array is a copy unless it has that dtype and C or Fortran order.
    """
    if array.dtype is dtype and array.flags.num & READABLE == READABLE:
        shape = array.shape
        columns = shape[1] if len(shape) == 2 else 1
        code = CODES[dtype]
        return pack(shape[0], columns, columns or 1, ROWS, address(array), code, HOST), array
    array = converted(array, dtype)
    found = layout(array)
    if found is None:
        array = copy_of(array, dtype)
        found = layout(array)
        assert found is not None
    return pack(*found, address(array), CODES[dtype], HOST), array


def converted(array: Any, dtype: Any) -> Any:
    """Return an array with values of `dtype`, in Fortran order if it has that order."""
    if array.dtype == dtype:
        return array
    return copy_of(array.T, dtype).T if array.flags.fnc else copy_of(array, dtype)


def new_dense(handle: Handle, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an unset array in C order, over the engine's own pages unless it is small."""
    columns = shape[1] if len(shape) == 2 else 1
    if shape[0] * columns * dtype.itemsize < SMALL:
        return np.empty(shape, dtype)
    pages = pages_for(handle, capi.Dense(), lib.hybrid_dense_free)
    handle.call(
        lib.hybrid_dense_create,
        handle.pointer,
        shape[0],
        columns,
        capi.ROW_MAJOR,
        CODES[dtype],
        pages.struct,
    )
    return np.ndarray(shape, dtype, pages, pages.struct.data - BEGIN)


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


def target(handle: Handle, rows: int, X: Any, dtype: Any, out: Any, beta: float) -> Any:
    """Return the array that a product is written to: `out`, a copy of it, or a new one."""
    shape = (rows,) if X.ndim == 1 else (rows, X.shape[1])
    if out is None:
        if beta != 0:
            raise ArgumentError("beta needs out, which holds the matrix that it multiplies")
        return new_dense(handle, shape, dtype)
    check_out(out, shape, dtype)
    return copy_of(out, out.dtype) if layout(out) is None else out


def deliver(result: Any, out: Any) -> Any:
    """Return a product that was written to target(), in `out` if that was given."""
    if out is None or result is out:
        return result
    out[...] = result
    return out
