#!/usr/bin/env python3
"""bench/lib/oversized.py - table of A*A by device memory, from lines that oversized.sh writes.

usage: oversized.py FILE.jsonl...

A line without a cap on device memory gives the time and the bytes of the whole card. If there are
several runs of the same product, the last counts, and a run with --explain gives the bytes of B only,
because finding out more takes time.
"""
import sys

import summary

HEAD = ["A*A", "device memory", "ms", "of the whole card", "bytes up", "of the whole card",
        "bytes of B", "of the least", "chunks", "planning, ms"]


def read(paths):
    """Returns {(problem, type, pinned): {bytes of device memory, or 0 without a cap: line}}."""
    products = {}
    for line in summary.read(paths):
        key = (line["problem"], line["type"], line["pinned"])
        lines, budget = products.setdefault(key, {}), line["device_memory"] or 0
        if budget in lines and (line.get("least_b_up") or -1) > 0:
            lines[budget] |= {field: line[field] for field in ("b_up", "least_b_up")}
        else:
            lines[budget] = line
    return products


def size(number):
    return f"{number / 2 ** 30:.3g} GiB" if number >= 2 ** 30 else f"{number / 2 ** 20:.4g} MiB"


def ratio(line, whole, field):
    if not whole or whole["error"] or not whole[field]:
        return "-"
    return f"{line[field] / whole[field]:.2f}"


def of_b(line):
    """Returns the bytes of B that are sent, and their ratio to the least bytes.

    Only lines of runs with --explain know these bytes.
    """
    sent, least = line.get("b_up") or -1, line.get("least_b_up") or -1
    known = sent > 0 and least > 0
    return [size(sent), f"{sent / least:.2f}"] if known else ["-", "-"]


def cells(line, whole):
    if line["error"]:
        return ["fails"] + ["-"] * 7
    return [f"{line['seconds'] * 1e3:.4g}", ratio(line, whole, "seconds"), size(line["bytes_up"]),
            ratio(line, whole, "bytes_up"), *of_b(line), f"{line['chunks']}",
            f"{line['plan_s'] * 1e3:.3g}"]


def rows(products):
    for (problem, kind, pinned), lines in products.items():
        name = f"`{problem}`, {kind}" + (", pinned" if pinned else "")
        for budget in sorted(lines, key=lambda b: -b if b else float("-inf")):
            yield [name, size(budget) if budget else "all", *cells(lines[budget], lines.get(0))]


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    products = read(sys.argv[1:])
    if not products:
        sys.exit("oversized.py: no lines")
    summary.print_rows(HEAD, 2, rows(products))


if __name__ == "__main__":
    main()
