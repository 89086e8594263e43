#!/usr/bin/env python3
"""bench/papers/paper.py - what the tables of papers share: lines, tables and statistics.

A script measures with hybrid_spmm_bench. The module of its paper reduces these lines to few short
ones, with the mode "paper-NAME": they are kept in bench/results, and all tables and figures are
made from them. A module has three functions:

    reduced(lines, folder)  yields short lines from those of hybrid_spmm_bench, and from other files
                            that the script left in `folder`
    tables(lines)           returns the tables as Markdown, from short lines
    figures(lines)          yields (name of the file, SVG), from short lines
"""
import csv
import glob
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from summary import read, usable  # noqa: E402

CONDITIONS = ("device", "threads", "date", "commit")


def mean(values):
    """Returns the geometric mean, or NaN for no values."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if not ordered:
        return math.nan
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def ranks(values):
    """Returns the rank of each value from 1 on. Equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    out, begin = [0.0] * len(values), 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for i in order[begin:end]:
            out[i] = (begin + end + 1) / 2
        begin = end
    return out


def spearman(xs, ys):
    """Returns the rank correlation of two lists, or NaN if one of them is constant."""
    a, b = ranks(xs), ranks(ys)
    ma, mb = sum(a) / len(a), sum(b) / len(b)
    da, db = [x - ma for x in a], [y - mb for y in b]
    norm = math.sqrt(sum(x * x for x in da) * sum(y * y for y in db))
    return sum(x * y for x, y in zip(da, db)) / norm if norm else math.nan


def number(value, digits=3):
    """Returns a number with three digits, or "-" if it is unknown."""
    if value is None or math.isnan(value):
        return "-"
    return f"{float(f'{value:.{digits}g}'):g}" if value < 10 ** digits else f"{value:.0f}"


def percent(part):
    return "-" if math.isnan(part) else f"{100 * part:.0f} %"


def table(head, rows):
    """Returns a table in Markdown. Columns after the first are aligned to the right."""
    bars = ["| " + " | ".join(cells) + " |\n" for cells in [head, *rows]]
    return bars[0] + "| --- |" + " ---: |" * (len(head) - 1) + "\n" + "".join(bars[1:])


def good(lines):
    """Returns the lines whose product was computed and is right."""
    return [line for line in lines if usable(line)]


def conditions(line):
    return {name: line.get(name) for name in CONDITIONS}


def setting(lines):
    """Returns a sentence about machine, date and commit of short lines."""
    def told(name):
        return ", ".join(sorted({str(line[name]) for line in lines if line.get(name)}))
    days = ", ".join(sorted({line["date"][:10] for line in lines}))
    return f"Measured {days} on {told('device')}, commit {told('commit')}.\n\n"


def metrics(path):
    """Yields (kernel, {metric: value}) for each launch in a table that ncu wrote."""
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(line for line in f if line.startswith('"')))
    launches = {}
    for row in rows:
        values = launches.setdefault((row["ID"], row["Kernel Name"]), {})
        try:
            values[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
        except ValueError:  # the cell is "n/a" or a unit
            continue
    for (_, kernel), values in launches.items():
        if values:
            yield kernel, values


def profiles(folder, begin):
    """Yields (words of the name, path) of the files "BEGIN WORD WORD.csv" of a folder."""
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), f"{begin} *.csv"))):
        yield os.path.basename(path)[:-4].split(" ")[1:], path


def main(module):
    """Reduces the lines of the file argv[1], and writes lines, tables and figures to the folder
    argv[2]."""
    raw, out = sys.argv[1:]
    name = os.path.splitext(os.path.basename(module.__file__))[0]
    lines = [{"mode": f"paper-{name}"} | line for line in module.reduced(list(read([raw])), os.path.dirname(raw))]
    with open(os.path.join(out, f"{name}.jsonl"), "w", encoding="utf-8") as f:
        f.writelines(json.dumps(line) + "\n" for line in lines)
    with open(os.path.join(out, f"{name}.md"), "w", encoding="utf-8") as f:
        f.write(module.tables(lines))
    for file, drawn in module.figures(lines):
        with open(os.path.join(out, file), "w", encoding="utf-8") as f:
            f.write(drawn)
