"""Operands in the memory of a GPU: arrays of CuPy and PyTorch as the library reads them."""

from __future__ import annotations

from typing import Any

from . import _capi
from ._arrays import CODES, DTYPES, INDEX_CODES
from ._errors import MatrixError, OperandTypeError
from ._foreign import Library, Parts, View, library_of
from ._sparse import warn

SPACE = _capi.SPACE_DEVICE


def library_for(A: Any, B: Any) -> Library | None:
    """Return the library whose arrays on a GPU are to be multiplied, None for host memory."""
    left, right = library_of(A), library_of(B)
    if left is None and right is None:
        return None
    here = [
        (library, operand)
        for library, operand in ((left, A), (right, B))
        if library is not None and library.on_device(operand)
    ]
    for library, operand in here:
        if library.is_sparse(operand):
            return library
    return here[0][0] if here else None


class Matrix:
    """A sparse operand on a device, as the library reads it.

    ``parts`` holds the arrays of ``original``, and the shape of the operand; ``turned`` says
    that the arrays are the CSR of the operand's transpose.
    """

    def __init__(self, library: Library, operand: Any) -> None:
        kind = library.format(operand)
        self.library = library
        self.original = library.convert(operand, kind if kind == "csc" else "csr")
        self.parts: Parts = library.parts(self.original)
        self.views = [library.view(array) for array in self.parts[2:]]
        self.turned = self.parts.format == "csc"
        self.dtype = self.views[2].dtype
        self.device = library.device(self.parts.data)

    def over(self, original: Any, turned: bool) -> Matrix:
        """Return the same operand over the arrays of another matrix."""
        result = Matrix.__new__(Matrix)
        result.__dict__.update(self.__dict__)
        result.original, result.turned = original, turned
        result.parts = self.library.parts(original)._replace(shape=self.parts.shape)
        result.views = [self.library.view(array) for array in result.parts[2:]]
        return result

    def transpose(self) -> Matrix:
        """Return the operand that is the transpose, over the same arrays."""
        result = self.over(self.original, not self.turned)
        result.parts = self.parts._replace(shape=self.parts.shape[::-1])
        return result

    def held(self, turned: bool) -> Matrix:
        """Return the operand held by rows, or turned; its library converts it if need be."""
        if turned == self.turned:
            return self
        other = "csc" if self.parts.format == "csr" else "csr"
        return self.over(self.library.convert(self.original, other), turned)

    def bind(self, dtype: Any) -> tuple[bytes, Any]:
        """Return the packed struct, and what has to live while it is used.

        Values of another type are converted on the device.
        """
        library, parts, views = self.library, self.parts, self.views
        arrays: list[Any] = list(parts[2:])
        if self.dtype != dtype or any(view.strides != (1,) for view in views):
            if self.dtype != dtype:
                arrays[2] = library.cast(arrays[2], dtype)
            arrays = [plain(library, array) for array in arrays]
            views = [library.view(array) for array in arrays]
        offsets, columns, values = views
        rows, cols = parts.shape[::-1] if self.turned else parts.shape
        nnz = columns.shape[0]
        if offsets.shape != (rows + 1,) or values.shape != (nnz,):
            raise MatrixError(
                f"{rows} rows with {nnz} indices have {offsets.shape[0]} offsets "
                f"and values of shape {values.shape}"
            )
        struct = _capi.CSR.pack(
            rows,
            cols,
            nnz,
            INDEX_CODES[offsets.dtype],
            offsets.pointer,
            columns.pointer,
            values.pointer,
            CODES[dtype],
            INDEX_CODES[columns.dtype],
            SPACE,
        )
        return struct, arrays

    def repaired(self) -> Matrix:
        """Return the operand sorted and without repeated entries; raise if it is damaged."""
        parts, size = self.parts, self.parts.shape[self.turned ^ 1]
        offsets, columns = parts.indptr, parts.indices
        sound = (
            int(offsets[0]) == 0
            and int(offsets[-1]) == columns.shape[0]
            and bool((offsets[1:] >= offsets[:-1]).all())
            and bool(((columns >= 0) & (columns < size)).all())
        )
        if not sound:
            raise MatrixError("offsets of a matrix on a device fall, or an index is out of range")
        warn("unsorted, or has duplicate entries")
        return self.over(self.library.canonical(self.original), self.turned)


def plain(library: Library, array: Any) -> Any:
    """Return an array of one dimension without gaps, copied if it has some."""
    view = library.view(array)
    if len(view.shape) != 1:
        raise MatrixError(f"an array of a sparse matrix has {len(view.shape)} dimensions")
    return array if view.strides == (1,) else library.cast(array, view.dtype)


def layout(view: View) -> tuple[int, int, int, int] | None:
    """Return rows, columns, ld and order of a dense array, or None if it must be copied."""
    rows, cols = view.shape if len(view.shape) == 2 else (view.shape[0], 1)
    down, right = view.strides if len(view.shape) == 2 else (view.strides[0], 1)
    if (right == 1 or cols < 2) and (down >= cols or rows < 2):
        return rows, cols, max(down if rows > 1 else cols, cols, 1), _capi.ROW_MAJOR
    if (down == 1 or rows < 2) and (right >= rows or cols < 2):
        return rows, cols, max(right if cols > 1 else rows, rows, 1), _capi.COL_MAJOR
    return None


def dense(library: Library, array: Any, view: View, dtype: Any) -> tuple[bytes, Any]:
    """Return the packed struct of a dense operand, and the array that it describes.

    The array is a copy unless it has that dtype and C or Fortran order.
    """
    found = layout(view) if view.dtype == dtype else None
    if found is None:
        array = library.cast(array, dtype)
        view = library.view(array)
        found = layout(view)
        assert found is not None
    return _capi.DENSE.pack(*found, view.pointer, CODES[dtype], SPACE), array


def common(library: Library, a: Any, b: Any) -> Any:
    """Return the type of a product of float32 and float64; raise if one has another type."""
    for dtype in (a, b):
        if dtype not in CODES:
            raise OperandTypeError(
                f"values of {dtype} on a device are not supported; float32 and float64 are"
            )
    return DTYPES[max(CODES[a], CODES[b])]
