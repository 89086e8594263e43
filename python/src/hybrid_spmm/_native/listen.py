"""A callback of the library that can be interrupted without losing the exception.

A signal handler, such as the one that raises KeyboardInterrupt, runs when Python code
runs next: during a long call of the library that is the first instruction of the callback,
before any ``try`` of a function is entered, and ctypes would print and drop the exception.
A generator is resumed inside its ``try``, so the exception can be kept there, the call be
ended, and the exception be raised by the function that made the call.

``max`` calls the generator's ``send`` for each argument of the callback, without a frame
of Python between, and returns the argument whose key is largest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any

from . import capi

Show = Callable[[int, int], object]


class Listener:
    """What a callback of progress tells while one call runs, and what ended the call."""

    __slots__ = ("callback", "error", "show")

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.show: Show | None = None
        send = started(self.listen())
        self.callback = capi.PROGRESS_FN(functools.partial(max, key=send))

    def listen(self) -> Generator[int, int, None]:
        """Receive user, which is 0, rows_done and rows, and let max return user or rows."""
        key, place, told, due = 0, 0, [0, 0, 0], False
        while True:
            try:
                while True:  # a signal handler may also run where a loop begins anew
                    if due:
                        key = (1, 0, 2 if self.error else 0)[place]
                        place = (place + 1) % 3
                    due = True
                    told[place] = yield key
                    if place == 2 and self.show:
                        self.show(told[1], told[2])
            except GeneratorExit:
                return
            except BaseException as error:  # raised again by Handle.call()
                self.error = self.error or error


# Every listener is kept for later calls, of any engine: a generator runs Python code as it is
# collected, in which an interrupt would be lost.
_made: list[Listener] = []
_idle: list[Listener] = []


def idle_listener() -> Listener:
    """Return a listener that no call uses; give it back by put_back()."""
    try:
        return _idle.pop()
    except IndexError:
        made = Listener()
        _made.append(made)
        return made


put_back = _idle.append


def started(generator: Generator[Any, Any, None]) -> Callable[[Any], Any]:
    """Run a generator up to its first yield and return its send method."""
    next(generator)
    return generator.send
