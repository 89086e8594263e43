"""Patterns that a plan was made for: comparing them, and transposing them once."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any

import numpy as np

from . import _capi
from ._arrays import CODES, address
from ._errors import StateError
from ._handle import Handle, Pages
from ._library import lib
from ._sparse import Operand, arrays_of, check, with_values


def numbered(handle: Handle, operand: Operand) -> Pages:
    """Return the transpose of a canonical pattern, with the numbers of its entries as values."""
    numbers = np.arange(len(operand.matrix.data), dtype=np.float64)
    counted = Operand(with_values(operand.matrix, numbers), operand.matrix.format)
    struct = counted.bind(numbers.dtype)
    pages = Pages(handle, _capi.Csr(), lib.hybrid_csr_free)
    handle.call(lib.hybrid_csr_transpose, handle.pointer, byref(struct), byref(pages.struct))
    return pages


class Pattern:
    """The pattern of one operand of a plan, in the form in which the library reads it.

    The library takes the pattern of some runs on trust, so it is compared here, unless an
    operand has the very arrays that were planned for. A CSC operand that the library needs
    as CSR is transposed once, with the numbers of its entries as values; in every run its
    values are gathered by these numbers.
    """

    def __init__(self, handle: Handle, operand: Operand, dtype: Any, transpose: bool) -> None:
        self._handle = handle
        self._dtype = dtype
        self._turned = operand.turned
        struct = check(handle, operand, dtype)
        self._repaired = operand.repaired
        self._arrays = struct.keep[:2]
        self._shape = operand.shape
        self._pages: Pages | None = None
        if transpose:
            self._transpose(operand)

    def _transpose(self, operand: Operand) -> None:
        self._pages = numbered(self._handle, operand)
        self._places = arrays_of(self._pages)[2].astype(np.intp)

    def bind(self, operand: Operand) -> _capi.Csr:
        """Return the struct of an operand of this pattern; raise if it has another one."""
        if operand.shape != self._shape or operand.turned != self._turned:
            raise StateError("an operand has another shape or format than the planned one")
        if self._repaired:
            struct = check(self._handle, operand, self._dtype)
        else:
            struct = operand.bind(self._dtype)
        for found, planned in zip(struct.keep[:2], self._arrays, strict=True):
            if found is not planned and not np.array_equal(found, planned):
                raise StateError("the pattern of an operand is not the one that was planned for")
        return self._moved(struct) if self._pages else struct

    def _moved(self, struct: _capi.Csr) -> _capi.Csr:
        """Return the struct of the transpose, with the values of `struct`."""
        assert self._pages
        moved = struct.keep[2][self._places]
        result = _capi.Csr()
        ctypes.memmove(byref(result), byref(self._pages.struct), ctypes.sizeof(result))
        result.val, result.type = address(moved), CODES[self._dtype]
        result.keep = (self._pages, moved)
        return result
