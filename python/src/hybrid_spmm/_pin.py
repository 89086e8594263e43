"""Pinned arrays: kept alive for as long as the library takes them for pinned."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from ._arrays import address
from ._dense import layout
from ._errors import ArgumentError, Error, OperandTypeError
from ._handle import Handle
from ._library import lib
from ._scipy import format_of


class Pin:
    """Arrays that a GPU copies directly; made by :func:`hybrid_spmm.pin`.

    The arrays are unpinned by ``unpin()``, at the end of a ``with`` block, or when this
    object is collected. If the engine is computing at that moment, they are unpinned, and
    released, when it is idle again.
    """

    def __init__(self, handle: Handle, arrays: list[Any]) -> None:
        self._handle = handle
        self._pinned: list[Any] = []
        try:
            for array in arrays:
                if array.nbytes:
                    self._pin(array)
        except BaseException:
            self.unpin()
            raise

    def _pin(self, array: Any) -> None:
        """Pin an array that is already kept, so that no interrupt leaves it pinned alone."""
        handle = self._handle
        # A weak reference keeps ndarray.resize() from moving the elements.
        entry = array, weakref.ref(array)
        handle.live.add(id(entry))
        self._pinned.append(entry)
        try:
            handle.call(lib.hybrid_pin, handle.pointer, address(array), array.nbytes)
        except Error:
            self._pinned.pop()
            handle.release(id(entry))
            raise

    def unpin(self) -> None:
        """Unpin the arrays. Unpinning twice does nothing."""
        pinned, self._pinned = self._pinned, []
        handle = self._handle

        def act() -> None:
            while pinned:
                entry = pinned.pop()
                lib.hybrid_unpin(handle.pointer, address(entry[0]))
                handle.release(id(entry))

        if pinned:
            handle.defer(act)

    def __del__(self) -> None:
        if getattr(self, "_pinned", None):
            self.unpin()

    def __enter__(self) -> Pin:
        return self

    def __exit__(self, *error: object) -> None:
        self.unpin()


def pinnable(operand: Any) -> list[Any]:
    """Return the arrays of an operand; raise if one of them does not lie in one piece."""
    arrays: list[Any] = (
        [operand.data, operand.indices, operand.indptr]
        if format_of(operand) in ("csr", "csc")
        else [operand]
    )
    for array in arrays:
        if not isinstance(array, np.ndarray):
            raise OperandTypeError(
                f"pin() takes NumPy arrays and csr and csc matrices, not {type(array).__name__}"
            )
        if not (array.flags.c_contiguous or array.flags.f_contiguous) or layout(array) is None:
            raise ArgumentError("pin() takes arrays without gaps")
    return arrays
