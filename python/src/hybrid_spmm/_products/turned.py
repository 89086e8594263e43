"""Transposes that are kept between the products of one block of accelerate().

A CSC matrix times a dense one needs the transpose of the arrays. Loops multiply by one matrix
many times, so the transpose is kept from the second product on. Every product compares the
arrays with copies of those that were transposed, so that changes in place are noticed; this
takes a small part of the time of a transposition. A kept transpose and the copies take twice
the memory of the matrix. They are dropped when the matrix is collected, when the block ends,
or when memory runs out.
"""

from __future__ import annotations

import functools
import os
import weakref
from functools import partial
from typing import Any

import numpy as np

from .._native.handle import Handle
from .._operands.sparse import Bound, Operand, transposed

MOST = 4  # maximum number of matrices with a kept transpose
SHARE = 32  # a matrix may take at most 1/SHARE of the machine's memory


@functools.cache
def memory() -> int:
    """Return the bytes of memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class Kept:
    """A matrix that was multiplied and, from the second product on, its transpose."""

    __slots__ = ("offsets", "turned")

    def __init__(self, offsets: weakref.ref[Any]) -> None:
        self.offsets = offsets
        self.turned: tuple[tuple[Any, ...], Bound] | None = None


class Transposes:
    """What one block keeps. A matrix is known by its array of offsets, which A.T shares."""

    def __init__(self) -> None:
        # Finalizers change it at any moment, so no lock is held: every access is one operation.
        # They run no Python code (finalizers.py): pop() takes the weak reference for a default.
        self._kept: dict[int, Kept] = {}

    def turn(self, handle: Handle, operand: Operand, dtype: Any) -> Bound:
        """Return the struct of the transpose of what the operand's arrays hold."""
        _, _, _, arrays = operand.bind(dtype)
        kept = self._find(operand.matrix.indptr)
        if kept is None:
            return transposed(handle, operand, dtype)
        if kept.turned is not None and same(arrays, kept.turned[0]):
            return kept.turned[1]
        kept.turned = None
        bound = transposed(handle, operand, dtype)
        if sum(array.nbytes for array in arrays) <= memory() // SHARE:
            kept.turned = tuple(array.copy() for array in arrays), bound
        return bound

    def _find(self, offsets: Any) -> Kept | None:
        """Return what is kept of a matrix; None if it is met for the first time."""
        key, kept = id(offsets), self._kept
        found = kept.get(key)
        if found is not None and found.offsets() is offsets:
            return found
        kept[key] = Kept(weakref.ref(offsets, partial(kept.pop, key)))
        for old in list(kept)[:-MOST]:
            kept.pop(old, None)
        return None

    def clear(self) -> bool:
        """Drop everything; return whether a transpose was kept."""
        found = any(kept.turned is not None for kept in list(self._kept.values()))
        self._kept.clear()
        return found


def same(arrays: tuple[Any, ...], copies: tuple[Any, ...]) -> bool:
    """Return whether arrays hold the same bits as copies of them."""
    return all(
        a.dtype == b.dtype and np.array_equal(a.view(f"i{a.itemsize}"), b.view(f"i{b.itemsize}"))
        for a, b in zip(arrays, copies, strict=True)
    )
