"""The functions of the package for files, which use the default engine."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._engine import default_engine
from ._products.in_files import File
from ._reports.report import Report


def open(path: str | os.PathLike[str]) -> File:
    """Open a matrix that stays in its file, as an operand of :func:`matmul`.

    Parameters
    ----------
    path : path
        A file of any format that the library reads: Matrix Market, lists of edges, SciPy's
        .npz, .npy, HDF5 files of AnnData, 10x Genomics and Binsparse, PETSc's binary files,
        and JSON that describes raw arrays. ``"FILE::MEMBER"`` selects one of the matrices in
        a file. Contents, not the name, tell the format.

    Returns
    -------
    File
        With ``shape``, ``dtype``, ``nnz`` and ``is_sparse``. Close it, or use it in a
        ``with`` block.

    Raises
    ------
    FormatError
        If the file is malformed.
    FileError
        If the file cannot be read; also a FileNotFoundError if it does not exist.

    Examples
    --------
    >>> import hybrid_spmm as hs, scipy.sparse as sp, os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = os.path.join(folder, "A.npz")
    >>> sp.save_npz(path, sp.csr_array([[1.0, 0.0], [2.0, 3.0]]))
    >>> with hs.open(path) as A:
    ...     out = hs.matmul(A, A, out=os.path.join(folder, "C.npz"))
    >>> sp.load_npz(out).toarray()
    array([[1., 0.],
           [8., 9.]])
    """
    return default_engine().open(path)


def predict(
    A: Any,
    B: Any,
    *,
    out: str | os.PathLike[str],
    resume: bool = False,
    part_rows: int = 0,
) -> Report:
    """Predict what ``matmul(A, B, out=out)`` takes of memory, time and the disk.

    Nothing is computed, and the file `out` does not change. If A or B is in a file, some of it
    is read. A prediction for two sparse operands plans two ranges of rows, and takes the other
    rows to be like these.

    Parameters
    ----------
    A, B, out, resume, part_rows
        As in :func:`matmul`; `out` is a path.

    Returns
    -------
    Report
        With these attributes; the others are 0:

        - ``peak_host_bytes``, ``peak_device_bytes``, ``peak_pinned_bytes``: memory
        - ``predicted_s``: wall time
        - ``host_bytes``: bytes that are read from files
        - ``file_bytes``: bytes on the disk at the end, or 0 if they depend on the values
        - ``rows``, ``flops``, ``predicted_nnz_out``, ``predicted_result_bytes``: the product

    Raises
    ------
    ArgumentError
        If `out` is not a path.
    UnsupportedError
        If the ending of `out` names no format that is written.
    ShapeError, MatrixError, OperandTypeError, HostMemoryError, DeviceMemoryError
        As in :func:`matmul`.

    Examples
    --------
    >>> import hybrid_spmm as hs, scipy.sparse as sp
    >>> A = sp.eye_array(1000, format="csr")
    >>> hs.predict(A, A, out="C.npz").flops
    2000
    """
    return default_engine().predict(A, B, out=out, resume=resume, part_rows=part_rows)


def read_mtx(path: str | os.PathLike[str], dtype: Any = np.float64) -> Any:
    """Read a sparse matrix from a Matrix Market file, or SciPy's if the name ends in .npz.

    Parameters
    ----------
    path : path
        A coordinate file, plain or gzip: real, integer or pattern; general, symmetric or
        skew-symmetric. Repeated entries are summed.
    dtype : float32 or float64
        Type of the values.

    Returns
    -------
    scipy.sparse.csr_array

    Raises
    ------
    FormatError
        If the file is malformed; the message names the line.
    FileError
        If the file cannot be read; also a FileNotFoundError if it does not exist.

    Examples
    --------
    >>> import hybrid_spmm as hs, scipy.sparse as sp, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "eye.mtx")
    >>> hs.write_mtx(path, sp.eye_array(3, format="csr"))
    >>> hs.read_mtx(path).nnz
    3
    """
    return default_engine().read_mtx(path, dtype)


def write_mtx(path: str | os.PathLike[str], A: Any) -> None:
    """Write a sparse matrix to a Matrix Market file, or SciPy's if the name ends in .npz.

    A Matrix Market file is written under a temporary name and renamed when complete.

    Parameters
    ----------
    path : path
    A : SciPy sparse array or matrix

    Raises
    ------
    FileError
        If the file cannot be written.
    MatrixError
        If offsets or indices of A are out of range.

    Examples
    --------
    See :func:`read_mtx`.
    """
    default_engine().write_mtx(path, A)
