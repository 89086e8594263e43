"""One engine of the C library: its calls, which queue up, and how long it lives.

The C engine serves one thread at a time, and may be destroyed only when nothing that it
made is in use. A handle therefore has

- ``lock``: held during every call, so that threads queue up;
- ``live``: identities of results, plans and pins that need the engine. A closed engine is
  destroyed when the last of them is gone;
- ``deferred``: what finalizers left to be done when the engine is idle. A finalizer may run
  at any moment, on any thread, also inside a call on this engine.

Only hybrid_csr_free() and hybrid_dense_free() are called without the lock: the library
allows them at any time.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from ctypes import byref, c_void_p
from functools import partial
from operator import attrgetter, methodcaller
from typing import Any

from ._capi import EngineOptions
from ._errors import StateError, error_for
from ._library import lib
from ._listen import Listener, Show

get_ident = threading.get_ident
_call = methodcaller("__call__")
CLOSED = "the engine is closed"
INSIDE = "the engine is used from inside a function that it calls"


class Handle:
    """A C engine and what keeps it alive."""

    __slots__ = (
        "busy",
        "caller",
        "deferred",
        "destroyed",
        "kind",
        "listener",
        "live",
        "lock",
        "open",
        "pid",
        "pointer",
        "thread",
    )

    def __init__(self, options: EngineOptions) -> None:
        sentence = ctypes.create_string_buffer(1024)
        options.message = ctypes.addressof(sentence)
        options.message_size = len(sentence)
        pointer = c_void_p()
        status = lib.hybrid_engine_create(byref(options), byref(pointer))
        if status:
            raise error_for(status, sentence.value.decode())
        self.pointer = pointer.value
        self.pid = os.getpid()
        self.kind = self.backend()
        self.lock = threading.Lock()
        self.caller = 0  # identity of the thread whose call runs
        self.busy = ""  # why calls are refused instead of queued, or ""
        self.thread: threading.Thread | None = None  # whose calls are not refused
        self.open = [True]  # empty once the engine is closed
        self.destroyed: list[bool] = []
        self.live: set[int] = set()
        self.deferred: deque[Callable[[], object]] = deque()
        self.listener = Listener()

    # ---- calls -------------------------------------------------------------------------

    def call(
        self,
        function: Callable[..., int],
        *arguments: Any,
        listen: bool = True,
        show: Show | None = None,
    ) -> None:
        """Call a function of the library that returns a status; raise if it fails.

        A call that takes milliseconds at most need not `listen` for interrupts, which
        takes 3 us.
        """
        if self.caller == get_ident():
            raise StateError(INSIDE)
        if self.busy and self.thread is not threading.current_thread():
            raise StateError(self.busy)
        try:
            with self.lock:
                if not self.open:
                    raise StateError(CLOSED)
                self.caller = get_ident()
                try:
                    if listen or show:
                        status = self.heard(function, arguments, show)
                    else:
                        status = function(*arguments)
                    if status:
                        raise error_for(status, self.message())
                finally:
                    self.caller = 0
        finally:
            if self.deferred:
                self.drain()

    def heard(self, function: Callable[..., int], arguments: Any, show: Show | None) -> int:
        """Call a function that a signal or `show` may end, and raise what ended it."""
        listener = self.listener
        listener.error, listener.show = None, show
        try:
            lib.hybrid_engine_progress(self.pointer, listener.callback, None)
            status = function(*arguments)
        finally:
            lib.hybrid_engine_progress(self.pointer, None, None)
            listener.show = None
        if listener.error is not None:
            error, listener.error = listener.error, None
            raise error
        return status

    def message(self) -> str:
        """Return the sentence of the call that failed last. The lock is held."""
        return str(lib.hybrid_engine_message(self.pointer).decode(errors="replace"))

    @contextlib.contextmanager
    def taken_by(self, thread: threading.Thread, reason: str) -> Iterator[None]:
        """Leave the engine to one thread: calls of others raise `reason`."""
        if self.caller == get_ident():
            raise StateError(INSIDE)
        with self.lock:
            if self.busy:
                raise StateError(self.busy)
            self.busy, self.thread = reason, thread
        try:
            yield
        finally:
            if self.thread is thread:  # not so in the child of a fork
                self.busy, self.thread = "", None
        self.drain()

    def tell(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function that returns something other than a status, or nothing."""
        result: list[Any] = []

        def ask() -> int:
            result.append(function(*arguments))
            return 0

        self.call(ask)
        return result[0]

    def backend(self) -> int:
        """Return the number of the backend in use."""
        return int(lib.hybrid_engine_backend(self.pointer))

    def device(self) -> str:
        """Return the GPUs in words, or why there is none."""
        return str(lib.hybrid_engine_device(self.pointer).decode(errors="replace"))

    # ---- what lives --------------------------------------------------------------------

    def defer(self, action: Callable[[], object]) -> None:
        """Run an action once no call is running: now, or by the thread whose call ends."""
        self.deferred.append(action)
        self.drain()

    def drain(self) -> None:
        """Run what was deferred, unless a call runs; that call's thread does it then."""
        while self.deferred and not self.busy and self.lock.acquire(blocking=False):
            try:
                while self.deferred:
                    self.deferred.popleft()()
            except IndexError:  # another finalizer took the last one
                pass
            finally:
                self.lock.release()

    def release(self, identity: int) -> None:
        """Forget something that needed the engine."""
        self.live.discard(identity)
        self.finish()

    def finish(self) -> None:
        """Destroy a closed engine that nothing needs."""
        if not self.open and not self.live:
            self.destroy()

    def close(self) -> None:
        """Refuse calls from now on, and destroy the engine when nothing needs it."""
        if self.caller == get_ident():
            raise StateError(INSIDE)
        if self.busy:
            raise StateError(self.busy)
        with self.lock:
            self.open.clear()
            if self.live and self.pid == os.getpid():
                lib.hybrid_engine_trim(self.pointer)
        self.drain()
        self.finish()

    def abandon(self) -> None:
        """Close the engine from a finalizer, which may not wait for a lock."""
        self.open.clear()
        self.drain()
        self.finish()

    def leave(self) -> None:
        """In the child of a fork: refuse calls. The parent's threads may hold the lock."""
        self.thread = None
        self.busy = "this engine or plan belongs to the process that made it"

    def destroy(self) -> None:
        """Destroy the C engine once, in the process that made it."""
        self.destroyed.append(True)
        if len(self.destroyed) == 1 and self.pid == os.getpid():
            lib.hybrid_engine_destroy(self.pointer)


class Pages:
    """Owns what one call of the library returned, and frees it when no array views it.

    Python drops exceptions of finalizers, and one of them is the KeyboardInterrupt that a
    signal handler raises between two instructions of Python code. This finalizer has none
    unless it destroys a closed engine: ``any`` calls functions written in C, one after
    another, until one returns a number other than 0.
    """

    __slots__ = ("__weakref__", "_end", "struct")

    def __init__(self, handle: Handle, struct: Any, free: Callable[..., None]) -> None:
        self.struct = struct
        self._end: Callable[[], object] = int  # does nothing
        if not handle.open:  # its engine may be gone
            raise StateError(CLOSED)
        steps = (
            partial(free, handle.pointer, byref(struct)),
            partial(handle.live.discard, id(self)),
            handle.open.__len__,
            handle.live.__len__,
            handle.finish,
        )
        self._end = partial(any, map(_call, steps))
        handle.live.add(id(self))

    __del__ = property(attrgetter("_end"))

    def window(self, address: int) -> Window:
        """Return a buffer that begins at an address and keeps the pages."""
        window: Window = Window.from_address(address)
        window.pages = self
        return window


class Window(ctypes.c_char * (1 << 46)):  # type: ignore[misc]
    """The address space from some address on: the base of arrays that view results.

    NumPy makes an array over a buffer several times faster than through
    ``__array_interface__``. One class serves all sizes; the size of the array is its own.
    """

    pages: Pages
