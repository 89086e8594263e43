"""Sparse products computed by the CPU and GPUs together, for SciPy's matrices.

>>> import hybrid_spmm as hs, numpy as np, scipy.sparse as sp
>>> A = sp.random_array((1000, 1000), density=0.01, format="csr", rng=0)
>>> C = hs.matmul(A, A)
>>> bool(np.allclose((C - A @ A).data, 0))
True
"""

from __future__ import annotations

from typing import Any

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
from ._progress import Progress

__version__ = "0.2.0"


def matmul(
    A: Any,
    B: Any,
    *,
    out: Any = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    progress: Progress = False,
) -> Any:
    return default_engine().matmul(A, B, out=out, alpha=alpha, beta=beta, progress=progress)
