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
            except BaseException as error:  # ends the call at its next report of progress
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
    """Return events as Chrome's trace viewer and Perfetto read them: times in microseconds."""
    zero = min((event["begin_ns"] for event in events), default=0)
    lanes: dict[bytes, int] = {}
    found: list[dict[str, Any]] = []
    for event in events:
        tid = lanes.setdefault(event["lane"], len(lanes) + 1)
        found.append(
            {
                "name": event["stage"].decode(),
                "ph": "X",
                "pid": 1,
                "tid": tid,
                "ts": (event["begin_ns"] - zero) / 1000,
                "dur": (event["end_ns"] - event["begin_ns"]) / 1000,
                "args": {
                    "chunk": event["chunk"],
                    "first_row": event["row_begin"],
                    "rows": event["row_end"] - event["row_begin"],
                    "variant": (event["variant"] or b"").decode(),
                    "bytes": event["bytes"],
                    "flops": event["flops"],
                },
            }
        )
    names = [
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": tid, "args": {"name": lane.decode()}}
        for lane, tid in lanes.items()
    ]
    return {"displayTimeUnit": "ms", "traceEvents": names + found}
