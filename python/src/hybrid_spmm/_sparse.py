"""Sparse operands: from SciPy's matrices to the library's CSR, and results back.

A matrix in CSC is the CSR of its transpose over the same arrays. An operand is therefore
the library's struct and a mark that tells whether the struct holds the transpose.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from ctypes import byref
from typing import Any

import numpy as np

from . import _capi
from ._arrays import (
    CODES,
    DTYPES,
    INDEX_CODES,
    INDEX_DTYPES,
    READABLE,
    address,
    as_indices,
    as_values,
    native,
)
from ._errors import FormatWarning, MatrixError, ShapeError
from ._handle import Handle, Pages
from ._library import lib
from ._scipy import assemble, relative, sparse

CONVERTED = "the operand is copied in canonical CSR format on every call: it is {}"


class Operand:
    """A sparse operand as the library reads it.

    ``matrix`` is the csr or csc matrix that holds the arrays; ``turned`` says that it is a
    csc matrix, whose arrays are the CSR of the transpose; ``shape`` and ``dtype`` are those
    of the operand. Values of integers and bools are held in float64.
    """

    __slots__ = ("dtype", "matrix", "repaired", "shape", "struct", "turned")

    def __init__(self, matrix: Any, kind: str) -> None:
        self.repaired = False
        self.dtype = matrix.dtype
        if kind not in ("csr", "csc"):
            matrix = from_other(matrix, kind)
            kind = "csr"
        elif self.dtype.kind in "biu":
            matrix = with_values(matrix, matrix.data.astype(np.float64))
        self.matrix = matrix
        self.turned = kind == "csc"
        self.shape: tuple[int, int] = matrix.shape

    def bind(self, dtype: Any) -> _capi.Csr:
        """Return the struct with values of `dtype`; without a copy where that is possible."""
        matrix = self.matrix
        rows, cols = self.shape
        if self.turned:
            rows, cols = cols, rows
        offsets, columns, data = matrix.indptr, matrix.indices, matrix.data
        if offsets.flags.num & READABLE != READABLE or offsets.dtype not in INDEX_CODES:
            offsets = as_indices(offsets, "indptr")
        if columns.flags.num & READABLE != READABLE or columns.dtype not in INDEX_CODES:
            columns = as_indices(columns, "indices")
        if data.flags.num & READABLE != READABLE or data.dtype != dtype:
            data = as_values(data, dtype)
        if len(offsets) != rows + 1:
            raise MatrixError(
                f"indptr has {len(offsets)} entries; a matrix of {rows} rows needs {rows + 1}"
            )
        nnz = offsets.item(-1)
        if not 0 <= nnz <= min(len(columns), len(data)):
            raise MatrixError(
                f"indptr ends with {nnz}, but there are {len(columns)} indices "
                f"and {len(data)} values"
            )
        struct = _capi.Csr(
            rows,
            cols,
            nnz,
            INDEX_CODES[offsets.dtype],
            address(offsets),
            address(columns),
            address(data),
            CODES[dtype],
            INDEX_CODES[columns.dtype],
        )
        struct.keep = (offsets, columns, data)
        self.struct = struct
        return struct

    def transpose(self) -> Operand:
        """Return the operand that is the transpose, over the same arrays."""
        result = Operand.__new__(Operand)
        result.dtype, result.matrix, result.repaired = self.dtype, self.matrix, self.repaired
        result.shape, result.turned = (self.shape[1], self.shape[0]), not self.turned
        return result

    def repair(self, error: MatrixError) -> None:
        """Replace an unsorted matrix by a canonical copy; raise `error` if it is damaged."""
        if self.repaired:
            raise error
        matrix = self.matrix
        try:
            copy = type(matrix)(
                (matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True
            )
            copy.check_format(full_check=True)
        except ValueError:
            raise error from None
        if copy.has_canonical_format:
            raise error
        copy.sum_duplicates()
        warn("unsorted, or has duplicate entries")
        self.matrix = copy
        self.repaired = True


def warn(reason: str) -> None:
    """Warn once for each line of the caller that an operand is converted."""
    warnings.warn(CONVERTED.format(reason), FormatWarning, stacklevel=outside())


def outside() -> int:
    """Return the level of the stack, for warnings, that is the first outside the package."""
    package = __name__.rpartition(".")[0]
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(package):
        level, frame = level + 1, frame.f_back
    return level


def from_other(matrix: Any, kind: str) -> Any:
    """Return a matrix of another format than csr and csc as canonical csr."""
    if len(matrix.shape) != 2:
        raise ShapeError(f"a sparse operand has {len(matrix.shape)} dimensions; 2 are supported")
    warn(f"in {kind.upper()} format")
    if native(matrix.dtype).kind != "f":
        matrix = matrix.astype(np.float64)  # before duplicates are added, lest the sum wraps
    return matrix.tocsr()


def check(handle: Handle, operand: Operand, dtype: Any) -> _capi.Csr:
    """Return the struct of an operand all of whose rules the library has verified."""
    struct = operand.bind(dtype)
    try:
        handle.call(lib.hybrid_csr_check, handle.pointer, byref(struct))
    except MatrixError as error:
        operand.repair(error)
        return check(handle, operand, dtype)
    return struct


def absolute(operand: Operand) -> Operand:
    """Return an operand of the same pattern with the magnitudes of the values."""
    result = operand.transpose().transpose()
    result.matrix = with_values(operand.matrix, np.abs(operand.matrix.data))
    return result


def transposed(handle: Handle, operand: Operand, dtype: Any) -> _capi.Csr:
    """Return the struct of the transpose of what the operand's arrays hold, newly made."""
    struct = operand.bind(dtype)
    pages = Pages(handle, _capi.Csr(), lib.hybrid_csr_free)
    try:
        handle.call(lib.hybrid_csr_transpose, handle.pointer, byref(struct), byref(pages.struct))
    except MatrixError as error:
        operand.repair(error)
        return transposed(handle, operand, dtype)
    result = _capi.Csr()
    ctypes.memmove(byref(result), byref(pages.struct), ctypes.sizeof(result))
    result.keep = pages
    return result


def arrays_of(pages: Pages) -> tuple[Any, Any, Any]:
    """Return indptr, indices and data of a result, over the engine's own pages."""
    found = pages.struct
    index = INDEX_DTYPES[found.offset_type]
    indptr = view(pages, found.row_ptr, found.rows + 1, index)
    columns = view(pages, found.col, found.nnz, INDEX_DTYPES[found.col_type or _capi.I32])
    return indptr, columns, view(pages, found.val, found.nnz, DTYPES[found.type])


def view(pages: Pages, address: int | None, count: int, dtype: Any) -> Any:
    """Return an array of `count` elements at `address` whose base is `pages`."""
    if not address or not count:
        return np.zeros(count, dtype)
    return np.ndarray((count,), dtype, pages.window(address))


def to_scipy(cls: type, turned: bool, pages: Pages) -> Any:
    """Return a result as SciPy's csr, or csc if it holds the transpose."""
    found = pages.struct
    shape = (found.cols, found.rows) if turned else (found.rows, found.cols)
    indptr, columns, data = arrays_of(pages)
    return assemble(cls, shape, data, columns, indptr)


def result_class(original: Any, turned: bool) -> type:
    """Return SciPy's class of a product whose first sparse operand is `original`."""
    cls = type(original)
    if original.format in ("csr", "csc") and cls.__module__.startswith("scipy.sparse"):
        return cls
    return relative(original, "csc" if turned else "csr")


def with_values(matrix: Any, data: Any) -> Any:
    """Return a matrix of the same kind and pattern with other values."""
    if matrix.format in ("csr", "csc"):
        return assemble(type(matrix), matrix.shape, data, matrix.indices, matrix.indptr)
    return type(matrix)((data, matrix.indices, matrix.indptr), shape=matrix.shape)


__all__ = [
    "CODES",
    "Operand",
    "arrays_of",
    "check",
    "result_class",
    "sparse",
    "to_scipy",
    "transposed",
    "view",
    "with_values",
]
