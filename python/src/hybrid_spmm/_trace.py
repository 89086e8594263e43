"""Traces: every stage of every chunk, in Chrome's trace format."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

from . import _capi
from ._handle import Handle
from ._library import lib
from ._listen import started


class Trace:
    """A trace that is being taken; leaving the ``with`` block writes its file.

    Parameters are those of :func:`hybrid_spmm.trace`.
    """

    def __init__(self, handle: Handle, path: str | os.PathLike[str]) -> None:
        self._handle: Handle | None = handle
        self._path = Path(path)
        self.events: list[dict[str, Any]] = []
        if self._path.is_dir() or not self._path.absolute().parent.is_dir():
            self._path.open("w")  # raises the error that says why
        send = started(self._collect())
        self._callback = _capi.TRACE_FN(functools.partial(max, key=send))
        handle.tell(lib.hybrid_engine_trace, handle.pointer, self._callback, None)

    def _collect(self) -> Generator[int, Any, None]:
        """Receive user and an event in turn; see hybrid_spmm._listen for why it is a generator."""
        handle, place, got = self._handle, 0, None
        assert handle is not None
        while True:
            try:
                got = yield 0
                if place == 1:
                    self.events.append(
                        {
                            field[0]: getattr(got.contents, field[0])
                            for field in _capi.Event._fields_
                        }
                    )
            except GeneratorExit:
                return
            except BaseException as error:  # raised by the call, if it listens
                handle.listener.error = handle.listener.error or error
            place = 1 - place

    def close(self) -> None:
        """Stop tracing and write the file. Closing twice does nothing."""
        handle, self._handle = self._handle, None
        if handle is None:
            return
        handle.tell(lib.hybrid_engine_trace, handle.pointer, _capi.TRACE_FN(), None)
        partial = self._path.with_name(self._path.name + ".partial")
        partial.write_text(json.dumps(chrome(self.events)))
        partial.replace(self._path)

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def chrome(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return events as Chrome's trace viewer and Perfetto read them: times in microseconds.

    Every lane is a thread of the timeline. Slices of a thread must nest, so an event that
    only overlaps an earlier one goes to another thread of its lane.
    """
    zero = min((event["begin_ns"] for event in events), default=0)
    threads: list[tuple[bytes, list[int]]] = []  # lane, and the ends of the slices still open
    slices = []
    for event in sorted(events, key=lambda e: (e["begin_ns"], -e["end_ns"])):
        tid = thread_of(event, threads)
        slices.append(
            {
                "name": event["stage"].decode(),
                "ph": "X",
                "pid": 1,
                "tid": tid,
                "ts": (event["begin_ns"] - zero) / 1000,
                "dur": (event["end_ns"] - event["begin_ns"]) / 1000,
                "args": {
                    "bound": lib.hybrid_resource_text(event["bound"]).decode(),
                    "chunk": event["chunk"],
                    "first_row": event["row_begin"],
                    "rows": event["row_end"] - event["row_begin"],
                    "variant": (event["variant"] or b"").decode(),
                    "bytes": event["bytes"],
                    "flops": event["flops"],
                },
            }
        )
    names: list[dict[str, Any]] = [
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": tid, "args": {"name": lane.decode()}}
        for tid, (lane, _) in enumerate(threads)
    ]
    return {"displayTimeUnit": "ms", "traceEvents": names + slices}


def thread_of(event: dict[str, Any], threads: list[tuple[bytes, list[int]]]) -> int:
    """Return the number of the first thread of the event's lane where it nests."""
    for tid, (lane, ends) in enumerate(threads):
        if lane != event["lane"]:
            continue
        while ends and ends[-1] <= event["begin_ns"]:
            ends.pop()
        if not ends or event["end_ns"] <= ends[-1]:
            ends.append(event["end_ns"])
            return tid
    threads.append((event["lane"], [event["end_ns"]]))
    return len(threads) - 1
