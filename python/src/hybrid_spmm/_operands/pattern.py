"""Patterns that a plan was made for: comparing them, and transposing them once."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import StateError
from .._native import capi
from .._native.handle import Handle, Pages, sparse_pages
from .._native.library import lib
from .arrays import CODES, address
from .sparse import Bound, Operand, arrays_of, check, with_values


def numbered(handle: Handle, operand: Operand) -> Pages:
    """Return the transpose of a canonical pattern, with the numbers of its entries as values."""
    numbers = np.arange(len(operand.matrix.data), dtype=np.float64)
    counted = Operand(with_values(operand.matrix, numbers), operand.matrix.format, True)
    struct, _, _, _kept = counted.bind(numbers.dtype)
    pages = sparse_pages(handle)
    handle.call(lib.hybrid_csr_transpose, handle.pointer, struct, pages.struct)
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
        _, _, _, (*self._arrays, _) = check(handle, operand, dtype)
        self._repaired = operand.repaired
        self._shape = operand.shape
        self._pages: Pages | None = None
        if transpose:
            self._transpose(operand)

    def _transpose(self, operand: Operand) -> None:
        self._pages = numbered(self._handle, operand)
        self._places = arrays_of(self._pages)[2].astype(np.intp)

    def bind(self, operand: Operand) -> Bound:
        """Return the struct of an operand of this pattern; raise if it has another one."""
        if operand.shape != self._shape or operand.turned != self._turned:
            raise StateError("an operand has another shape or format than the planned one")
        if self._repaired:
            bound = check(self._handle, operand, self._dtype)
        else:
            bound = operand.bind(self._dtype)
        _, _, _, (offsets, columns, data) = bound
        known_offsets, known_columns = self._arrays
        if not (offsets is known_offsets or np.array_equal(offsets, known_offsets)) or not (
            columns is known_columns or np.array_equal(columns, known_columns)
        ):
            raise StateError("the pattern of an operand is not the one that was planned for")
        return bound if self._pages is None else self._moved(data)

    def _moved(self, data: Any) -> Bound:
        """Return the struct of the transpose, with the values `data` of the operand."""
        assert self._pages is not None
        moved = data[self._places]
        made = capi.Csr.from_buffer_copy(self._pages.struct)
        made.val, made.type = address(moved), CODES[self._dtype]
        return bytes(made), made.rows, made.nnz, (self._pages, moved)
