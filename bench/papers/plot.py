#!/usr/bin/env python3
"""bench/papers/plot.py - panels with axes, curves and dots, as SVG. A module of the papers.

A figure is a sheet with a title, a legend and panels side by side. Series have a name and one of
KINDS, which determines their colour and shape: dots of one series can be told from those of another
without colours.
"""
import math

from svg import line, sheet, text

STYLE = """<style>
  .dots { fill: none; stroke-width: 2; stroke-linecap: round }
  .curve { fill: none; stroke-width: 2 }
  .first { stroke: #0b6bcb }
  .dots.first { stroke-width: 6 }
  .second { stroke: #c4501b }
  .third { stroke: #59636e }
  .fourth { stroke: #8250df }
  @media (prefers-color-scheme: dark) {
    .first { stroke: #58a6ff }
    .second { stroke: #f0883e }
    .third { stroke: #9198a1 }
    .fourth { stroke: #bc8cff }
  }
</style>
"""
KINDS = ["first", "second", "third", "fourth"]
LEFT, TOP, GAP = 64, 92, 74       # of the first panel, and between panels
WIDTH, HEIGHT, FOOTER = 370, 300, 52
SHAPES = {"first": "M{x:.1f} {y:.1f}h0", "second": "M{x:.1f} {y:.1f}m-3 0h6m-3 -3v6",
          "third": "M{x:.1f} {y:.1f}m-3 -3l6 6m0 -6l-6 6", "fourth": "M{x:.1f} {y:.1f}m0 -4v8"}


class Axis:
    """Places values from `low` to `high` on pixels from `begin` to `end`."""

    def __init__(self, values, begin, end, log=False):
        low, high = min(values), max(values)
        self.begin, self.end, self.log = begin, end, log
        if log:
            low, high = 2 ** math.floor(math.log2(low)), 2 ** math.ceil(math.log2(high))
        else:
            low = min(low, 0)
        self.low, self.high = low, high if high > low else low + 1

    def place(self, value):
        f = math.log if self.log else lambda v: v
        share = (f(value) - f(self.low)) / (f(self.high) - f(self.low))
        return self.begin + share * (self.end - self.begin)

    def ticks(self):
        """Returns at most seven ticks: powers of two, or multiples of 1, 2 or 5 times a power of
        ten."""
        if self.log:
            powers = range(round(math.log2(self.low)), round(math.log2(self.high)) + 1)
            return [2.0 ** p for p in powers[::(len(powers) + 6) // 7]]
        step = next(m * 10 ** p for p in range(-9, 15) for m in (1, 2, 5)
                    if (self.high - self.low) / (m * 10 ** p) <= 6)
        first = math.ceil(self.low / step)
        return [k * step for k in range(first, int(self.high / step + 1e-9) + 1)]


def short(value):
    """Returns a tick as "64", "4 K", "2 M" or "1/4"."""
    if 0 < value < 1 and math.log2(value).is_integer():
        return f"1/{round(1 / value)}"
    for unit, size in (("M", 2 ** 20), ("K", 2 ** 10)):
        if value >= size and value % size == 0:
            return f"{value / size:g} {unit}"
    return f"{value:g}"


class Panel:
    """A panel of a figure. `log` names the logarithmic axes: "", "x", "y" or "xy"."""

    def __init__(self, title, across, up, log=""):
        self.title, self.across, self.up, self.log = title, across, up, log
        self.series, self.marks = [], []

    def add(self, kind, points, curve=False):
        """Adds a series of (x, y): dots, joined in the order of x if `curve` is set."""
        self.series.append((kind, sorted(points), curve))

    def mark(self, x, said):
        """Adds a vertical line at x."""
        self.marks.append((x, said))

    def drawn(self, left):
        points = [point for _, series, _ in self.series for point in series]
        if not points:
            return text(left, TOP + 20, self.title) + text(left, TOP + 40, "no lines", "faint")
        bottom = TOP + HEIGHT
        x = Axis([p[0] for p in points], left, left + WIDTH, "x" in self.log)
        y = Axis([p[1] for p in points], bottom, TOP, "y" in self.log)
        out = text(left, TOP - 14, self.title)
        for tick in x.ticks():
            out += line(x.place(tick), TOP, bottom, "grid")
            out += text(x.place(tick), bottom + 18, short(tick), "faint", "middle")
        for tick in y.ticks():
            out += f'<path class="grid" d="M{left} {y.place(tick):.1f}h{WIDTH}"/>\n'
            out += text(left - 8, y.place(tick) + 4, short(tick), "faint", "end")
        out += text(left + WIDTH, bottom + 36, self.across, "faint", "end")
        out += text(left + WIDTH, TOP - 14, self.up, "faint", "end")
        for at, said in self.marks:
            out += line(x.place(at), TOP, bottom, "one")
            out += text(x.place(at) + 5, TOP + 14, said, "faint")
        for kind, series, curve in self.series:
            places = [(x.place(a), y.place(b)) for a, b in series]
            if curve:
                path = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
                out += f'<path class="curve {kind}" d="M{path}"/>\n'
            drawn = "".join(SHAPES[kind].format(x=a, y=b) for a, b in places)
            out += f'<path class="dots {kind}" d="{drawn}"/>\n'
        return out


def figure(title, names, panels):
    """Returns the SVG of panels side by side. `names` are those of the series, in the order of
    KINDS."""
    out, at = STYLE + text(16, 28, title, "title"), 16
    for kind, name in zip(KINDS, names):
        out += f'<path class="dots {kind}" d="{SHAPES[kind].format(x=at + 6, y=44)}"/>\n'
        out += text(at + 16, 48, name, "faint")
        at += 34 + 7 * len(name)
    for i, panel in enumerate(panels):
        out += panel.drawn(LEFT + i * (WIDTH + GAP))
    return sheet(LEFT + len(panels) * (WIDTH + GAP) - GAP + 24, TOP + HEIGHT + FOOTER, out)
