"""One engine of the C library: its calls, which queue up, and how long it lives.

The C engine serves one thread at a time, and may be destroyed only when nothing that it made
is in use.

- ``lock`` is held during every call, so that threads queue up.
- ``pointer`` is the address of the engine. Every result, plan and pin refers to it, and the
  engine is destroyed when the last reference is gone.
- ``waiting`` holds what finalizers left to be done when the engine is idle. A finalizer may
  run at any moment, on any thread, also inside a call on this engine.

Only hybrid_csr_free() and hybrid_dense_free() are called without the lock: the library
allows them at any time.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Callable
from ctypes import byref, c_void_p
from functools import partial
from itertools import chain, repeat, takewhile
from typing import Any

from .._errors import StateError, error_for
from . import capi
from .finalizers import Action, call_each, in_turn, stored
from .library import lib
from .listen import Show, idle_listener, put_back

get_ident = threading.get_ident
CLOSED = "the engine is closed"
INSIDE = "the engine is used from inside a function that it calls"
OTHER_PROCESS = "this engine or plan belongs to the process that made it"


class Pointer(int):
    """The address of a C engine, which is destroyed when the last reference is gone.

    In the child of a fork the library only unmaps the results.
    """

    __slots__ = ()

    # Python calls what the property returns: the library's function with the address.
    __del__ = property(partial(partial, lib.hybrid_engine_destroy))


def owned(address: int) -> Pointer:
    """Return the address of an engine that was just made.

    The garbage collector calls the finalizers of a cycle in any order, so it must not see the
    pointer: the engine would be destroyed before its results are.
    """
    pointer = Pointer(address)
    ctypes.pythonapi.PyObject_GC_UnTrack(ctypes.py_object(pointer))
    return pointer


class Handle:
    """A C engine as the objects of the package share it."""

    __slots__ = (
        "busy",
        "caller",
        "closed",
        "kind",
        "lock",
        "pointer",
        "taker",
        "waiting",
    )

    def __init__(self, options: capi.EngineOptions) -> None:
        sentence = ctypes.create_string_buffer(1024)
        options.message = ctypes.addressof(sentence)
        options.message_size = len(sentence)
        pointer = c_void_p()
        status = lib.hybrid_engine_create(byref(options), byref(pointer))
        if status:
            raise error_for(status, sentence.value.decode())
        self.pointer: Pointer | None = owned(pointer.value or 0)
        self.closed = False
        self.kind = int(lib.hybrid_engine_backend(self.pointer))
        self.lock = threading.Lock()
        self.caller = 0  # identity of the thread whose call runs, or 0
        self.busy = ""  # why calls are refused instead of queued, or ""
        self.taker: Taker | None = None  # who may call nevertheless
        self.waiting: deque[Action] = deque()

    # ---- calls -------------------------------------------------------------------------

    def call(self, function: Callable[..., int], *arguments: Any) -> None:
        """Call a function of the library that returns a status; raise if it fails."""
        self.run(function, arguments, True, None)

    def run(
        self,
        function: Callable[..., int],
        arguments: tuple[Any, ...],
        listen: bool,
        show: Show | None,
    ) -> None:
        """Call a function of the library, as call() does.

        A call that takes milliseconds at most need not `listen` for interrupts, which
        takes 3 us. `show` is told of progress.
        """
        me = get_ident()
        if self.caller == me:
            raise StateError(INSIDE)
        if self.busy:
            self.demand_room()
        try:
            with self.lock:
                self.caller = me
                try:
                    if self.closed:
                        raise StateError(CLOSED)
                    if listen or show:
                        status = self.heard(function, arguments, show)
                    else:
                        status = function(*arguments)
                    if status:
                        raise error_for(status, self.message())
                finally:
                    self.caller = 0
        finally:
            if self.waiting:
                self.when_idle(int)()

    def heard(self, function: Callable[..., int], arguments: Any, show: Show | None) -> int:
        """Call a function that a signal or `show` may end, and raise what ended it."""
        listener = idle_listener()
        listener.error, listener.show = None, show
        try:
            lib.hybrid_engine_progress(self.pointer, listener.callback, None)
            status = function(*arguments)
        finally:
            lib.hybrid_engine_progress(self.pointer, None, None)
            error, listener.error, listener.show = listener.error, None, None
            put_back(listener)
        if error is not None:
            try:
                raise error
            finally:  # its traceback has this frame: a cycle would keep the operands and result
                del error
        return status

    def message(self) -> str:
        """Return the sentence of the call that failed last. The lock is held."""
        return str(lib.hybrid_engine_message(self.pointer).decode(errors="replace"))

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

    def left_out(self) -> str:
        """Return why GPUs were left out; "" if none was."""
        machine = capi.Machine(ctypes.sizeof(capi.Machine))
        if lib.hybrid_engine_machine(self.pointer, ctypes.addressof(machine)) != capi.OK:
            raise StateError(INSIDE)
        return str(machine.left_out.decode(errors="replace"))

    # ---- an engine that is left to one thread --------------------------------------------

    def take(self, taker: Taker, reason: str) -> None:
        """Leave the engine to one thread: calls of others raise `reason`."""
        if self.caller == get_ident():
            raise StateError(INSIDE)
        if self.busy:
            self.demand_room()
        with self.lock:
            if self.busy:
                raise StateError(self.busy)
            if self.closed:
                raise StateError(CLOSED)
            self.taker = taker
            self.busy = reason

    def give_back(self, taker: Taker) -> None:
        """Let every thread call again."""
        if self.taker is taker:  # not so in the child of a fork
            self.busy = ""
            self.taker = None

    def has_room(self) -> bool:
        """Return whether this thread may call; wait for a taker that is about to end."""
        taker = self.taker
        if taker is not None and taker.thread is threading.current_thread():
            return True
        if taker is not None and taker.leaving:
            taker.thread.join()
        return not self.busy

    def demand_room(self) -> None:
        """Raise unless this thread may call."""
        reason = self.busy
        if reason and not self.has_room():
            raise StateError(reason)

    # ---- what lives --------------------------------------------------------------------

    def when_idle(self, action: Action) -> Action:
        """Return a function written in C that runs an action, once no call runs.

        It runs the action now, or leaves it to the thread whose call ends. Called again, it
        does nothing.
        """
        waiting, lock = self.waiting, self.lock
        left = map(deque.popleft, takewhile(len, repeat(waiting)))
        steps = (
            partial(waiting.__iadd__, (action,)),
            partial(lock.acquire, False),
            in_turn(chain(left, (lock.release,))),
        )
        return in_turn((partial(all, call_each(steps)),))  # all() ends with the first False

    def close(self) -> None:
        """Refuse calls from now on; the engine is destroyed when nothing needs it."""
        if self.caller == get_ident():
            raise StateError(INSIDE)
        if self.busy:
            self.demand_room()
        with self.lock:
            self.closed = True
            lib.hybrid_engine_trim(self.pointer)  # results may need it for long
            self.pointer = None
        self.when_idle(int)()

    def abandon(self) -> None:
        """Refuse calls as the process ends, without waiting for a lock."""
        self.closed = True
        self.pointer = None

    def leave(self) -> None:
        """In the child of a fork: refuse calls. The parent's threads may hold the lock."""
        self.taker = None
        self.busy = OTHER_PROCESS


class Taker:
    """A thread to which an engine is left."""

    __slots__ = ("leaving", "thread")

    def __init__(self, thread: threading.Thread) -> None:
        self.thread = thread
        self.leaving: list[bool] = []  # not empty: it ends soon, and calls wait for that


BEGIN = 1 << 12  # where the buffer below begins; NumPy takes address 0 for no buffer


class Memory(ctypes.c_char * (1 << 47)):  # type: ignore[misc]
    """A buffer of all addresses of a process from BEGIN on, for arrays of the library.

    NumPy makes an array over it several times faster than through ``__array_interface__``.
    """

    __slots__ = ()


MEMORY = Memory.from_address(BEGIN)


class Pages(Memory):
    """The buffer that owns what one call returned, and frees it when no array views it.

    ``struct`` is the library's matrix.
    """

    __slots__ = ("_end", "struct")

    struct: Any
    _end: Action

    __del__ = stored


def pages_for(handle: Handle, struct: Any, free: Callable[..., None]) -> Pages:
    """Return the owner of a struct that the library will fill, and that `free` empties."""
    pages: Pages = Pages.from_address(BEGIN)
    pages.struct = struct
    pages._end = partial(free, handle.pointer, struct)
    return pages


def sparse_pages(handle: Handle) -> Pages:
    """Return the owner of a sparse matrix that the library will make."""
    return pages_for(handle, capi.Csr(), lib.hybrid_csr_free)
