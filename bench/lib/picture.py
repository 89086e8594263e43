#!/usr/bin/env python3
"""bench/lib/picture.py - draws the rows of speed.py as SVG, with a dot for each product of a matrix.

A module of check_readme.py, which draws docs/speed.svg.
"""
import collections
import math

import speed
from svg import line, sheet, text

WIDTH, HEADER, STEP, FOOTER = 920, 66, 44, 34
LEFT, RIGHT = 330, 850 # x of the ends of the axis, in pixels
LEAST, MOST = 1 / 64, 32
DOT = 4

def place(ratio):
    """Returns the x of a ratio on the logarithmic axis."""
    share = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + share * (RIGHT - LEFT)


def dots(ratios, middle):
    """Draws the dots of a row. Dots that would overlap are stacked about the middle of the row."""
    columns = collections.defaultdict(list)
    for ratio in sorted(ratios):
        columns[round((place(ratio) - LEFT) / DOT)].append(ratio)
    paths = {"slower": "", "faster": ""}
    for column, stack in sorted(columns.items()):
        gap = min(DOT, (STEP - 10) / len(stack))
        for i, ratio in enumerate(stack):
            y = middle + gap * (i - (len(stack) - 1) / 2)
            paths["faster" if ratio >= 1 else "slower"] += f"M{LEFT + column * DOT} {y:.1f}h0"
    return "".join(f'<path class="{kind}" d="{d}"/>\n' for kind, d in paths.items() if d)


def row_of(row, middle):
    label, at = row.label, row.label.find(": ")
    out = text(16, middle - 3, label[at + 2:]) + text(16, middle + 13, label[:at], "faint")
    if row.pairs:
        mean = speed.ratio(row)
        out += dots([pair.ratio for pair in row.pairs], middle)
        out += line(place(mean), middle - 17, middle + 17, "tick")
        out += text(WIDTH - 16, middle + 4, speed.times(mean), "mean", "end")
    return out


def axis(bottom):
    out = ""
    for power in range(-5, 6, 2):
        out += line(place(2 ** power), HEADER, bottom, "grid")
        said = f"{2 ** abs(power)} × {'slower' if power < 0 else 'faster'}"
        if abs(power) > 1:
            out += text(place(2 ** power), bottom + 18, said, "faint", "middle")
    return out + line(place(1), HEADER, bottom, "one") + \
        text(place(1), bottom + 18, "equal", "faint", "middle")


def picture(lines):
    rows = list(speed.rows(lines))
    bottom = HEADER + STEP * len(rows)
    out = text(16, 28, "How fast hybrid_spmm is beside the fastest other program", "title")
    out += text(16, 48, "A dot is a product of one matrix; the bar is the geometric mean.",
                "faint")
    out += text(WIDTH - 16, 48, "mean", "faint", "end")
    out += axis(bottom)
    for i, row in enumerate(rows):
        out += row_of(row, HEADER + STEP * (i + 0.5))
    return sheet(WIDTH, bottom + FOOTER, out)
