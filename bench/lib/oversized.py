#!/usr/bin/env python3
"""bench/lib/oversized.py - products with less and less device memory, from lines of oversized.sh.

usage: oversized.py OUTDIR      reads OUTDIR/oversized-raw.jsonl, and writes oversized.jsonl (short
                                lines), oversized.md and oversized.svg beside it
       oversized.py FILE.jsonl  prints the tables of its short lines, those of mode "oversized"

A line without a cap on device memory gives the time and the bytes of the whole card. If there are
several lines for the same product and cap, the last counts.
"""
import json
import os
import sys

import summary

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "papers"))
from plot import KINDS, Panel, figure  # noqa: E402

HEAD = {"spgemm": ["A*A", "device memory", "of B", "ms", "of the whole card", "of the reference",
                   "bytes up", "bytes of B", "of the least", "of the best order", "chunks",
                   "planning"],
        "spmm": ["A*X, 128 columns", "device memory", "of X", "ms", "of the whole card",
                 "of the reference", "bytes up", "of the whole card", "chunks", "on the host",
                 "planning"]}
DRAWN = ["stencil27:160", "fem3:100", "er:4000000,8", "rmat:20,8"]
FIELDS = ["problem", "op", "engine", "peer", "device", "type", "cols", "pinned", "each",
          "row_order", "reps", "devices", "device_memory", "host_memory", "rows", "columns_of_a",
          "nnz", "date", "commit", "seconds", "plan_s", "reference_s", "predicted_s", "chunks",
          "host_chunks", "bytes_up", "b_up", "least_b_up", "error"]
OPTIONS = ("type", "pinned", "each", "row_order", "devices", "host_memory", "engine", "peer")
USUAL = {"pinned": False, "each": False, "row_order": "natural", "reps": 3, "devices": 1,
         "device_memory": 0, "host_memory": 0, "host_chunks": 0, "engine": "cuda", "peer": None,
         "b_up": -1, "least_b_up": -1}


def shortened(line):
    """Returns the fields that the tables need, less those with usual values."""
    kept = {"mode": "oversized"}
    for field in FIELDS:
        value = line.get(field)
        if value is not None and value != USUAL.get(field):
            kept[field] = float(f"{value:.4g}") if isinstance(value, float) else value
    if kept.get("columns_of_a") == kept["rows"]:
        del kept["columns_of_a"]
    kept["date"] = kept["date"][:10]
    return kept


def kept_lines(lines):
    """Returns the short lines that the tables use."""
    ops = products_of(map(shortened, lines))
    return [shortened(line) for products in ops.values() for budgets in products.values()
            for line in budgets.values()]


def options_of(line, **other):
    """Returns the options of a line, some of which may have other values."""
    return tuple((line | other)[field] for field in OPTIONS)


def products_of(lines):
    """Returns {op: {(problem, options): {bytes of device memory, or 0 without a cap: line}}}."""
    ops = {}
    for short in lines:
        line = USUAL | {"error": None, "columns_of_a": short["rows"]} | short
        products = ops.setdefault(line["op"], {})
        budgets = products.setdefault((line["problem"], options_of(line)), {})
        budgets[line["device_memory"]] = better(line, budgets.get(line["device_memory"]))
    return ops


def better(line, before):
    """Returns the line that counts: the latest, or that of a peer's fastest algorithm."""
    if not before or not line["peer"] or before["error"]:
        return line
    return before if line["error"] or line["seconds"] > before["seconds"] else line


# ---- cells -----------------------------------------------------------------------------------

def size(number):
    return f"{number / 2 ** 30:.3g} GiB" if number >= 2 ** 30 else f"{number / 2 ** 20:.4g} MiB"


def of_operand(line):
    """Returns device memory relative to the bytes of B or X; None without a cap."""
    value = 8 if line["type"] == "f64" else 4
    bytes_of = (line["nnz"] * (4 + value) + 8 * (line["columns_of_a"] + 1) if line["op"] == "spgemm"
                else line["columns_of_a"] * line["cols"] * value)
    return line["device_memory"] / bytes_of if line["device_memory"] else None


def ratio(line, other, field, by=None):
    above, below = line.get(field), other and other.get(by or field)
    return f"{above / below:.2f}" if above and below and above > 0 and below > 0 else "-"


def best_order(line, products):
    """Returns the line of the same product and budget whose order of rows needs the fewest bytes of
    B; None if there is one order only."""
    same = [lines[line["device_memory"]] for (problem, options), lines in products.items()
            if problem == line["problem"] and line["device_memory"] in lines]
    same = [other for other in same if other.get("b_up") and
            options_of(other, row_order=line["row_order"]) == options_of(line)]
    orders = {other["row_order"] for other in same}
    return min(same, key=lambda other: other["b_up"]) if len(orders) > 1 else None


def cells(line, whole, products):
    dashes = ["-"] * (len(HEAD[line["op"]]) - 4)
    if line["error"]:
        return ["fails"] + dashes
    if line["peer"]:
        return [f"{line['seconds'] * 1e3:.4g}", ratio(line, whole, "seconds"),
                ratio(line, line, "seconds", "reference_s")] + dashes[2:]
    begin = [f"{line['seconds'] * 1e3:.4g}", ratio(line, whole, "seconds"),
             ratio(line, line, "seconds", "reference_s"), size(line.get("bytes_up", 0))]
    end = [f"{line['plan_s'] / line['seconds']:.1%}"]
    if line["op"] == "spmm":
        return begin + [ratio(line, whole, "bytes_up"), f"{line['chunks']}",
                        f"{line['host_chunks']}"] + end
    return begin + [size(line["b_up"]) if line.get("b_up") else "-",
                    ratio(line, line, "b_up", "least_b_up"),
                    ratio(line, best_order(line, products), "b_up"), f"{line['chunks']}"] + end


def name_of(line):
    words = [f"`{line['problem']}`", line["type"]]
    words += ["pinned"] if line["pinned"] else []
    words += [f"rows by {line['row_order']}"] if line["row_order"] != "natural" else []
    words += ["rows to a function"] if line["each"] else []
    words += [f"{size(line['host_memory'])} of host memory"] if line["host_memory"] else []
    words += [f"{line['devices']} devices"] if line["devices"] > 1 else []
    words += ["CPU alone"] if line["engine"] == "host" else []
    words += [summary.PEER_NAMES[line["peer"]]] if line["peer"] else []
    return ", ".join(words)


def rows(products):
    for (problem, _), lines in products.items():
        for budget in sorted(lines, key=lambda b: -b if b else float("-inf")):
            line = lines[budget]
            ours = products.get((problem, options_of(line, peer=None)), {})
            of = of_operand(line)
            yield [name_of(line), size(budget) if budget else "all", f"{of:.2f}" if of else "-",
                   *cells(line, ours.get(0), products)]


# ---- the picture -----------------------------------------------------------------------------

def panel_of(title, across, products):
    panel = Panel(title, across, "time, of the whole card", "xy")
    for kind, problem in zip(KINDS, DRAWN):
        lines = products.get((problem, options_of(USUAL | {"type": "f32"})), {})
        whole = lines.get(0)
        points = [(of_operand(line), line["seconds"] / whole["seconds"])
                  for budget, line in lines.items() if budget and whole and not line["error"]]
        if points:
            panel.add(kind, points, curve=True)
    return panel


def drawn(lines):
    """Returns the picture as SVG."""
    ops = products_of(lines)
    return figure("Time with little device memory, relative to the whole card", DRAWN,
                  [panel_of("C = A A", "device memory, of the bytes of B", ops.get("spgemm", {})),
                   panel_of("Y = A X, 128 columns", "device memory, of the bytes of X",
                            ops.get("spmm", {}))])


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def tables(lines):
    """Returns a table for each operation, as Markdown."""
    said = []
    for op, products in products_of(lines).items():
        right = len(HEAD[op]) - 2
        said.append(row(HEAD[op]) + "|" + " --- |" * 2 + " ---: |" * right + "\n" +
                    "".join(map(row, rows(products))))
    return "\n".join(said)


def put(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    path = sys.argv[1]
    if not os.path.isdir(path):
        print(tables(line for line in summary.read([path]) if line["mode"] == "oversized"), end="")
        return
    lines = kept_lines(summary.read([os.path.join(path, "oversized-raw.jsonl")]))
    put(os.path.join(path, "oversized.jsonl"),
        "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    put(os.path.join(path, "oversized.md"), tables(lines))
    put(os.path.join(path, "oversized.svg"), drawn(lines))


if __name__ == "__main__":
    main()
