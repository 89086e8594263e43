"""Sparse operands: from SciPy's matrices to the library's CSR, and results back.

A matrix in CSC is the CSR of its transpose over the same arrays. An operand is therefore
the library's struct and a mark that tells whether the struct holds the transpose.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from .._errors import FormatWarning, MatrixError, ShapeError
from .._native import capi
from .._native.handle import BEGIN, Handle, Pages, sparse_pages
from .._native.library import lib
from .arrays import (
    CODES,
    DTYPES,
    INDEX_CODES,
    INDEX_DTYPES,
    READABLE,
    address,
    as_indices,
    as_values,
    copy_of,
    native,
)
from .scipy_classes import assemble, is_plain, relative

pack, unpack, HOST = capi.CSR.pack, capi.CSR.unpack_from, capi.SPACE_HOST
QUICK = 10**6  # a call with at most so many entries, products or elements takes milliseconds

# A sparse operand as functions of the library take it: the packed struct, its rows and entries,
# and what has to live while the struct is used.
Bound = tuple[bytes, int, int, Any]

CONVERTED = "the operand is copied in canonical CSR format on every call: it is {}"


class Operand:
    """A sparse operand as the library reads it.

    ``matrix`` is the csr or csc matrix that holds the arrays; ``turned`` says that it is a
    csc matrix, whose arrays are the CSR of the transpose; ``shape`` and ``dtype`` are those
    of the operand. Values of integers and bools are held in float64.
    """

    __slots__ = ("dtype", "matrix", "quiet", "repaired", "shape", "turned")

    def __init__(self, matrix: Any, kind: str, quiet: bool) -> None:
        self.repaired = False
        self.quiet = quiet
        self.dtype = matrix.dtype
        if kind not in ("csr", "csc"):
            matrix = from_other(matrix, kind, quiet)
            kind = "csr"
        elif self.dtype.kind in "biu":
            matrix = with_values(matrix, copy_of(matrix.data, np.float64))
        self.matrix = matrix
        self.turned = kind == "csc"
        self.shape: tuple[int, int] = matrix.shape

    def bind(self, dtype: Any) -> Bound:
        """Return the struct with values of `dtype`; without a copy where that is possible."""
        matrix = self.matrix
        rows, cols = self.shape
        if self.turned:
            rows, cols = cols, rows
        offsets, columns, data = matrix.indptr, matrix.indices, matrix.data
        offset_type = INDEX_CODES.get(offsets.dtype)
        column_type = INDEX_CODES.get(columns.dtype)
        flags = offsets.flags.num & columns.flags.num & data.flags.num
        if (
            offset_type is None
            or column_type is None
            or data.dtype is not dtype
            or flags & READABLE != READABLE
        ):
            offsets, columns = as_indices(offsets, "indptr"), as_indices(columns, "indices")
            offset_type, column_type = INDEX_CODES[offsets.dtype], INDEX_CODES[columns.dtype]
            data = as_values(data, dtype)
        if len(offsets) != rows + 1:
            raise MatrixError(
                f"indptr has {len(offsets)} entries; a matrix of {rows} "
                f"{'columns' if matrix.format == 'csc' else 'rows'} needs {rows + 1}"
            )
        nnz = offsets.item(-1)
        if not 0 <= nnz <= len(columns) or nnz > len(data):
            raise MatrixError(
                f"indptr ends with {nnz}, but there are {len(columns)} indices "
                f"and {len(data)} values"
            )
        struct = pack(
            rows,
            cols,
            nnz,
            offset_type,
            address(offsets),
            address(columns),
            address(data),
            CODES[dtype],
            column_type,
            HOST,
        )
        return struct, rows, nnz, (offsets, columns, data)

    def transpose(self) -> Operand:
        """Return the operand that is the transpose, over the same arrays."""
        result = Operand.__new__(Operand)
        result.dtype, result.matrix = self.dtype, self.matrix
        result.repaired, result.quiet = self.repaired, self.quiet
        result.shape, result.turned = (self.shape[1], self.shape[0]), not self.turned
        return result

    def repair(self, error: MatrixError) -> None:
        """Replace an unsorted matrix by a canonical copy; raise an error if it is damaged."""
        if self.repaired:
            raise self.damaged(error)
        matrix = self.matrix
        try:
            copy = type(matrix)(
                (matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True
            )
            copy.check_format(full_check=True)
        except ValueError:
            raise self.damaged(error) from None
        if copy.has_canonical_format:
            raise self.damaged(error)
        copy.sum_duplicates()
        if not self.quiet:
            warn("unsorted, or has duplicate entries")
        self.matrix = copy
        self.repaired = True

    def damaged(self, error: MatrixError) -> MatrixError:
        """Return an error of the library, which calls every operand A, for this matrix."""
        kind = self.matrix.format
        fault = str(error).removeprefix("A: ")
        turned = "; its rows and columns are those of the transpose" if kind == "csc" else ""
        return MatrixError(f"{kind.upper()} matrix of shape {self.matrix.shape}: {fault}{turned}")


def warn(reason: str) -> None:
    """Warn once for each line of the caller that an operand is converted."""
    warnings.warn(CONVERTED.format(reason), FormatWarning, stacklevel=outside())


def outside() -> int:
    """Return the level of the stack, for warnings, that is the first outside the package."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(package):
        level, frame = level + 1, frame.f_back
    return level


def from_other(matrix: Any, kind: str, quiet: bool) -> Any:
    """Return a matrix of another format than csr and csc as canonical csr."""
    if len(matrix.shape) != 2:
        raise ShapeError(f"a sparse operand has {len(matrix.shape)} dimensions; 2 are supported")
    if not quiet:
        warn(f"in {kind.upper()} format")
    if native(matrix.dtype).kind != "f":
        matrix = matrix.astype(np.float64)  # before duplicates are added, lest the sum wraps
    return matrix.tocsr()


def check(handle: Handle, operand: Operand, dtype: Any) -> Bound:
    """Return the struct of an operand all of whose rules the library has verified."""
    bound = operand.bind(dtype)
    struct, rows, nnz, _ = bound
    try:
        handle.run(lib.hybrid_csr_check, (handle.pointer, struct), nnz + rows > QUICK, None)
    except MatrixError as error:
        operand.repair(error)
        return check(handle, operand, dtype)
    return bound


def absolute(operand: Operand) -> Operand:
    """Return an operand of the same pattern with the magnitudes of the values."""
    result = operand.transpose().transpose()
    result.matrix = with_values(operand.matrix, np.abs(operand.matrix.data))
    return result


def transposed(handle: Handle, operand: Operand, dtype: Any) -> Bound:
    """Return the struct of the transpose of what the operand's arrays hold, newly made."""
    struct, _, _, _kept = operand.bind(dtype)
    pages = sparse_pages(handle)
    try:
        handle.call(lib.hybrid_csr_transpose, handle.pointer, struct, pages.struct)
    except MatrixError as error:
        operand.repair(error)
        return transposed(handle, operand, dtype)
    made = pages.struct
    return bytes(made), made.rows, made.nnz, pages


def arrays_of(pages: Pages) -> tuple[Any, Any, Any]:
    """Return indptr, indices and data of a result, over the engine's own pages."""
    rows, _, nnz, offset_type, offsets, columns, values, kind, column_type, _ = unpack(pages.struct)
    index, dtype = INDEX_DTYPES[offset_type], DTYPES[kind]
    if not nnz:
        return np.zeros(rows + 1, np.int32), np.empty(0, np.int32), np.empty(0, dtype)
    indptr = np.frombuffer(pages, index, rows + 1, offsets - BEGIN)
    indices = np.frombuffer(pages, INDEX_DTYPES[column_type], nnz, columns - BEGIN)
    data = np.frombuffer(pages, dtype, nnz, values - BEGIN)
    if offset_type == column_type:
        return indptr, indices, data
    # Files and transposes have 64-bit offsets and 32-bit columns; SciPy needs one width.
    common = np.int32 if nnz < 2**31 else np.int64
    return indptr.astype(common), indices.astype(common, copy=False), data


def to_scipy(cls: type, shape: tuple[int, int], pages: Pages) -> Any:
    """Return a result as SciPy's csr, or as csc if it is the transpose of that shape."""
    indptr, indices, data = arrays_of(pages)
    return assemble(cls, shape, data, indices, indptr)


def result_class(original: Any, turned: bool) -> type:
    """Return SciPy's class of a product whose first sparse operand is `original`."""
    cls = type(original)
    if is_plain(cls):
        return cls
    return relative(original, "csc" if turned else "csr")


def with_values(matrix: Any, data: Any) -> Any:
    """Return a csr or csc matrix of the same pattern with other values."""
    cls = result_class(matrix, matrix.format == "csc")
    return assemble(cls, matrix.shape, data, matrix.indices, matrix.indptr)
