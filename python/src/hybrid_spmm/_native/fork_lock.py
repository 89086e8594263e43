"""A lock for threads of a process that may fork."""

from __future__ import annotations

import os
import threading
import weakref


class ForkLock:
    """A lock that the child of a fork finds free, whichever thread of the parent held it.

    The thread that forks must not hold it.
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_locks: weakref.WeakSet[ForkLock] = weakref.WeakSet()


def _forked() -> None:
    for lock in _locks:
        lock._lock = threading.Lock()


os.register_at_fork(after_in_child=_forked)
