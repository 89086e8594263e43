"""SciPy's matrix classes, imported when the first operand of that kind is met."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

# Class of an operand: its format, "" if it is not sparse. Sparse ones are added when met.
FORMATS: dict[type, str] = {np.ndarray: ""}
_blank: dict[type, list[tuple[str, Any]]] = {}


def sparse() -> Any:
    """Return the module scipy.sparse."""
    import scipy.sparse

    return scipy.sparse


def format_of(operand: Any) -> str | None:
    """Return "csr", "csc", ... for a sparse matrix or array of SciPy, else None."""
    known = FORMATS.get(type(operand))
    if known is not None:
        return known
    if "scipy.sparse" not in sys.modules or not sparse().issparse(operand):
        return None
    kind: str = operand.format
    FORMATS[type(operand)] = kind
    return kind


def relative(operand: Any, kind: str) -> type:
    """Return SciPy's class of another format: an array for an array, else a matrix."""
    module = sparse()
    suffix = "array" if isinstance(operand, module.sparray) else "matrix"
    found: type = getattr(module, f"{kind}_{suffix}")
    return found


def is_plain(cls: type) -> bool:
    """Return whether a class is one of SciPy's own for csr and csc, not derived from one."""
    if cls in _blank:
        return True
    return cls.__module__.startswith("scipy.sparse") and cls.__name__[:4] in ("csr_", "csc_")


def assemble(cls: type, shape: tuple[int, int], data: Any, indices: Any, indptr: Any) -> Any:
    """Make a canonical csr or csc matrix over arrays that are known to be right.

    SciPy's constructor examines the arrays for longer than a small product takes. A blank
    instance of the class is copied in its place, whatever attributes it has.
    """
    blank = _blank.get(cls)
    if blank is None:
        made = cls((np.empty(0), np.empty(0, np.int32), np.zeros(1, np.int32)), shape=(0, 0))
        made.has_canonical_format = True
        if made.__dict__.get("_shape") != (0, 0):  # a SciPy that keeps the shape elsewhere
            return cls((data, indices, indptr), shape=shape)
        set_here = ("_shape", "data", "indices", "indptr")
        blank = [item for item in made.__dict__.items() if item[0] not in set_here]
        _blank[cls] = blank
    matrix: Any = object.__new__(cls)
    matrix._shape = shape
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    for name, value in blank:
        setattr(matrix, name, value)
    return matrix
