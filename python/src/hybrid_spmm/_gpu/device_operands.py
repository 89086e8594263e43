"""Operands in the memory of a GPU: arrays of CuPy and PyTorch as the library reads them."""

from __future__ import annotations

from typing import Any

from .._errors import MatrixError, OperandTypeError, ShapeError
from .._native import capi
from .._operands.arrays import CODES, DTYPES, INDEX_CODES
from .._operands.sparse import warn
from .foreign import Arrays, Flat, Library, View, library_of

SPACE = capi.SPACE_DEVICE
UNIT = (1,)  # strides of an array of one dimension without gaps


def library_for(A: Any, B: Any) -> Library | None:
    """Return the library whose arrays on a GPU are to be multiplied, None for host memory."""
    left, right = library_of(A), library_of(B)
    if left is not None and left.is_sparse(A) and left.on_device(A):
        return left
    if right is not None and right.is_sparse(B) and right.on_device(B):
        return right
    if left is not None and left.on_device(A):
        return left
    if right is not None and right.on_device(B):
        return right
    return None


class Matrix:
    """A sparse operand on a device, as the library reads it.

    ``arrays`` are indptr, indices and data of ``original``, and ``flat`` tells where they lie.
    ``shape`` and ``dtype`` are those of the operand. ``turned`` says that the arrays are the CSR
    of the operand's transpose.
    """

    __slots__ = ("arrays", "device", "dtype", "flat", "library", "original", "shape", "turned")

    def __init__(self, library: Library, operand: Any) -> None:
        self.library = library
        self.original = library.compressed(operand)
        kind, self.shape, self.arrays = library.parts(self.original)
        if len(self.shape) != 2:
            raise ShapeError(f"a sparse operand has {len(self.shape)} dimensions; 2 are supported")
        flat, (offsets, columns, values) = library.flat, self.arrays
        self.flat = flat(offsets), flat(columns), flat(values)
        self.turned = kind == "csc"
        self.dtype = self.flat[2][3]
        self.device = library.device(values)

    def over(self, original: Any, turned: bool) -> Matrix:
        """Return the same operand over the arrays of another matrix."""
        library, result = self.library, Matrix.__new__(Matrix)
        result.library, result.shape = library, self.shape
        result.dtype, result.device = self.dtype, self.device
        result.original, result.turned = original, turned
        _, _, result.arrays = library.parts(original)
        offsets, columns, values = result.arrays
        result.flat = library.flat(offsets), library.flat(columns), library.flat(values)
        return result

    def transpose(self) -> Matrix:
        """Return the operand that is the transpose, over the same arrays."""
        result = self.over(self.original, not self.turned)
        result.shape = self.shape[1], self.shape[0]
        return result

    def held(self, turned: bool) -> Matrix:
        """Return the operand held by rows, or turned; its library converts it if need be."""
        if turned == self.turned:
            return self
        other = "csc" if self.library.format(self.original) == "csr" else "csr"
        return self.over(self.library.convert(self.original, other), turned)

    def bind(self, dtype: Any) -> tuple[bytes, Any]:
        """Return the packed struct, and what has to live while it is used.

        Values of another type are converted on the device.
        """
        arrays, (first, second, third) = self.arrays, self.flat
        if self.dtype != dtype or not (first[2] and second[2] and third[2]):
            arrays, (first, second, third) = self.plain(dtype)
        offsets, ends, _, offset_type = first
        columns, nnz, _, column_type = second
        values, count, _, _ = third
        codes = INDEX_CODES.get(offset_type), INDEX_CODES.get(column_type)
        if None in codes:
            raise OperandTypeError(
                f"offsets of {offset_type} and indices of {column_type} on a device are not "
                "supported; int32 and int64 are"
            )
        rows, cols = self.shape
        if self.turned:
            rows, cols = cols, rows
        if ends != rows + 1 or count != nnz:
            raise MatrixError(
                f"{rows} rows with {nnz} indices have {ends} offsets and {count} values"
            )
        struct = capi.CSR.pack(
            rows,
            cols,
            nnz,
            codes[0],
            offsets,
            columns,
            values,
            CODES[dtype],
            codes[1],
            SPACE,
        )
        return struct, arrays

    def plain(self, dtype: Any) -> tuple[Arrays, tuple[Flat, Flat, Flat]]:
        """Return the arrays without gaps, with values of `dtype`, and where they lie."""
        library = self.library
        found = []
        for array, (_, _, close, own) in zip(self.arrays, self.flat, strict=True):
            wanted = dtype if array is self.arrays[2] else own
            if len(array.shape) != 1:
                raise MatrixError(f"an array of a sparse matrix has {len(array.shape)} dimensions")
            found.append(array if close and own == wanted else library.cast(array, wanted))
        offsets, columns, values = found
        flat = library.flat(offsets), library.flat(columns), library.flat(values)
        return (offsets, columns, values), flat

    def repaired(self) -> Matrix:
        """Return the operand sorted and without repeated entries; raise if it is damaged."""
        offsets, columns, _ = self.arrays
        size = self.shape[self.turned ^ 1]
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


def layout(view: View) -> tuple[int, int, int, int] | None:
    """Return rows, columns, ld and order of a dense array, or None if it must be copied."""
    _, shape, strides, _ = view
    if strides == UNIT:
        return shape[0], 1, 1, capi.ROW_MAJOR
    if len(shape) == 2:
        rows, cols = shape
        down, right = strides
    else:
        rows, cols, down, right = shape[0], 1, strides[0], 1
    if (right == 1 or cols < 2) and (down >= cols or rows < 2):
        return rows, cols, max(down if rows > 1 else cols, cols, 1), capi.ROW_MAJOR
    if (down == 1 or rows < 2) and (right >= rows or cols < 2):
        return rows, cols, max(right if cols > 1 else rows, rows, 1), capi.COL_MAJOR
    return None


def dense(library: Library, array: Any, view: View, dtype: Any) -> tuple[bytes, Any]:
    """Return the packed struct of a dense operand, and the array that it describes.

    The array is a copy unless it has that dtype and C or Fortran order.
    """
    found = layout(view) if view[3] == dtype else None
    if found is None:
        array = library.cast(array, dtype)
        view = library.view(array)
        found = layout(view)
        assert found is not None
    return capi.DENSE.pack(*found, view[0], CODES[dtype], SPACE), array


def new_dense(library: Library, a: Matrix, shape: tuple[int, ...], dtype: Any) -> tuple[Any, bytes]:
    """Return an unset array in C order where the operand `a` lies, and its packed struct."""
    array = library.empty(shape, dtype, a.arrays[2])
    rows, cols = shape if len(shape) == 2 else (shape[0], 1)
    return array, capi.DENSE.pack(
        rows, cols, cols or 1, capi.ROW_MAJOR, library.pointer(array), CODES[dtype], SPACE
    )


def common(a: Any, b: Any) -> Any:
    """Return the type of a product of float32 and float64; raise if one has another type."""
    try:
        left, right = CODES[a], CODES[b]
    except KeyError as error:
        raise OperandTypeError(
            f"values of {error.args[0]} on a device are not supported; float32 and float64 are"
        ) from None
    return DTYPES[left if left > right else right]
