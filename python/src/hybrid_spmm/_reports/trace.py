"""Traces: every stage of every chunk, which the library keeps and writes as a timeline."""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_void_p
from functools import partial
from pathlib import Path

from .._errors import StateError
from .._native.finalizers import Address, Owner, in_turn
from .._native.handle import Handle
from .._native.library import lib

ADD = ctypes.cast(lib.hybrid_trace_add, c_void_p)  # which an engine calls for every event


class Trace(Owner):
    """A trace that is being taken; leaving the ``with`` block writes its file.

    Parameters are those of :func:`hybrid_spmm.trace`.
    """

    def __init__(self, handle: Handle, path: str | os.PathLike[str]) -> None:
        self._pointer = Address()
        self._pointer.keep = handle.pointer  # the C engine lives until the trace is destroyed
        self._closed = False
        self._path = Path(path).absolute()
        if self._path.is_dir() or not self._path.parent.is_dir():
            self._path.open("w")  # raises the error that says why
        self._handle = handle
        stop = partial(lib.hybrid_engine_trace, handle.pointer, None, None)
        self._end = handle.when_idle(
            in_turn((stop, partial(lib.hybrid_trace_destroy, self._pointer)))
        )
        handle.call(lib.hybrid_trace_create, handle.pointer, byref(self._pointer))
        handle.tell(lib.hybrid_engine_trace, handle.pointer, ADD, self._pointer)

    def close(self) -> None:
        """Stop tracing and write the file. Closing twice does nothing."""
        if self._closed:
            return
        try:
            self._handle.call(lib.hybrid_trace_write_json, self._pointer, os.fsencode(self._path))
        except StateError:  # the engine is in use; close() may be called again
            raise
        except BaseException:
            self._destroy()
            raise
        self._destroy()

    def _destroy(self) -> None:
        """Stop tracing and drop the events once the engine is idle."""
        self._closed = True
        self._end()

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
