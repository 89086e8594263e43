"""Sparse products computed by the CPU and GPUs together, for SciPy's matrices.

The package multiplies matrices and arrays of SciPy, NumPy, CuPy and PyTorch as they are,
without copies. The engine starts with the first product. It uses all CPU cores, and a GPU
if there is one; without a GPU the CPU computes alone.

Examples
--------
>>> import hybrid_spmm as hs, numpy as np, scipy.sparse as sp
>>> A = sp.random_array((1000, 1000), density=0.01, format="csr", rng=0)
>>> X = np.ones((1000, 8))
>>> C = hs.matmul(A, A)                       # sparse times sparse
>>> bool(np.allclose((C - A @ A).data, 0))
True
>>> Y = hs.matmul(A, X)                       # sparse times dense
>>> square = hs.plan(A, A)                    # inspect the patterns once,
>>> D = square(2 * A, 2 * A)                  # multiply many times
>>> op = hs.aslinearoperator(A)               # for eigsh, svds, lobpcg, cg
>>> with hs.Engine(threads=2, host_memory="1GiB") as engine:
...     C = engine.matmul(A, A)               # within limits
>>> with hs.accelerate():
...     C = A @ A                             # SciPy's operators
>>> rows = dict(hs.matmul_rows(A, A))         # panels of rows; C is never stored
>>> hs.last_report().rows
1000
"""

from __future__ import annotations

import importlib
from typing import Any

from ._calls import (
    aslinearoperator,
    last_report,
    matmul,
    matmul_rows,
    pin,
    plan,
    trace,
)
from ._engine import Engine, default_engine
from ._errors import (
    ArgumentError,
    CancelledError,
    DeviceError,
    DeviceMemoryError,
    DeviceNotFoundError,
    Error,
    ExactnessError,
    FileError,
    FileMissingError,
    FormatError,
    FormatWarning,
    HostMemoryError,
    MatrixError,
    OperandTypeError,
    ShapeError,
    StateError,
    UnsupportedError,
)
from ._file_calls import open, predict, read_mtx, write_mtx
from ._pin import Pin
from ._products.accelerate import Acceleration, accelerate
from ._products.in_files import File
from ._products.plan import Plan
from ._reports.report import Report, Use
from ._reports.trace import Trace

__version__ = "0.2.0"

__all__ = [
    "Acceleration",
    "ArgumentError",
    "CancelledError",
    "DeviceError",
    "DeviceMemoryError",
    "DeviceNotFoundError",
    "Engine",
    "Error",
    "ExactnessError",
    "File",
    "FileError",
    "FileMissingError",
    "FormatError",
    "FormatWarning",
    "HostMemoryError",
    "MatrixError",
    "OperandTypeError",
    "Pin",
    "Plan",
    "Report",
    "ShapeError",
    "StateError",
    "Trace",
    "UnsupportedError",
    "Use",
    "accelerate",
    "aslinearoperator",
    "default_engine",
    "last_report",
    "matmul",
    "matmul_rows",
    "open",
    "pin",
    "plan",
    "predict",
    "read_mtx",
    "trace",
    "write_mtx",
]


def __getattr__(name: str) -> Any:
    if name == "torch":  # imports PyTorch
        return importlib.import_module(".torch", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
