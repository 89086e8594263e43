"""Finalizers that run no Python code, so that no interrupt is lost in them.

A signal handler, such as the one that raises KeyboardInterrupt, runs between two instructions
of Python code. In a finalizer Python would print the exception and drop it. The finalizers of
this package are therefore composed of functions written in C: a signal that arrives during
one of them is handled by the code that follows, where the exception is raised as usual.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from ctypes import c_void_p
from functools import partial
from operator import attrgetter, methodcaller
from typing import Any, NoReturn, SupportsIndex

Action = Callable[[], object]

call_each = partial(map, methodcaller("__call__"))

# Python evaluates ``object.__del__`` and calls what it finds without arguments. With
# ``__del__ = stored``, that is the attribute ``_end``.
stored = property(attrgetter("_end"))


def in_turn(actions: Iterable[Action]) -> Action:
    """Return a function written in C that calls each of some functions once."""
    return partial(deque, call_each(actions), 0)


class Owner:
    """An object that ends something of the library when it is collected, with ``_end``.

    A copy would end it too, while the original is in use.
    """

    _end: Action = int  # does nothing, until there is something to end
    __del__ = stored

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} can be neither copied nor pickled")


class Address(c_void_p):
    """An address for the library; ``keep`` holds what has to live as long as its user."""

    __slots__ = ("keep",)

    keep: Any
