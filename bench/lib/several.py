#!/usr/bin/env python3
"""bench/lib/several.py - table of products by number of GPUs, from lines that several.sh writes.

usage: several.py FILE.jsonl...

If there are several runs of the same product on the same devices, the last counts. The bound is
the resource that the report names, and its share is how much of the rate of the bound the run
reached. The reference is the time in which buses and host memory move operands and result once.
"""
import sys

import summary

HEAD = ["product", "GPUs", "predicted, ms", "measured, ms", "times one GPU", "bound", "reached, %",
        "of the reference, %"]


def read(paths):
    """Returns {(operation, problem, columns, type, pinned): {number of devices: line}}."""
    products = {}
    for line in summary.read(paths):
        key = (line["op"], line["problem"], line["cols"], line["type"], line["pinned"])
        products.setdefault(key, {})[line["devices"]] = line
    return products


def cells(line, one):
    if line["error"]:
        return ["-", "fails", "-", "-", "-", "-"]
    predicted = line["predicted_s"]
    ratio = f"{one['seconds'] / line['seconds']:.2f}" if one and not one["error"] else "-"
    bound = line["bound"]
    reached = line[f"use_{bound.replace(' ', '_')}"] if bound else None
    moved = line.get("speedup_over_reference")
    return [f"{predicted * 1e3:.4g}" if predicted else "-", f"{line['seconds'] * 1e3:.4g}", ratio,
            bound or "-", f"{reached * 100:.0f}" if reached is not None else "-",
            f"{moved * 100:.0f}" if moved is not None else "-"]


def rows(products):
    for (operation, problem, columns, kind, pinned), lines in products.items():
        name = f"A*A `{problem}`" if operation == "spgemm" else f"A*X `{problem}`, {columns} columns"
        for devices in sorted(lines):
            yield [f"{name}, {kind}, {'pinned' if pinned else 'pageable'}", str(devices),
                   *cells(lines[devices], lines.get(1))]


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    products = read(sys.argv[1:])
    if not products:
        sys.exit("several.py: no lines")
    summary.print_rows(HEAD, 1, rows(products))


if __name__ == "__main__":
    main()
