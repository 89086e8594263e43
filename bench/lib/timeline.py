#!/usr/bin/env python3
"""bench/lib/timeline.py - draws a trace of `multiply --trace` as SVG: lanes with stages, and memory.

The picture begins with the first chunk: reading and planning are left out. A module of
papers/hyspmm.py.
"""
import json

from svg import line, sheet, text

MIB = 2 ** 20
WIDTH, HEADER, LANE, GRAPH, GAP, FOOTER = 920, 84, 30, 90, 26, 34
LEFT, RIGHT = 120, 900
STAGES = [("load", "copy B or X to the device"), ("prepare", "pack a chunk"),
          ("h2d", "copy a chunk to the device"), ("multiply", "multiply a chunk"),
          ("finish", "finish a chunk"), ("d2h", "copy a result back"),
          ("place", "store a result")]
DEVICE, HOST = ("GPU memory", "chunk buffers"), ("host memory",)  # names of counters


def read(path):
    """Returns the events of a trace, each as a line of mode "trace"."""
    with open(path, encoding="utf-8") as f:
        return [event | {"mode": "trace"} for event in json.load(f)["traceEvents"]]


def lanes_of(events):
    """Returns {number: name} of the lanes that have a stage of a chunk, from top to bottom."""
    used = {event["tid"] for event in bars_of(events)}
    told = {event["tid"]: event["args"] for event in events if event["name"] == "thread_name"}
    order = {event["tid"]: event["args"]["sort_index"] for event in events
             if event["name"] == "thread_sort_index"}
    return {tid: told[tid]["name"] for tid in sorted(used, key=lambda tid: (order[tid], tid))}


def bars_of(events):
    names = [name for name, _ in STAGES]
    return [event for event in events if event["ph"] == "X" and event["name"] in names]


def memory_of(events):
    """Returns [(microseconds, bytes of the device's chunks, bytes of the host)]."""
    samples, device, host = [], 0, 0
    for event in sorted((e for e in events if e["ph"] == "C"), key=lambda e: e["ts"]):
        device = event["args"]["bytes"] if event["name"] in DEVICE else device
        host = event["args"]["bytes"] if event["name"] in HOST else host
        samples.append((event["ts"], device, host))
    return samples


class Axis:
    """The axis of microseconds, from the first bar to the last."""

    def __init__(self, bars):
        self.begin = min(bar["ts"] for bar in bars)
        self.length = max(bar["ts"] + bar["dur"] for bar in bars) - self.begin

    def place(self, ts):
        return LEFT + min(max((ts - self.begin) / self.length, 0), 1) * (RIGHT - LEFT)

    def ticks(self):
        """Returns five to ten ticks, at multiples of 1, 2 or 5 times a power of ten microseconds."""
        step = next(m * 10 ** p for p in range(9) for m in (1, 2, 5)
                    if self.length / (m * 10 ** p) < 10)
        return [k * step for k in range(int(self.length // step) + 1)]


def lane(axis, top, name, bars):
    """Returns the path of one stage in one lane. Bars have at least half a pixel."""
    out = text(16, top + LANE / 2 + 4, name)
    paths = {}
    for bar in bars:
        x = axis.place(bar["ts"])
        wide = max(axis.place(bar["ts"] + bar["dur"]) - x - 0.4, 0.5)
        drawn = f"M{x:.1f} {top + 3:g}h{wide:.1f}v{LANE - 6}h-{wide:.1f}z"
        paths.setdefault(bar["name"], []).append(drawn)
    return out + "".join(f'<path class="{stage}" d="{"".join(d)}"/>\n'
                         for stage, d in sorted(paths.items()))


def graph(axis, top, samples):
    """Draws the bytes in use of device and host, with the scale of the larger."""
    most = max(max(device, host) for _, device, host in samples)
    out = text(16, top + 14, "memory")
    out += text(LEFT - 8, top + 30, f"{most / MIB:.0f} MiB", "faint", "end")
    for column, kind in ((2, "host-line"), (1, "device-line")):
        y = [f"{top + GRAPH * (1 - sample[column] / most):.1f}" for sample in samples]
        steps = "".join(f"H{axis.place(sample[0]):.1f}V{at}" for sample, at in zip(samples, y))
        out += f'<path class="{kind}" d="M{LEFT} {y[0]}{steps}H{RIGHT}"/>\n'
    return out


def legend(bars, y):
    out, x, used = "", 16, {bar["name"] for bar in bars}
    for stage, said in STAGES:
        if stage in used:
            out += f'<rect class="{stage}" x="{x}" y="{y - 10}" width="12" height="12"/>\n'
            out += text(x + 18, y, said, "faint")
            x += 34 + 7 * len(said)
    for kind, said in (("device-line", "buffers of chunks"),
                       ("host-line", "host memory with the result")):
        out += f'<path class="{kind}" d="M{x} {y - 4}h14"/>\n' + text(x + 20, y, said, "faint")
        x += 36 + 7 * len(said)
    return out


def picture(events):
    bars, samples, lanes = bars_of(events), memory_of(events), lanes_of(events)
    axis, top = Axis(bars), HEADER + LANE * len(lanes) + GAP
    bottom = top + GRAPH
    chunks = len({bar["args"].get("chunk") for bar in bars} - {None, -1})
    stored = sum(bar["args"]["bytes"] for bar in bars if bar["name"] == "place") / MIB
    peak = max(device for _, device, _ in samples) / MIB
    out = text(16, 28, "Timeline of a product that is computed in chunks", "title")
    out += text(16, 48, f"{chunks} chunks, {stored:.0f} MiB of results, at most {peak:.0f} MiB "
                        "in the buffers of chunks", "faint")
    out += legend(bars, 70)
    for tick in axis.ticks():
        x = axis.place(axis.begin + tick)
        out += line(x, HEADER, bottom, "grid")
        out += text(x, bottom + 18, f"{tick / 1e3:g} ms", "faint", "middle")
    for i, (tid, name) in enumerate(lanes.items()):
        out += lane(axis, HEADER + LANE * i, name, [bar for bar in bars if bar["tid"] == tid])
    return sheet(WIDTH, bottom + FOOTER, out + graph(axis, top, samples))
