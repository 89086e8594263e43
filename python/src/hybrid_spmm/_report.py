"""Reports of runs, with one attribute for each field that the library measures."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from . import _capi
from ._html import table
from ._library import lib

BYTES, SECONDS = {"unit": "bytes"}, {"unit": "s"}


@dataclass(frozen=True)
class Use:
    """What a run used of a resource.

    ``rate`` is in bytes a second, of cores the number of workers; ``utilisation`` is
    between 0 and 1; ``origin`` tells where the rate comes from: "built in", "measured" or
    "observed".
    """

    rate: float
    utilisation: float
    origin: str


@dataclass(frozen=True)
class Report:
    """Where the time of a run went. Times are seconds, sizes are bytes.

    Stage times are sums over chunks, so their sum exceeds ``total_s`` when stages
    overlapped.
    """

    total_s: float = field(metadata=SECONDS)  #: wall time of the run
    predicted_s: float = field(metadata=SECONDS)  #: prediction of total_s
    plan_s: float = field(metadata=SECONDS)  #: planning
    load_s: float = field(metadata=SECONDS)  #: copies of B or X to the GPU ahead of chunks
    prepare_s: float = field(metadata=SECONDS)  #: packing of rows of A
    h2d_s: float = field(metadata=SECONDS)  #: copies of chunks to the GPU
    multiply_s: float = field(metadata=SECONDS)  #: multiplication
    finish_s: float = field(metadata=SECONDS)  #: compaction of results on the GPU
    d2h_s: float = field(metadata=SECONDS)  #: copies of results to the host
    place_s: float = field(metadata=SECONDS)  #: storing of results
    overlap: float  #: sum of the stage times / total_s
    bus_utilisation: float  #: the busier direction of the bus, 0 to 1
    reference_s: float = field(metadata=SECONDS)  #: time in which all operands pass the bus once
    speedup_over_reference: float  #: reference_s / total_s
    chunks: int  #: number of chunks
    rows: int  #: rows of the result
    flops: int  #: 2 * scalar products
    nnz_out: int  #: entries of C, or elements of Y
    h2d_bytes: int = field(metadata=BYTES)  #: copied to the GPU
    d2h_bytes: int = field(metadata=BYTES)  #: copied from the GPU
    host_bytes: int = field(metadata=BYTES)  #: lower bound on the traffic of host memory
    device_bytes: int = field(metadata=BYTES)  #: lower bound on the traffic of GPU memory
    peak_device_bytes: int = field(metadata=BYTES)  #: largest use of GPU memory
    peak_pinned_bytes: int = field(metadata=BYTES)  #: largest use of pinned host memory
    peak_host_bytes: int = field(metadata=BYTES)  #: largest use of host memory
    predicted_h2d_bytes: int = field(metadata=BYTES)  #: prediction of h2d_bytes
    predicted_d2h_bytes: int = field(metadata=BYTES)  #: prediction of d2h_bytes
    other_h2d_bytes: int = field(metadata=BYTES)  #: if B or X were held the other way, or -1
    gathered: bool  #: chunks bring the rows of B or X that they touch
    reused_pattern: bool  #: sizes of C were known from an earlier run
    resident_chunks: int  #: leading chunks whose rows of A are cached on the GPU
    resident_bytes: int = field(metadata=BYTES)  #: GPU memory reserved for these rows
    host_chunks: int  #: chunks of a split product that the CPU computed
    host_products: int  #: scalar products of these chunks
    host_s: float = field(metadata=SECONDS)  #: busy time of the CPU for them
    use: dict[str, Use]  #: by resource: "cores", "host memory", "bus up", "bus down", "device"
    bound: str  #: the resource that was busy for most of the run
    rates_measured: bool  #: the rates of this machine were measured, not built in
    predicted_nnz_out: int  #: prediction of nnz_out
    predicted_result_bytes: int = field(metadata=BYTES)  #: prediction of the size of the result
    pattern_bytes: int = field(metadata=BYTES)  #: patterns on a GPU that planning copied from it

    def __repr__(self) -> str:
        return (
            f"<hybrid_spmm.Report: {self.total_s:.3g} s, {self.chunks} chunks, "
            f"{self.flops:.3g} flop, bound by {self.bound}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            (f.name, show(getattr(self, f.name), f.metadata.get("unit", ""))) for f in fields(self)
        ]
        return table("Report", [row for row in rows if row[1]])


def show(value: Any, unit: str) -> str:
    """Return a value of a report in words; empty for what a row of its own would not show."""
    if isinstance(value, dict):
        used = [f"{name} {use.utilisation:.0%}" for name, use in value.items() if use.rate]
        return ", ".join(used)
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, float):
        return f"{value:.3g} {unit}".strip()
    return f"{value:,} {unit}".strip()


def fetch(call: Callable[..., None], function: Callable[..., int], subject: Any) -> Report:
    """Return the report that a function of the library writes about an engine or a plan."""
    found = _capi.Report(ctypes.sizeof(_capi.Report))
    call(function, subject, ctypes.byref(found))
    values: dict[str, Any] = {f.name: getattr(found, f.name) for f in fields(Report)}
    for name in ("gathered", "reused_pattern", "rates_measured"):
        values[name] = bool(values[name])
    values["bound"] = lib.hybrid_resource_text(found.bound).decode()
    values["use"] = {
        lib.hybrid_resource_text(i).decode(): Use(
            use.rate, use.utilisation, lib.hybrid_origin_text(use.origin).decode()
        )
        for i, use in enumerate(found.use)
    }
    return Report(**values)
