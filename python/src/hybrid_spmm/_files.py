"""Matrix Market files, read and written by the library, and SciPy's .npz."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._errors import FileError, FileMissingError, FormatError, OperandTypeError
from ._native.handle import Handle, sparse_pages
from ._native.library import lib
from ._operands.arrays import CODES, common
from ._operands.scipy_classes import sparse
from ._operands.sparse import check, to_scipy, transposed
from ._products.plans import operand
from ._products.product import F64

Path = str | os.PathLike[str]


def read_matrix(handle: Handle, path: Path, dtype: Any) -> Any:
    """Return the csr array in a file; see :func:`hybrid_spmm.read_mtx`."""
    wanted = np.dtype(dtype)
    if wanted not in CODES:
        raise OperandTypeError(f"a matrix is read as float32 or float64, not {wanted}")
    name = os.fspath(path)
    if name.endswith(".npz"):
        matrix = sparse().load_npz(name)
        if matrix.dtype.kind == "c":
            raise FormatError(f"{name} holds values of {matrix.dtype}, which are not converted")
        return sparse().csr_array(matrix).astype(wanted, copy=False)
    pages = sparse_pages(handle)
    try:
        handle.call(
            lib.hybrid_read_mtx,
            handle.pointer,
            os.fsencode(name),
            CODES[wanted],
            pages.struct,
        )
    except FileError as error:
        if not os.path.exists(name):
            raise FileMissingError(str(error)) from None
        raise
    return to_scipy(sparse().csr_array, (pages.struct.rows, pages.struct.cols), pages)


def write_matrix(handle: Handle, path: Path, A: Any) -> None:
    """Write a sparse matrix; see :func:`hybrid_spmm.write_mtx`."""
    name = os.fspath(path)
    a = operand(A)
    if name.endswith(".npz"):
        sparse().save_npz(name, A)
        return
    dtype = common(a.dtype, a.dtype)
    dtype = dtype if dtype in CODES else F64
    struct, _, _, _kept = transposed(handle, a, dtype) if a.turned else check(handle, a, dtype)
    handle.call(lib.hybrid_write_mtx, handle.pointer, os.fsencode(name), struct)
