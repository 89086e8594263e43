"""Loads the shared library that lies in the folder of the package.

The system is never searched for a library of the same name. For development, the
environment variable ``HYBRID_SPMM_LIBRARY`` names the file to load in its place.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from . import capi

PACKAGE = Path(__file__).parents[1]


def library_path() -> str:
    """Return the absolute path of the library that the package loads."""
    named = os.environ.get("HYBRID_SPMM_LIBRARY")
    return os.path.abspath(named) if named else str(PACKAGE / "libhybrid_spmm.so")


def load(path: str) -> ctypes.CDLL:
    """Load the library, check its version and declare its functions."""
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"hybrid_spmm cannot load its library: {error}") from error
    found, expected = library.hybrid_version(), capi.VERSION
    if found // 100 != expected // 100:
        raise ImportError(
            f"{path} has version {found // 10000}.{found // 100 % 100}, "
            f"but this package needs {expected // 10000}.{expected // 100 % 100}"
        )
    capi.declare(library)
    return library


lib = load(library_path())
