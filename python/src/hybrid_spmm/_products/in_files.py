"""Matrices that stay in files, as operands and as results."""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_void_p
from functools import partial
from typing import Any

import numpy as np

from .._errors import ArgumentError, FileError, FileMissingError, OperandTypeError, ShapeError
from .._native import capi
from .._native.finalizers import Owner, in_turn
from .._native.handle import Handle, sparse_pages
from .._native.library import lib
from .._native.listen import Show
from .._operands.arrays import CODES, DTYPES, common
from .._operands.dense import check_dense, check_out, dense, new_dense
from .._operands.scipy_classes import format_of, sparse
from .._operands.sparse import Operand, check, to_scipy, transposed
from .._reports.report import Report, fetch
from .product import F64

Path = str | os.PathLike[str]


class File(Owner):
    """A matrix that stays in its file; see :func:`hybrid_spmm.open`.

    Attributes
    ----------
    path : str
        The name that was opened.
    shape : tuple of int
        Rows and columns.
    dtype : numpy.dtype
        float32 or float64, the type in which values are read.
    nnz : int
        Entries of a sparse matrix; all elements of a dense one.
    is_sparse : bool
        Whether the matrix is sparse.
    """

    def __init__(self, handle: Handle, path: Path) -> None:
        self.path = os.fspath(path)
        self._handle = handle
        self._address = c_void_p()
        name = os.fsencode(self.path)
        try:
            handle.call(lib.hybrid_file_open, handle.pointer, name, byref(self._address))
        except FileError as error:
            if not os.path.exists(self.path.split("::")[0]):
                raise FileMissingError(str(error)) from None
            raise
        close = partial(lib.hybrid_file_close, self._address)
        self._pointer = handle.pointer  # the engine lives as long as its file
        self._end = handle.when_idle(in_turn((close,)))
        csr, dense = lib.hybrid_file_csr(self._address), lib.hybrid_file_dense(self._address)
        self.is_sparse = bool(csr.type)
        found = csr if self.is_sparse else dense
        self.shape = (int(found.rows), int(found.cols))
        self.dtype = np.dtype(DTYPES[found.type])
        self.nnz = int(csr.nnz) if self.is_sparse else self.shape[0] * self.shape[1]

    def close(self) -> None:
        """Close the file. Closing twice does nothing."""
        self._end()
        self._address = c_void_p()

    def __enter__(self) -> File:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        return f"<hybrid_spmm.File {self.path!r}: {kind}, {self.shape}, {self.dtype}>"


def is_path(out: Any) -> bool:
    """Return whether a result is to be written to a file."""
    return isinstance(out, str | os.PathLike)


class Operands:
    """The operands of a product, as the library's structs."""

    def __init__(self, handle: Handle, A: Any, B: Any) -> None:
        self.handle = handle
        self.kept: list[Any] = []
        files = [M for M in (A, B) if isinstance(M, File)]
        found = common(A.dtype, B.dtype)  # raises an error for complex and other values
        if found not in CODES:  # files hold no integers
            found = F64
        self.dtype = files[0].dtype if files else found
        if any(file.dtype != self.dtype for file in files):
            raise OperandTypeError(
                f"the files hold {A.dtype} and {B.dtype}, which are not converted"
            )
        self.left = self.struct(A)
        self.right = self.left if B is A else self.struct(B)
        if not self.left[1]:
            raise OperandTypeError("the first operand of a product with files must be sparse")

    def struct(self, M: Any) -> tuple[capi.FileOperand, bool]:
        """Return the struct of an operand, and whether it is sparse."""
        if isinstance(M, File):
            if not M._address or M._handle is not self.handle:
                raise ArgumentError(f"{M!r} is closed or was opened by another engine")
            return capi.FileOperand(None, None, M._address), M.is_sparse
        kind = format_of(M)
        if not kind:
            packed, kept = dense(M if M.ndim == 2 else M[:, None], self.dtype)
            return capi.FileOperand(None, self.keep(packed, kept), None), False
        a = Operand(M, kind, False)
        packed, _, _, kept = (transposed if a.turned else check)(self.handle, a, self.dtype)
        return capi.FileOperand(self.keep(packed, (a, kept)), None, None), True

    def keep(self, packed: bytes, kept: Any) -> int:
        """Return the address of a struct that lives as long as the operands."""
        buffer = ctypes.create_string_buffer(bytes(packed), len(packed))
        self.kept.append((buffer, kept))
        return ctypes.addressof(buffer)


def file_options(resume: bool, part_rows: int) -> capi.FileOptions:
    """Return options of a result's file."""
    options = capi.FileOptions(ctypes.sizeof(capi.FileOptions))
    options.resume = resume
    options.part_rows = part_rows
    options.order = capi.ROW_MAJOR
    return options


def checked(A: Any, B: Any) -> tuple[Any, Any]:
    """Return the operands, as arrays if they are dense; raise an error unless A @ B exists."""
    A, B = (M if isinstance(M, File) or format_of(M) else check_dense(M) for M in (A, B))
    if A.shape[-1] != B.shape[0]:
        raise ShapeError(f"the operands have shapes {A.shape} and {B.shape}")
    return A, B


def multiply_files(
    handle: Handle,
    A: Any,
    B: Any,
    out: Any,
    alpha: float,
    beta: float,
    options: capi.FileOptions,
    show: Show | None,
) -> Any:
    """Return A @ B, where an operand is in a file or `out` names one."""
    A, B = checked(A, B)
    for name in ("resume", "part_rows"):
        if getattr(options, name) and not is_path(out):
            raise ArgumentError(f"{name} needs the name of a file in out")
    operands = Operands(handle, A, B)
    if is_path(out):
        if beta != 0:
            raise ArgumentError("beta must be 0 if the result is written to a file")
        write(operands, os.fspath(out), alpha, options, show)
        return out
    if operands.right[1]:
        if out is not None or alpha != 1 or beta != 0:
            raise ArgumentError("out, alpha and beta need a dense operand")
        return spgemm(operands, (A.shape[0], B.shape[1]), show)
    shape = (A.shape[0], *B.shape[1:])
    return spmm(operands, shape, out, alpha, beta, show)


def write(
    operands: Operands, path: str, alpha: float, options: capi.FileOptions, show: Show | None
) -> None:
    """Write a product to a file."""
    handle, (a, _), (b, is_sparse) = operands.handle, operands.left, operands.right
    name = os.fsencode(path)
    if is_sparse:
        if alpha != 1:
            raise ArgumentError("alpha needs a dense operand")
        arguments: tuple[Any, ...] = (handle.pointer, byref(a), byref(b))
        function = lib.hybrid_spgemm_to_file
    else:
        arguments = (handle.pointer, alpha, byref(a), byref(b))
        function = lib.hybrid_spmm_to_file
    handle.run(function, (*arguments, None, name, byref(options)), True, show)


def predict_file(handle: Handle, A: Any, B: Any, out: Any, options: capi.FileOptions) -> Report:
    """Return what the library predicts of A @ B, written to the file that `out` names."""
    A, B = checked(A, B)
    if not is_path(out):
        raise ArgumentError(f"out must be the name of a file, not {type(out).__name__}")
    operands = Operands(handle, A, B)
    (a, _), (b, is_sparse) = operands.left, operands.right
    arguments = (handle.pointer, byref(a), byref(b), None)
    if not is_sparse:
        return fetch(handle.call, lib.hybrid_spmm_files_predict, *arguments)
    file = (os.fsencode(out), byref(options))
    return fetch(handle.call, lib.hybrid_spgemm_to_file_predict, *arguments, *file)


def spgemm(operands: Operands, shape: tuple[int, int], show: Show | None) -> Any:
    """Return a sparse product as a csr array."""
    handle, (a, _), (b, _) = operands.handle, operands.left, operands.right
    pages = sparse_pages(handle)
    handle.run(
        lib.hybrid_spgemm_files,
        (handle.pointer, byref(a), byref(b), None, pages.struct),
        True,
        show,
    )
    return to_scipy(sparse().csr_array, shape, pages)


def spmm(
    operands: Operands,
    shape: tuple[int, ...],
    out: Any,
    alpha: float,
    beta: float,
    show: Show | None,
) -> Any:
    """Return a dense product in `out`, or in a new array."""
    handle, (a, _), (x, _) = operands.handle, operands.left, operands.right
    if out is None and beta != 0:
        raise ArgumentError("beta needs out")
    result = new_dense(handle, shape, operands.dtype) if out is None else out
    check_out(result, shape, operands.dtype)
    y, kept = dense(result if result.ndim == 2 else result[:, None], operands.dtype)
    if not np.shares_memory(kept, result) and result.size:
        raise ArgumentError("out must be a C or Fortran array of the product's type")
    handle.run(
        lib.hybrid_spmm_files,
        (handle.pointer, alpha, byref(a), byref(x), beta, None, y),
        True,
        show,
    )
    return result
