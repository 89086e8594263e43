"""Reports of runs, with one attribute for each field that the library measures."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from .._errors import StateError
from .._native import capi
from .._native.library import lib
from .html import table

BYTES, SECONDS = {"unit": "bytes"}, {"unit": "s"}


@dataclass(frozen=True)
class Use:
    """What a run used of a resource.

    Attributes
    ----------
    rate : float
        Bytes per second; the number of workers if the resource is "cores".
    utilisation : float
        The used part of the rate, 0 to 1.
    origin : str
        Where the rate comes from: "built in", "measured" or "observed".
    """

    rate: float
    utilisation: float
    origin: str


@dataclass(frozen=True)
class Report:
    """Where the time of a run went. Times are seconds, sizes are bytes.

    Stage times are sums over chunks, so their sum exceeds ``total_s`` when stages
    overlapped.

    Attributes
    ----------
    total_s : float
        Wall time of the run.
    predicted_s : float
        Prediction of ``total_s``, made by the plan.
    plan_s : float
        Time of planning.
    load_s : float
        Time of copies of B or X to the GPU ahead of chunks.
    prepare_s : float
        Time of packing rows of A.
    h2d_s : float
        Time of copies of chunks to the GPU.
    multiply_s : float
        Time of multiplication.
    finish_s : float
        Time of compacting results on the GPU.
    d2h_s : float
        Time of copies of results to the host.
    place_s : float
        Time of storing results in their places.
    overlap : float
        Sum of the stage times / ``total_s``.
    bus_utilisation : float
        Use of the busier direction of the bus, 0 to 1.
    reference_s : float
        Time in which all operands pass the bus once.
    speedup_over_reference : float
        ``reference_s / total_s``.
    chunks : int
        Number of chunks.
    rows : int
        Rows of the result.
    flops : int
        Floating-point operations: 2 for each scalar product.
    nnz_out : int
        Entries of C, or elements of Y.
    h2d_bytes : int
        Bytes copied to the GPU.
    d2h_bytes : int
        Bytes copied from the GPU.
    host_bytes : int
        Lower bound on the traffic of host memory.
    device_bytes : int
        Lower bound on the traffic of GPU memory.
    peak_device_bytes : int
        Largest use of GPU memory.
    peak_pinned_bytes : int
        Largest use of pinned host memory.
    peak_host_bytes : int
        Largest use of host memory.
    predicted_h2d_bytes : int
        Prediction of ``h2d_bytes``.
    predicted_d2h_bytes : int
        Prediction of ``d2h_bytes``.
    other_h2d_bytes : int
        Prediction of ``h2d_bytes`` if B or X were held the other way, or -1.
    gathered : bool
        Whether chunks bring the rows of B or X that they touch.
    reused_pattern : bool
        Whether sizes of C were known from an earlier run.
    resident_chunks : int
        Number of leading chunks whose rows of A are cached on the GPU.
    resident_bytes : int
        GPU memory reserved for these rows.
    host_chunks : int
        Number of chunks that the CPU computed of a split product.
    host_products : int
        Scalar products of these chunks.
    host_s : float
        Busy time of the CPU for these chunks.
    use : dict of str to :class:`Use`
        By resource: "cores", "host memory", "bus up", "bus down", "device".
    bound : str
        The resource that was busy for most of the run.
    rates_measured : bool
        Whether the rates of this machine were measured, not built in.
    predicted_nnz_out : int
        Prediction of ``nnz_out``.
    predicted_result_bytes : int
        Prediction of the size of the result.
    pattern_bytes : int
        Offsets and columns in GPU memory that planning copied to the host.
    pooled_bytes : int
        Host memory of freed results, kept for results to come.
    predicted_device_s : float
        Prediction of ``multiply_s + finish_s``; 0 if the CPU computes.
    b_h2d_bytes : int
        Prediction of the bytes of a sparse B that are sent, or -1.
    least_b_h2d_bytes : int
        Their minimum for the same chunks and GPU memory, or -1.
    write_s : float
        Busy time of writing the result to a file.
    assemble_s : float
        Time from the last panel to the complete file, if panels were assembled.
    file_bytes : int
        Bytes written to files.
    resumed_rows : int
        Rows of the result that an earlier call had finished.
    """

    total_s: float = field(metadata=SECONDS)
    predicted_s: float = field(metadata=SECONDS)
    plan_s: float = field(metadata=SECONDS)
    load_s: float = field(metadata=SECONDS)
    prepare_s: float = field(metadata=SECONDS)
    h2d_s: float = field(metadata=SECONDS)
    multiply_s: float = field(metadata=SECONDS)
    finish_s: float = field(metadata=SECONDS)
    d2h_s: float = field(metadata=SECONDS)
    place_s: float = field(metadata=SECONDS)
    overlap: float
    bus_utilisation: float
    reference_s: float = field(metadata=SECONDS)
    speedup_over_reference: float
    chunks: int
    rows: int
    flops: int
    nnz_out: int
    h2d_bytes: int = field(metadata=BYTES)
    d2h_bytes: int = field(metadata=BYTES)
    host_bytes: int = field(metadata=BYTES)
    device_bytes: int = field(metadata=BYTES)
    peak_device_bytes: int = field(metadata=BYTES)
    peak_pinned_bytes: int = field(metadata=BYTES)
    peak_host_bytes: int = field(metadata=BYTES)
    predicted_h2d_bytes: int = field(metadata=BYTES)
    predicted_d2h_bytes: int = field(metadata=BYTES)
    other_h2d_bytes: int = field(metadata=BYTES)
    gathered: bool
    reused_pattern: bool
    resident_chunks: int
    resident_bytes: int = field(metadata=BYTES)
    host_chunks: int
    host_products: int
    host_s: float = field(metadata=SECONDS)
    use: dict[str, Use]
    bound: str
    rates_measured: bool
    predicted_nnz_out: int
    predicted_result_bytes: int = field(metadata=BYTES)
    pattern_bytes: int = field(metadata=BYTES)
    pooled_bytes: int = field(metadata=BYTES)
    predicted_device_s: float = field(metadata=SECONDS)
    b_h2d_bytes: int = field(metadata=BYTES)
    least_b_h2d_bytes: int = field(metadata=BYTES)
    write_s: float = field(metadata=SECONDS)
    assemble_s: float = field(metadata=SECONDS)
    file_bytes: int = field(metadata=BYTES)
    resumed_rows: int

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


def engine_report(engine: Any, found: Any) -> int:
    """Write the report of an engine's last product, of which the library has no sentence."""
    status: int = lib.hybrid_engine_report(engine, found)
    if status == capi.BAD_STATE:
        raise StateError("there is no report: nothing was multiplied on this engine yet")
    return status


def fetch(call: Callable[..., None], function: Callable[..., int], *arguments: Any) -> Report:
    """Return the report that a function of the library writes to its last argument."""
    found = capi.Report(ctypes.sizeof(capi.Report))
    call(function, *arguments, ctypes.byref(found))
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
