"""Pinned arrays: kept alive for as long as the library takes them for pinned."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

import numpy as np

from ._errors import ArgumentError, Error, OperandTypeError
from ._native.finalizers import Action, Address, Owner, in_turn
from ._native.handle import Handle
from ._native.library import lib
from ._operands.arrays import address
from ._operands.scipy_classes import format_of


class Pin(Owner):
    """Arrays that a GPU copies directly; made by :func:`hybrid_spmm.pin`.

    The arrays are unpinned by ``unpin()``, at the end of a ``with`` block, or when this
    object is collected. If the engine is computing at that moment, they are unpinned, and
    released, when it is idle again.
    """

    def __init__(self, handle: Handle, arrays: list[Any]) -> None:
        actions: list[Action] = []
        self._end = handle.when_idle(in_turn(actions))
        try:
            for array in arrays:
                if array.nbytes:
                    pin(handle, array, actions)
        except BaseException:
            self.unpin()
            raise

    def unpin(self) -> None:
        """Unpin the arrays. Unpinning twice does nothing."""
        self._end()

    def __enter__(self) -> Pin:
        return self

    def __exit__(self, *error: object) -> None:
        self.unpin()


def pin(handle: Handle, array: Any, actions: list[Action]) -> None:
    """Pin an array, and add what unpins it to `actions`.

    That is added first, so that no interrupt leaves the array pinned alone.
    """
    pinned = Address(address(array))
    # A weak reference keeps ndarray.resize() from moving the elements.
    pinned.keep = array, weakref.ref(array)
    actions.append(partial(lib.hybrid_unpin, handle.pointer, pinned))
    try:
        handle.call(lib.hybrid_pin, handle.pointer, pinned, array.nbytes)
    except Error:
        actions.pop()
        raise


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
        flags = array.flags
        if not (flags.c_contiguous or flags.f_contiguous) or not flags.aligned:
            raise ArgumentError("pin() takes aligned arrays without gaps")
    return arrays
