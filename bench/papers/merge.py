#!/usr/bin/env python3
"""bench/papers/merge.py RAW OUTDIR - the tables of Yang, Buluç and Owens, from lines of merge.sh.

A rule chooses between row split (rows) and merge path (merge). Its accuracy is the share of
products for which it takes the faster one, its regret the time of its choice over the time of the
faster one. The fitted threshold is judged on matrices to which it was not fitted: it is fitted to
every second matrix and judged on the others, and the reverse.
"""
import collections
import sys

import paper
from paper import mean, number, percent, table
from plot import Panel, figure

PAPER = 9.35  # entries per row; shorter rows take merge
WIDTH = 64    # columns of X in the paper's figures
FEW = 10      # matrices in each half of Fig. 5


# ---- lines -----------------------------------------------------------------------------------

def reduced(lines, _):
    """Yields a line for each matrix and width that both kernels computed."""
    found = collections.defaultdict(dict)
    for line in paper.good(lines):
        who = line["peer"] or line["variant"].rsplit(".", 1)[1]
        cell = found[line["problem"], line["cols"]]
        faster = who in cell and line["seconds"] < cell[who]["seconds"]
        if who not in cell or (line["peer"] and faster):  # the peer's fastest algorithm
            cell[who] = line
    for (problem, cols), cell in found.items():
        if "rows" not in cell or "merge" not in cell:
            continue
        rows, merge = cell["rows"], cell["merge"]
        other = cell.get("cusparse")
        yield {"problem": problem, "cols": cols, "rows": rows["rows"], "nnz": rows["nnz"],
               "rows_s": rows["seconds"], "merge_s": merge["seconds"],
               "cusparse_s": other["seconds"] if other else None,
               "model": "merge" if merge["predicted_s"] < rows["predicted_s"] else "rows",
               **paper.conditions(rows)}


def length(line):
    """Returns the mean number of entries in a row."""
    return line["nnz"] / line["rows"]


def is_real(line):
    return not line["problem"].startswith("dense:")


def gflops(line, who):
    return 2e-9 * line["nnz"] * line["cols"] / line[f"{who}_s"]


# ---- rules -----------------------------------------------------------------------------------

def regret(line, choice):
    return line[f"{choice}_s"] / min(line["rows_s"], line["merge_s"])


def by_threshold(threshold):
    return lambda line: "merge" if length(line) < threshold else "rows"


def fitted(lines):
    """Returns the threshold with the least regret on `lines`, between two neighbouring lengths."""
    lengths = sorted({length(line) for line in lines})
    between = [(a * b) ** 0.5 for a, b in zip(lengths, lengths[1:])]
    candidates = [lengths[0] / 2, *between, lengths[-1] * 2]
    return min(candidates, key=lambda t: mean(regret(line, by_threshold(t)(line)) for line in lines))


def halves(lines):
    """Returns two halves of the matrices, each with all widths."""
    names = sorted({line["problem"] for line in lines})
    first = set(names[::2])
    return ([line for line in lines if line["problem"] in first],
            [line for line in lines if line["problem"] not in first])


def cross_fitted(lines):
    """Returns (line, choice) of a threshold that was fitted to the other half."""
    one, other = halves(lines)
    if not one or not other:
        return []
    pairs = []
    for judged, used in ((one, other), (other, one)):
        choose = by_threshold(fitted(used))
        pairs += [(line, choose(line)) for line in judged]
    return pairs


RULES = [
    ("always row split", lambda lines: [(line, "rows") for line in lines]),
    ("always merge path", lambda lines: [(line, "merge") for line in lines]),
    ("9.35 entries per row (paper)",
     lambda lines: [(line, by_threshold(PAPER)(line)) for line in lines]),
    ("threshold fitted to the other half", cross_fitted),
    ("cost model", lambda lines: [(line, line["model"]) for line in lines]),
]


def judged(pairs):
    """Returns a cell: accuracy, mean regret, and the largest regret in brackets."""
    if not pairs:
        return "-"
    costs = [regret(line, choice) for line, choice in pairs]
    right = sum(cost == 1 for cost in costs) / len(costs)
    return f"{percent(right)}, {mean(costs):.3f} ({max(costs):.2f})"


def rules_table(lines):
    widths = sorted({line["cols"] for line in lines})
    groups = [[line for line in lines if line["cols"] == n] for n in widths] + [lines]
    head = ["rule", *(f"{n} column{'s' * (n > 1)}" for n in widths), "all"]
    rows = [[name, *(judged(rule(group)) for group in groups)] for name, rule in RULES]
    rows.append(["fitted threshold, entries per row",
                 *(number(fitted(group)) for group in groups)])
    count = len({line["problem"] for line in lines})
    return (f"Accuracy, mean regret and, in brackets, the largest regret on {count} matrices:\n\n"
            + table(head, rows))


# ---- beside cuSPARSE --------------------------------------------------------------------------

def beside(lines):
    """Returns real products with the paper's width that cuSPARSE computed."""
    return [line for line in lines if line["cols"] == WIDTH and line["cusparse_s"]]


def speedups_table(lines):
    def row(name, choices):
        ratios = [line["cusparse_s"] / line[f"{choice}_s"] for line, choice in choices]
        return [name, number(mean(ratios)), number(min(ratios)), number(max(ratios))]
    rows = [row(name, rule(lines)) for name, rule in RULES if rule(lines)]
    return (f"cuSPARSE's time over ours with {WIDTH} columns (the paper's Fig. 6), "
            f"{len(lines)} matrices:\n\n" + table(["rule", "mean", "least", "most"], rows))


def ten(lines, longest):
    """Returns the FEW matrices with the longest or with the shortest rows, longest first."""
    ordered = sorted(lines, key=length, reverse=True)
    return ordered[:FEW] if longest else ordered[-FEW:]


def tens_table(lines):
    rows = []
    for said, group in (("longest", ten(lines, True)), ("shortest", ten(lines, False))):
        own = "rows" if said == "longest" else "merge"
        ratios = [line["cusparse_s"] / line[f"{own}_s"] for line in group]
        rows.append([f"{len(group)} {said}: {own}",
                     number(sum(map(length, group)) / len(group)), number(mean(ratios)),
                     number(max(ratios))])
    return (f"cuSPARSE's time over ours for the {FEW} matrices with the longest and with the "
            "shortest rows (the paper's Fig. 5):\n\n"
            + table(["matrices: kernel", "entries per row", "mean", "most"], rows))


def lengths_table(lines):
    rows = []
    for line in sorted(lines, key=lambda line: (line["cols"], length(line))):
        other = number(gflops(line, "cusparse")) if line["cusparse_s"] else "-"
        rows.append([f"{line['cols']}", f"{line['rows']}", f"{length(line):.0f}",
                     number(gflops(line, "rows")), number(gflops(line, "merge")), other])
    return ("GFLOP/s on dense matrices of equal size (the paper's Figs. 1 and 4):\n\n"
            + table(["columns of X", "rows", "entries per row", "rows", "merge", "cuSPARSE"], rows))


def tables(lines):
    real = [line for line in lines if is_real(line)]
    made = [line for line in lines if not is_real(line)]
    parts = [rules_table(real)] if real else []
    if beside(real):
        parts += [speedups_table(beside(real)), tens_table(beside(real))]
    parts += [lengths_table(made)] if made else []
    return paper.setting(lines) + "\n".join(parts) if lines else ""


# ---- figures ---------------------------------------------------------------------------------

def length_panel(lines, cols):
    panel = Panel(f"{cols} column{'s' * (cols > 1)} of X", "entries per row", "GFLOP/s", "xy")
    for kind, who in zip(("first", "second", "third"), ("rows", "merge", "cusparse")):
        panel.add(kind, [(length(line), gflops(line, who)) for line in lines
                         if line["cols"] == cols and line[f"{who}_s"]], curve=True)
    return panel


def speedup_panel(title, lines, series):
    panel = Panel(title, "entries per row", "cuSPARSE's time over ours", "xy")
    for kind, choose in series:
        panel.add(kind, [(length(line), line["cusparse_s"] / line[f"{choose(line)}_s"])
                         for line in lines])
    panel.mark(PAPER, "9.35")
    return panel


def figures(lines):
    made = [line for line in lines if not is_real(line)]
    real = beside([line for line in lines if is_real(line)])
    yield "merge-length.svg", figure(
        "Dense matrices with as many entries and ever longer rows (Figs. 1 and 4)",
        ["row split", "merge path", "cuSPARSE"], [length_panel(made, 1), length_panel(made, WIDTH)])
    yield "merge-real.svg", figure(
        f"Real matrices, {WIDTH} columns of X (Figs. 5 and 6)", ["row split", "merge path", "chosen"],
        [speedup_panel("each kernel", real, [("first", lambda line: "rows"),
                                             ("second", lambda line: "merge")]),
         speedup_panel("chosen by the cost model", real, [("third", lambda line: line["model"])])])


if __name__ == "__main__":
    paper.main(sys.modules[__name__])
