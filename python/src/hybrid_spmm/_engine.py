"""Engines: what a product may use of the machine, and the engine that is used by default."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import logging
import os
import re
import weakref
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ._errors import ArgumentError, StateError
from ._files import read_matrix, write_matrix
from ._gpu.device_operands import library_for
from ._gpu.device_plans import make_device_plan
from ._gpu.device_products import multiply_on_device
from ._native import capi
from ._native.fork_lock import ForkLock
from ._native.handle import CLOSED, Handle
from ._native.library import lib
from ._operands.dense import factor
from ._operands.scipy_classes import FORMATS, format_of
from ._pin import Pin, pinnable
from ._products.in_files import File, file_options, is_path, multiply_files, predict_file
from ._products.plan import Plan
from ._products.plans import make_plan
from ._products.product import multiply
from ._products.rows import multiply_rows
from ._reports.progress import Progress, showing
from ._reports.report import Report, engine_report, fetch
from ._reports.trace import Trace

log = logging.getLogger("hybrid_spmm")

BACKENDS = {"auto": capi.AUTO, "host": capi.HOST, "cuda": capi.CUDA}
NAMES = {number: name for name, number in BACKENDS.items()}
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
UNITS |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
MOST_BYTES = 2**63  # a size is less


def parse_size(size: int | str | None) -> int:
    """Return a size in bytes from a number or a string such as ``"8GiB"``; None is 0.

    Examples
    --------
    >>> parse_size("1.5KiB"), parse_size("2 MB"), parse_size(512)
    (1536, 2000000, 512)
    """
    if size is None:
        return 0
    if isinstance(size, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", size.lower())
        if not match or match[2] not in UNITS:
            raise ArgumentError(f"{size!r} is not a size; write it as 512, '8GiB' or '1.5GB'")
        found = float(match[1]) * UNITS[match[2]]
    else:
        found = size
    if not 0 <= found < MOST_BYTES:
        raise ArgumentError(f"a size is {'negative' if found < 0 else 'too large'}: {size!r}")
    return int(found)


def listed_devices(devices: Sequence[int]) -> ctypes.Array[ctypes.c_int]:
    """Return the numbers of GPUs as an array of C."""
    try:
        return (ctypes.c_int * len(devices))(*devices)
    except TypeError:
        raise ArgumentError(
            f"devices is {devices!r}; it is a sequence of numbers, such as [0, 1]"
        ) from None


class Engine:
    """Worker threads, GPUs and memory that products use.

    The functions of the package use an engine of their own, which starts with the first
    product. Make one to limit what is used, or one per thread to compute several products
    at the same time. Calls on one engine queue up.

    Parameters
    ----------
    backend : {"auto", "host", "cuda"}
        Where products are computed. "auto" takes a GPU if there is one.
    threads : int, optional
        Number of CPU workers; by default one per available core.
    devices : sequence of int, optional
        CUDA ordinals of the GPUs to use; by default the first one.
    devices_optional : bool
        True to start without GPUs that do not open, which `left_out` then names; by
        default each of `devices` must open.
    device_memory : int or str, optional
        Cap on the memory of each GPU, in bytes or as in ``"8GiB"``; by default nine tenths
        of what is free.
    host_memory : int or str, optional
        Cap on the host memory that the engine allocates, results included; by default what
        the machine, or the control group of the process, has.
    rates : path, optional
        File of measured speeds, as ``hybrid_spmm calibrate`` writes it.
    spill : path, optional
        Folder for temporary files of operands and results in files that exceed
        `host_memory`; by default ``$TMPDIR`` or ``/tmp``.

    Raises
    ------
    DeviceNotFoundError
        If "cuda" is asked for and there is no GPU, or one of `devices` does not exist.
    ArgumentError
        If an option is out of range.

    Examples
    --------
    >>> import hybrid_spmm as hs, scipy.sparse as sp
    >>> with hs.Engine(backend="host", threads=2, host_memory="1GiB") as engine:
    ...     (engine.matmul(sp.eye_array(3, format="csr"), sp.eye_array(3, format="csr"))).nnz
    3
    """

    def __init__(
        self,
        *,
        backend: str = "auto",
        threads: int | None = None,
        devices: Sequence[int] | None = None,
        devices_optional: bool = False,
        device_memory: int | str | None = None,
        host_memory: int | str | None = None,
        rates: str | os.PathLike[str] | None = None,
        spill: str | os.PathLike[str] | None = None,
    ) -> None:
        if backend not in BACKENDS:
            raise ArgumentError(f"backend is {backend!r}; it is one of {', '.join(BACKENDS)}")
        options = capi.EngineOptions(ctypes.sizeof(capi.EngineOptions), BACKENDS[backend])
        options.threads = threads or 0
        options.device_bytes = parse_size(device_memory)
        options.host_bytes = parse_size(host_memory)
        options.rates_path = None if rates is None else os.fsencode(rates)
        options.spill_path = None if spill is None else os.fsencode(spill)
        if devices is not None:
            options.devices, options.device_count = listed_devices(devices), len(devices)
        options.devices_optional = int(devices_optional)
        self._options = options
        self._closed = False
        self._after_fork = False
        self._trace: Trace | None = None
        self._handle: Handle | None = None
        self._start()
        key = id(self)
        _engines[key] = weakref.ref(self, partial(_engines.pop, key))  # see finalizers.py

    # ---- life --------------------------------------------------------------------------

    def _alive(self) -> Handle:
        """Return the handle; in the child of a fork make a new one at the first call."""
        handle = self._handle
        return self._start() if handle is None else handle

    def _start(self) -> Handle:
        """Make the handle, unless another thread just did."""
        with _lock:
            if self._handle is None:
                if self._closed:
                    raise StateError(CLOSED)
                self._handle = Handle(self._options)
                log.info("an engine starts: %s", self._handle.device())
                if self._after_fork and self._handle.kind == capi.HOST:
                    log.warning(
                        "after a fork, products are computed by the CPU: %s", self._handle.device()
                    )
                self._after_fork = False
            return self._handle

    def close(self) -> None:
        """Stop the engine. Results stay valid; it ends when the last of them is gone."""
        if self._closed:
            return
        if self._handle is not None:
            self.trace(None)
            self._handle.close()
        self._closed = True
        self._handle = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ---- what it is --------------------------------------------------------------------

    @property
    def backend(self) -> str:
        """The site that computes products, "host" or "cuda"."""
        return NAMES[self._alive().backend()]

    @property
    def device(self) -> str:
        """The GPUs in words, or why there is none."""
        return self._alive().device()

    @property
    def left_out(self) -> str:
        """Why GPUs were left out (`devices_optional`); "" if none was."""
        return self._alive().left_out()

    @property
    def threads(self) -> int:
        """Number of CPU workers."""
        return int(lib.hybrid_engine_threads(self._alive().pointer))

    def __repr__(self) -> str:
        if self._closed:
            return "<hybrid_spmm.Engine, closed>"
        return f"<hybrid_spmm.Engine: {self.backend}, {self.threads} threads, {self.device}>"

    # ---- products ----------------------------------------------------------------------

    def matmul(
        self,
        A: Any,
        B: Any,
        *,
        out: Any = None,
        alpha: float = 1.0,
        beta: float = 0.0,
        progress: Progress = False,
        resume: bool = False,
        part_rows: int = 0,
    ) -> Any:
        """Multiply on this engine; see :func:`hybrid_spmm.matmul`."""
        return self._matmul(A, B, out, alpha, beta, progress, resume, part_rows)

    def _matmul(
        self,
        A: Any,
        B: Any,
        out: Any,
        alpha: float,
        beta: float,
        progress: Progress,
        resume: bool = False,
        part_rows: int = 0,
    ) -> Any:
        """Multiply; arguments by position take less time."""
        if type(alpha) is not float or type(beta) is not float:
            alpha, beta = factor("alpha", alpha), factor("beta", beta)
        left, right = FORMATS.get(type(A)), FORMATS.get(type(B))
        if (
            resume
            or part_rows
            or (out is not None and is_path(out))
            or (left is None and isinstance(A, File))
            or (right is None and isinstance(B, File))
        ):
            with showing(progress) as show:
                options = file_options(resume, part_rows)
                return multiply_files(self._alive(), A, B, out, alpha, beta, options, show)
        if left is not None and right is not None and progress is False:
            return multiply(self._alive(), A, B, left, right, out, alpha, beta, None)
        library = library_for(A, B)
        if library is not None and progress is False:
            return multiply_on_device(library, self, A, B, out, alpha, beta, None)
        with showing(progress) as show:
            if library is not None:
                return multiply_on_device(library, self, A, B, out, alpha, beta, show)
            left, right = format_of(A), format_of(B)
            return multiply(self._alive(), A, B, left, right, out, alpha, beta, show)

    def plan(self, A: Any, B: Any, **options: Any) -> Plan:
        """Plan a product on this engine; see :func:`hybrid_spmm.plan`."""
        library = library_for(A, B)
        if library is not None:
            return make_device_plan(library, self, A, B, **options)
        return make_plan(self, A, B, **options)

    def matmul_rows(self, A: Any, B: Any, **options: Any) -> Iterator[tuple[int, Any]]:
        """Multiply by panels on this engine; see :func:`hybrid_spmm.matmul_rows`."""
        return multiply_rows(self, A, B, **options)

    def aslinearoperator(self, A: Any) -> Any:
        """Return a LinearOperator on this engine; see :func:`hybrid_spmm.aslinearoperator`."""
        from ._products.linear_operator import Operator  # imports scipy.sparse.linalg

        return Operator(self, A)

    def pin(self, X: Any) -> Pin:
        """Pin an array for this engine; see :func:`hybrid_spmm.pin`."""
        return Pin(self._alive(), pinnable(X))

    def open(self, path: str | os.PathLike[str]) -> File:
        """Open a matrix in a file for this engine; see :func:`hybrid_spmm.open`."""
        return File(self._alive(), path)

    def predict(
        self,
        A: Any,
        B: Any,
        *,
        out: str | os.PathLike[str],
        resume: bool = False,
        part_rows: int = 0,
    ) -> Report:
        """Predict a product in a file; see :func:`hybrid_spmm.predict`."""
        return predict_file(self._alive(), A, B, out, file_options(resume, part_rows))

    def read_mtx(self, path: str | os.PathLike[str], dtype: Any = np.float64) -> Any:
        """Read a matrix with this engine; see :func:`hybrid_spmm.read_mtx`."""
        return read_matrix(self._alive(), path, dtype)

    def write_mtx(self, path: str | os.PathLike[str], A: Any) -> None:
        """Write a matrix with this engine; see :func:`hybrid_spmm.write_mtx`."""
        write_matrix(self._alive(), path, A)

    def last_report(self) -> Report:
        """Return the report of this engine's last product; see :func:`hybrid_spmm.last_report`."""
        handle = self._alive()
        return fetch(handle.call, engine_report, handle.pointer)

    def trace(self, path: str | os.PathLike[str] | None) -> Trace | None:
        """Trace this engine's products; see :func:`hybrid_spmm.trace`."""
        current, self._trace = self._trace, None
        if current is not None:
            current.close()
        if path is not None:
            self._trace = Trace(self._alive(), path)
        return self._trace

    def trim(self) -> None:
        """Give memory that the engine keeps for later results back to the system."""
        handle = self._alive()
        handle.tell(lib.hybrid_engine_trim, handle.pointer)


# ---- the default engine, forks and the end of the process --------------------------------

_engines: dict[int, weakref.ref[Engine]] = {}
_default: Engine | None = None
_default_lock = ForkLock()
_lock = ForkLock()  # held while a handle is made


def default_engine() -> Engine:
    """Return the engine that the functions of the package use, made at the first call."""
    global _default
    engine = _default
    if engine is None:
        with _default_lock:
            if _default is None:
                _default = Engine()
            engine = _default
    return engine


def is_default(engine: Engine) -> bool:
    """Return whether an engine is the one that the functions of the package use."""
    return engine is _default


def _all() -> list[Engine]:
    """Return all engines."""
    found = (reference() for reference in list(_engines.values()))
    return [engine for engine in found if engine is not None]


def _forked() -> None:
    """Leave the parent's engines alone; each is made anew at its first call in the child."""
    for engine in _all():
        handle, engine._handle = engine._handle, None
        engine._trace = None
        if handle is not None:
            engine._after_fork = handle.kind == capi.CUDA
            handle.leave()


def _exit() -> None:
    """Write traces, and stop engines that nothing uses."""
    for engine in _all():
        with contextlib.suppress(Exception):
            engine.trace(None)
        if engine._handle is not None:
            engine._handle.abandon()


os.register_at_fork(after_in_child=_forked)
atexit.register(_exit)
