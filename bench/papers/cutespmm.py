#!/usr/bin/env python3
"""bench/papers/cutespmm.py RAW OUTDIR - the tables of cuTeSpMM, from lines of cutespmm.sh.

alpha is the mean share of the 16 rows of a row panel that have an entry in a column which the
panel uses. It determines the synergy class (the paper's Table 1) and the operational intensity.
"""
import collections
import re
import sys

import paper
from paper import mean, median, number, percent, spearman, table
from plot import Panel, figure

CLASSES = [("low", 0, 0.125), ("medium", 0.125, 0.25), ("high", 0.25, 1.1)]
KINDS = {"f32": "hrpb_s", "TF32": "tf32_s", "paper=1": "paper_s"}
MODEL = re.compile(r"intensity ([\d.]+) flop/byte\n.*?predicted ([\d.]+) GFLOP/s", re.S)


# ---- lines -----------------------------------------------------------------------------------

def modelled(line):
    """Returns (intensity in flop/byte, predicted GFLOP/s) that the plan's details tell of."""
    found = MODEL.search(line.get("details") or "")
    return (float(found[1]), float(found[2])) if found else (None, None)


def reduced(lines, _):
    """Yields a line for each matrix and width that all kernels computed."""
    found = collections.defaultdict(dict)
    for line in paper.good(lines):
        own = (line.get("asked") or "").endswith(":paper=1")
        who = "paper" if own else "tf32" if line["tf32"] else line["variant"].rsplit(".", 1)[1]
        found[line["problem"], line["cols"]].setdefault(who, line)
    for (problem, cols), cell in found.items():
        if not {"rows", "merge", "hrpb", "tf32", "paper"} <= cell.keys():
            continue
        first = cell["hrpb"]
        yield {"problem": problem, "cols": cols, "rows": first["rows"], "nnz": first["nnz"],
               "alpha": first["alpha"], "pack_s": first["pack_s"],
               "intensity": modelled(first)[0],
               **{f"{who}_gflops": modelled(cell[who])[1] for who in ("hrpb", "tf32", "paper")},
               **{f"{who}_s": line["seconds"] for who, line in cell.items()},
               **paper.conditions(first)}


def scalar(line):
    """Returns the seconds of the faster scalar kernel."""
    return min(line["rows_s"], line["merge_s"])


def gflops(line, field):
    return 2e-9 * line["nnz"] * line["cols"] / line[field]


def widths(lines):
    return sorted({line["cols"] for line in lines})


def of(lines, cols, least=0, most=2):
    return [line for line in lines if line["cols"] == cols and least <= line["alpha"] < most]


# ---- tables ----------------------------------------------------------------------------------

def classes_table(lines):
    rows = []
    for name, least, most in CLASSES:
        for cols in widths(lines):
            group = of(lines, cols, least, most)
            cells = [name, str(len(group)), str(cols)]
            cells.append(number(median([2e-9 * line["nnz"] * cols / scalar(line)
                                        for line in group])))
            for field in KINDS.values():
                ratios = [scalar(line) / line[field] for line in group]
                wins = sum(r > 1 for r in ratios)
                cells += [number(median([gflops(line, field) for line in group])),
                          f"{number(mean(ratios))} ({wins}/{len(ratios)})"]
            rows.append(cells)
    head = ["synergy", "matrices", "columns", "scalar GFLOP/s"]
    for kind in KINDS:
        head += [f"hrpb {kind} GFLOP/s", f"scalar / hrpb {kind}"]
    return ("Medians of GFLOP/s, and geometric means of the time of the faster scalar kernel over "
            "that of hrpb; brackets have the number of matrices on which hrpb is faster (the "
            "paper's Table 2, Figs. 9 and 10):\n\n" + table(head, rows))


def packing_table(lines):
    rows = []
    for cols in widths(lines):
        runs = [line["pack_s"] / line["hrpb_s"] for line in of(lines, cols) if line["pack_s"]]
        rows.append([str(cols), str(len(runs)), number(median(runs)),
                     number(min(runs, default=None)), number(max(runs, default=None))])
    return ("Time to pack A, in times of the f32 kernel (the paper's section 6.3):\n\n"
            + table(["columns", "matrices", "median", "least", "most"], rows))


def correlation_table(lines):
    rows = []
    for kind, field in KINDS.items():
        for cols in widths(lines):
            group = of(lines, cols)
            alphas = [line["alpha"] for line in group]
            rows.append([kind, str(cols), str(len(group)),
                         number(spearman(alphas, [gflops(line, field) for line in group])),
                         number(spearman(alphas, [scalar(line) / line[field] for line in group]))])
    return ("Spearman's rank correlation of alpha (the paper's Fig. 7):\n\n"
            + table(["type", "columns", "matrices", "with GFLOP/s", "with scalar / hrpb"], rows))


def prediction_table(lines):
    rows = []
    for kind, field in KINDS.items():
        told = field.replace("_s", "_gflops")
        for cols in widths(lines):
            known = [line for line in of(lines, cols) if line[told]]
            ratios = [line[told] / gflops(line, field) for line in known]
            errors = [abs(r - 1) for r in ratios]
            rows.append([kind, str(cols), str(len(known)), number(mean(ratios)),
                         percent(median(errors))])
    return ("Predicted over measured GFLOP/s (Eq. 1 to 5, restated):\n\n"
            + table(["type", "columns", "matrices", "mean", "median error"], rows))


def tables(lines):
    parts = [classes_table, packing_table, correlation_table, prediction_table]
    return paper.setting(lines) + "\n".join(part(lines) for part in parts) if lines else ""


def figures(lines):
    panels = []
    for cols in widths(lines):
        panel = Panel(f"{cols} columns of X", "alpha", "GFLOP/s", "xy")
        for shape, field in zip(("first", "second"), ("hrpb_s", "tf32_s")):
            panel.add(shape, [(line["alpha"], gflops(line, field)) for line in of(lines, cols)])
        panel.add("third", [(line["alpha"], 2e-9 * line["nnz"] * cols / scalar(line))
                            for line in of(lines, cols)])
        for at in (0.125, 0.25):
            panel.mark(at, f"{100 * at:g} %")
        panels.append(panel)
    yield "cutespmm.svg", figure("cuTeSpMM: density of active columns and speed (Fig. 7)",
                                 ["hrpb f32", "hrpb TF32", "faster scalar kernel"], panels)


if __name__ == "__main__":
    paper.main(sys.modules[__name__])
