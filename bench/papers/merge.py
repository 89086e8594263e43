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
TIME = "gpu__time_duration.sum"
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
THREADS = "smsp__thread_inst_executed_per_inst_executed.ratio"
ENTRIES = 1 << 22  # entries of each dense matrix
OURS = {"rows": ("wide_kernel", "narrow_kernel"), "merge": ("merge_kernel",)}


# ---- lines -----------------------------------------------------------------------------------

def reduced(lines, folder):
    """Yields a line for each matrix and width that both kernels computed, and one for each kernel
    in the profiles of `folder`."""
    timed = list(compared(lines))
    yield from timed
    for (variant, rows), path in paper.profiles(folder, "lanes"):
        for who, values in kernels(variant, list(paper.metrics(path))):
            yield {"kernel": who, "rows": int(rows), "nnz": ENTRIES,
                   "occupancy": values[OCCUPANCY] / 100, "efficiency": values[THREADS] / 32,
                   **paper.conditions(timed[0])}


def kernels(variant, launches):
    """Yields (name, metrics) of our longest kernel, and of cuSPARSE's first long one, which
    belongs to its default algorithm."""
    own = [v for kernel, v in launches if any(name in kernel for name in OURS[variant])]
    other = [v for kernel, v in launches if "cusparse" in kernel.lower()]
    if own:
        yield variant, max(own, key=lambda v: v[TIME])
    if other:
        most = max(v[TIME] for v in other)
        yield "cuSPARSE", next(v for v in other if v[TIME] >= most / 4)


def compared(lines):
    found = collections.defaultdict(dict)
    for line in paper.good(lines):
        own = (line.get("asked") or "").endswith(":paper=1")
        who = line["peer"] or line["variant"].rsplit(".", 1)[1] + ("_paper" if own else "")
        cell = found[line["problem"], line["cols"]]
        faster = who in cell and line["seconds"] < cell[who]["seconds"]
        if who not in cell or (line["peer"] and faster):  # the peer's fastest algorithm
            cell[who] = line
    for (problem, cols), cell in found.items():
        if "rows" not in cell or "merge" not in cell:
            continue
        rows, merge = cell["rows"], cell["merge"]
        yield {"problem": problem, "cols": cols, "rows": rows["rows"], "nnz": rows["nnz"],
               "rows_s": rows["seconds"], "merge_s": merge["seconds"],
               **{f"{who}_s": cell[who]["seconds"] if who in cell else None
                  for who in ("cusparse", "rows_paper", "merge_paper")},
               "model": "merge" if merge["predicted_s"] < rows["predicted_s"] else "rows",
               **paper.conditions(rows)}


def length(line):
    """Returns the mean number of entries in a row."""
    return line["nnz"] / line["rows"]


def is_real(line):
    return not line["problem"].startswith("dense:")


def as_in_paper(lines):
    """Returns lines whose kernels are those of the paper."""
    return [line | {"rows_s": line["rows_paper_s"], "merge_s": line["merge_paper_s"]}
            for line in lines if line.get("rows_paper_s") and line.get("merge_paper_s")]


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


def rules_table(lines, rules, said):
    widths = sorted({line["cols"] for line in lines})
    groups = [[line for line in lines if line["cols"] == n] for n in widths] + [lines]
    if len(widths) == 1:
        groups = groups[:1]
    head = ["rule", *(f"{n} column{'s' * (n > 1)}" for n in widths), "all"][:len(groups) + 1]
    rows = [[name, *(judged(rule(group)) for group in groups)] for name, rule in rules]
    rows.append(["fitted threshold, entries per row",
                 *(number(fitted(group)) for group in groups)])
    count = len({line["problem"] for line in lines})
    return (f"{said}: accuracy, mean regret and, in brackets, the largest regret on {count} "
            "matrices:\n\n"
            + table(head, rows))


# ---- beside cuSPARSE --------------------------------------------------------------------------

def beside(lines):
    """Returns real products with the paper's width that cuSPARSE computed."""
    return [line for line in lines if line["cols"] == WIDTH and line["cusparse_s"]]


def speedups_table(lines):
    own = as_in_paper(lines)

    def row(name, choices):
        ratios = [line["cusparse_s"] / line[f"{choice}_s"] for line, choice in choices]
        return [name, number(mean(ratios)), number(min(ratios)), number(max(ratios))]
    rows = [row(name, rule(lines)) for name, rule in RULES if rule(lines)]
    rows += [row(f"{name}, paper's kernels", rule(own)) for name, rule in RULES[:3] if own]
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
        speeds = [number(gflops(line, who)) if line.get(f"{who}_s") else "-"
                  for who in ("rows", "merge", "rows_paper", "merge_paper", "cusparse")]
        rows.append([f"{line['cols']}", f"{line['rows']}", f"{length(line):.0f}", *speeds])
    return ("GFLOP/s on dense matrices of equal size (the paper's Figs. 1 and 4):\n\n"
            + table(["columns of X", "rows", "entries per row", "rows", "merge", "rows, paper",
                     "merge, paper", "cuSPARSE"], rows))


def lanes_table(lines):
    rows = [[line["kernel"], f"{line['rows']}", f"{length(line):.0f}", percent(line["occupancy"]),
             percent(line["efficiency"])]
            for line in sorted(lines, key=lambda line: (line["kernel"], length(line)))]
    return (f"Achieved occupancy, and the mean share of a warp's threads that execute an "
            f"instruction, with {WIDTH} columns (the paper's Fig. 1b):\n\n"
            + table(["kernel", "rows", "entries per row", "occupancy", "warp efficiency"], rows))


def tables(lines):
    profiled = [line for line in lines if "kernel" in line]
    lines = [line for line in lines if "kernel" not in line]
    real = [line for line in lines if is_real(line)]
    made = [line for line in lines if not is_real(line)]
    own = as_in_paper(real)
    parts = [rules_table(real, RULES, "The kernels of this library")] if real else []
    parts += [rules_table(own, RULES[:-1], "The paper's kernels (`paper=1`)")] if own else []
    if beside(real):
        parts += [speedups_table(beside(real)), tens_table(beside(real))]
    parts += [lengths_table(made)] if made else []
    parts += [lanes_table(profiled)] if profiled else []
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
    lines = [line for line in lines if "kernel" not in line]
    made = [line for line in lines if not is_real(line)]
    real = beside([line for line in lines if is_real(line)])
    yield "merge-length.svg", figure(
        "Dense matrices with as many entries and ever longer rows (Figs. 1 and 4)",
        ["row split", "merge path", "cuSPARSE"], [length_panel(made, 1), length_panel(made, WIDTH)])
    yield "merge-real.svg", figure(
        f"Real matrices, {WIDTH} columns of X (Figs. 5 and 6)", ["row split", "merge path", "chosen"],
        [speedup_panel("each kernel", real, [("first", lambda line: "rows"),
                                             ("second", lambda line: "merge")]),
         speedup_panel("chosen by the cost model", real, [("third", lambda line: line["model"])]),
         speedup_panel("each of the paper's kernels", as_in_paper(real),
                       [("first", lambda line: "rows"), ("second", lambda line: "merge")])])


if __name__ == "__main__":
    paper.main(sys.modules[__name__])
