"""What the library reads of a NumPy array: its address and the code of its type."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .._errors import MatrixError, OperandTypeError
from .._native import capi

CODES = {np.dtype(np.float32): capi.F32, np.dtype(np.float64): capi.F64}
INDEX_CODES = {np.dtype(np.int32): capi.I32, np.dtype(np.int64): capi.I64}
FLOATS = {dtype: dtype for dtype in CODES}
DTYPES: dict[int, Any] = {code: dtype for dtype, code in CODES.items()}
INDEX_DTYPES: dict[int, Any] = {code: dtype for dtype, code in INDEX_CODES.items()}
SUPPORTED = "float32, float64, integers and bool"

# Bits of ndarray.flags.num, as NumPy's C API defines them.
CONTIGUOUS, ALIGNED = 0x0001, 0x0100
READABLE = CONTIGUOUS | ALIGNED

# Every NumPy array begins with the head of a Python object and then the address of its
# elements, which C extensions read in the same way. The attributes __array_interface__ and
# ctypes.data tell the address as well, but each takes 2 us. ``_words[i]`` is the word of memory
# that follows the head of an object at address 8 i.
_words = (ctypes.c_size_t * (1 << 59)).from_address(object.__basicsize__)


def address(array: Any) -> int:
    """Return the address of the first element of a NumPy array."""
    return _words[id(array) >> 3]


def slow_address(array: Any) -> int:
    """Return the same from the public attribute, for an interpreter of another layout."""
    found: int = array.__array_interface__["data"][0]
    return found


_probe = np.empty(1)
if address(_probe) != slow_address(_probe):
    address = slow_address


PIECE = 1 << 26  # bytes that NumPy copies in a small part of a second


def copy_of(array: Any, dtype: Any) -> Any:
    """Return a copy of an array in C order. An interrupt ends it between two pieces."""
    if array.nbytes <= PIECE:
        return np.array(array, dtype, order="C")
    result = np.empty(array.shape, dtype)
    axis = int(array.ndim == 2 and array.shape[1] > array.shape[0])
    length = array.shape[axis]
    step = max(1, PIECE * length // array.nbytes)
    for begin in range(0, length, step):
        piece = (slice(None),) * axis + (slice(begin, begin + step),)
        result[piece] = array[piece]
    return result


def as_indices(array: Any, name: str) -> Any:
    """Return an array of offsets or column indices that the library reads.

    Contiguous and aligned int32 and int64 are returned as they are; others are copied.
    """
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise MatrixError(f"{name} is an array of {array.dtype} with {array.ndim} dimensions")
    if array.dtype not in INDEX_CODES:
        narrow = array.dtype.itemsize < 4 or array.dtype.newbyteorder("=") in INDEX_CODES
        return copy_of(array, np.int32 if narrow and array.dtype.itemsize <= 4 else np.int64)
    return array if array.flags.num & READABLE == READABLE else copy_of(array, array.dtype)


def as_values(array: Any, dtype: Any) -> Any:
    """Return an array of values that the library reads, converted to `dtype` if need be."""
    if array.ndim != 1:
        raise MatrixError(f"the values are an array with {array.ndim} dimensions")
    if array.dtype == dtype and array.flags.num & READABLE == READABLE:
        return array
    return copy_of(array, dtype)


def native(dtype: Any) -> Any:
    """Return the dtype in the machine's byte order; raise if it is not supported."""
    if dtype.kind == "f" and dtype.itemsize in (4, 8):
        return DTYPES[dtype.itemsize // 4]
    if dtype.kind in "biu":
        return np.dtype(dtype.type)
    raise OperandTypeError(f"operands of {dtype} are not supported; {SUPPORTED} are")


def common(a: Any, b: Any) -> Any:
    """Return the dtype of a product, as SciPy defines it."""
    if a is b and (known := FLOATS.get(a)) is not None:
        return known
    result = np.result_type(native(a), native(b))
    return DTYPES[result.itemsize // 4] if result.kind == "f" else result
