#!/usr/bin/env python3
"""bench/papers/tiled.py RAW OUTDIR - the tables of Tiled SpMM, from lines of tiled.sh.

The model predicts I_e times the bandwidth of device memory: the least if every access to X misses
the cache (Gamma = C), the most if only the first access to a row does (Gamma = C / L). The error of
a prediction is |measured / predicted - 1|.
"""
import collections
import re
import sys

import paper
from paper import mean, median, number, percent, spearman, table
from plot import Panel, figure

NAME = "spmm.cuda.tiled"
PAPER = [("before", "paper=1,segment=off,reorder=off"), ("chart", "paper=1,reorder=off"),
         ("sorted", "paper=1")]
OURS = [("before", "segment=off,reorder=off"), ("chart", "reorder=off"), ("sorted", "")]
STEPS = {"before": "before the chart", "chart": "after the chart", "sorted": "after the sort"}
OTHER_R = [("R=4", 4), ("", 8), ("R=16", 16)]
IDLE = 0.65
CLAIMED = {"least": ("0.03", "0.14"), "mean": ("1.78", "19.2"), "most": ("4.96", "834"),
           "geometric mean": ("0.75", "2.03")}
NUMBER = r"([-+.\de]+|inf|nan)"
MODEL = re.compile(rf"U {NUMBER}, sigma/mu {NUMBER}, R (\d+): (.*), (sorted by|in the order)[^\n]*\n"
                   rf"\s*rho {NUMBER}, C {NUMBER}, L {NUMBER}, Z {NUMBER}, mu {NUMBER}, mu\* {NUMBER}\n"
                   rf"\s*flops per byte: naive {NUMBER}, tiled {NUMBER} [^\n]* to {NUMBER} [^\n]*\n"
                   rf"\s*at {NUMBER} GB/s")
FIELDS = ["U", "cv", "R", "cut", "sorted", "rho", "C", "L", "Z", "mu", "mu_cut", "naive",
          "intensity", "intensity_cold", "GBps"]


# ---- lines -----------------------------------------------------------------------------------

def model_of(line):
    """Returns what the details of a plan say about the model, or None."""
    found = MODEL.search(line.get("details") or "")
    if not found:
        return None
    texts = dict(zip(FIELDS, found.groups()))
    words = {"cut": "cut into" in texts.pop("cut"), "sorted": texts.pop("sorted") == "sorted by"}
    return {name: float(text) for name, text in texts.items()} | words


def gflops(line):
    return 2e-9 * line["nnz"] * line["cols"] / line["seconds"]


def reduced(lines, _):
    """Yields a line for each matrix and form, and one for cuSPARSE's fastest algorithm with
    column-major X and Y."""
    fastest = {}
    for line in paper.good(lines):
        if line["order"] != "col" or line["mode"] != "core":
            continue
        short = {"problem": line["problem"], "cols": line["cols"], "rows": line["rows"],
                 "nnz": line["nnz"], "seconds": line["seconds"], **paper.conditions(line)}
        if line["peer"]:
            best = fastest.get(line["problem"])
            if not best or line["seconds"] < best["seconds"]:
                fastest[line["problem"]] = short | {"form": "cusparse"}
            continue
        model = model_of(line)
        if model:
            yield short | {"form": line["asked"][len(NAME) + 1:], "pack_s": line["pack_s"]} | model
    yield from fastest.values()


def by_problem(lines):
    """Returns {problem: {form: line}} of the problems that cuSPARSE computed, too."""
    found = collections.defaultdict(dict)
    for line in lines:
        found[line["problem"]][line["form"]] = line
    return {problem: forms for problem, forms in found.items() if "cusparse" in forms}


def pick(problems, form):
    """Returns the lines of a form."""
    return [forms[form] for forms in problems.values() if form in forms]


def predicted(line, cold=False):
    """Returns GFLOP/s."""
    return line["intensity_cold" if cold else "intensity"] * line["GBps"]


# ---- tables ----------------------------------------------------------------------------------

def speedups(problems, form):
    return [forms["cusparse"]["seconds"] / forms[form]["seconds"] for forms in problems.values()
            if form in forms]


def speedup_table(problems):
    """Table 2 of the paper."""
    forms = [form for _, form in PAPER + OURS]
    ratios = [speedups(problems, form) for form in forms]
    figures_of = {"least": min, "mean": lambda r: sum(r) / len(r), "most": max,
                  "geometric mean": mean}
    rows = [[name, *CLAIMED[name], *(number(of(r)) if r else "-" for r in ratios)]
            for name, of in figures_of.items()]
    rows.append(["faster than cuSPARSE", "-", "91 %",
                 *(percent(sum(x > 1 for x in r) / len(r)) if r else "-" for r in ratios)])
    head = ["", "paper, before", "paper, after",
            *(f"{who}, {STEPS[step]}" for who, steps in (("paper's form", PAPER), ("ours", OURS))
              for step, _ in steps)]
    return (f"Time of cuSPARSE over the time of Tiled SpMM on {len(problems)} matrices, X and Y "
            "column-major with 128 columns, f32 (the paper's Table 2):\n\n" + table(head, rows))


def error_cells(lines, cold):
    ratios = [gflops(line) / predicted(line, cold) for line in lines]
    return [number(mean(ratios)), percent(median([abs(r - 1) for r in ratios])),
            percent(sum(0.5 <= r <= 2 for r in ratios) / len(ratios))]


def error_table(problems):
    rows = []
    for who, steps in (("paper's form", PAPER), ("ours", OURS)):
        for step, form in steps:
            lines = pick(problems, form)
            if lines:
                order = spearman([predicted(line) for line in lines], [gflops(l) for l in lines])
                rows.append([f"{who}, {STEPS[step]}", f"{len(lines)}", *error_cells(lines, False),
                             *error_cells(lines, True), number(order, 2)])
    return ("Measured over predicted GFLOP/s: geometric mean, median error, and the share of "
            "matrices within a factor of 2, if every access misses (Gamma = C) and if only the "
            "first access to a row does (Gamma = C / L). The last column is the rank correlation "
            "of measured and predicted speed:\n\n"
            + table(["form", "matrices", "C: mean", "error", "within 2", "C / L: mean", "error",
                     "within 2", "rank"], rows))


def kind_of(line):
    return "few rows" if line["U"] < IDLE else "uneven" if line["cv"] > 1 else "even"


def chart_table(problems):
    """How much the chart and the sort gain where they change anything."""
    rows = []
    for who, steps in (("paper's form", PAPER), ("ours", OURS)):
        (_, before), (_, chart), (_, last) = steps
        both = [f for f in problems.values() if before in f and chart in f]
        for kind in ("few rows", "uneven"):
            gains = [f[before]["seconds"] / f[chart]["seconds"] for f in both
                     if kind_of(f[before]) == kind]
            if gains:
                rows.append([f"{who}: rows cut, {kind}", f"{len(gains)}", number(mean(gains)),
                             number(min(gains)), number(max(gains))])
        gains = [f[chart]["seconds"] / f[last]["seconds"] for f in both
                 if last in f and f[last]["sorted"]]
        rho = [f[last]["rho"] / f[chart]["rho"] for f in both if last in f and f[last]["sorted"]]
        if gains:
            rows.append([f"{who}: rows sorted (rho rises {number(mean(rho))} times)",
                         f"{len(gains)}", number(mean(gains)), number(min(gains)),
                         number(max(gains))])
    return ("Time before over time after, for the matrices that a step changes:\n\n"
            + table(["step", "matrices", "geometric mean", "least", "most"], rows))


def r_table(problems):
    rows = []
    for form, R in OTHER_R:
        shared = [f for f in problems.values() if all(other in f for other, _ in OTHER_R)]
        if shared:
            rows.append([f"{R}", number(mean([gflops(f[form]) for f in shared]))])
    return ("Geometric mean of GFLOP/s by R, ours after the sort:\n\n"
            + table(["R", "GFLOP/s"], rows)) if rows else ""


def problem_table(problems):
    forms = [form for _, form in PAPER + OURS]
    rows = []
    for problem, found in sorted(problems.items()):
        line = found.get(PAPER[-1][1])
        if line:
            rows.append([problem, kind_of(line), number(line["U"]), number(line["cv"]),
                         number(line["rho"]), number(line["C"]), number(line["L"]),
                         number(line["Z"]), "yes" if line["sorted"] else "no",
                         f"{number(predicted(line))} to {number(predicted(line, True))}",
                         *(number(gflops(found[form])) if form in found else "-" for form in forms),
                         number(gflops(found["cusparse"]))])
    head = ["matrix", "class", "U", "sigma / mu", "rho", "C", "L", "Z", "sorted", "predicted",
            *(f"{who} {step}" for who, steps in (("paper", PAPER), ("ours", OURS))
              for step, _ in steps), "cuSPARSE"]
    return ("GFLOP/s. Parameters and predictions are those of the paper's form after the sort:\n\n"
            + table(head, rows))


def tables(lines):
    problems = by_problem(lines)
    if not problems:
        return ""
    parts = [speedup_table(problems), error_table(problems), chart_table(problems),
             r_table(problems), problem_table(problems)]
    return paper.setting(lines) + "\n".join(filter(None, parts))


# ---- figures ---------------------------------------------------------------------------------

def roofline(title, problems, steps):
    """Speed by predicted intensity, before and after, with the bound of device memory (Figs. 10
    and 11)."""
    panel = Panel(title, "flops per byte, all accesses miss", "GFLOP/s", "xy")
    shown = []
    for kind, (_, form) in (("first", steps[0]), ("second", steps[-1])):
        points = [(line["intensity"], gflops(line)) for line in pick(problems, form)]
        shown += pick(problems, form)
        panel.add(kind, points)
    if shown:
        ends = [pick_end(line["intensity"] for line in shown) for pick_end in (min, max)]
        panel.add("third", [(x, x * shown[0]["GBps"]) for x in ends], curve=True)
    return panel


def beside(title, problems, form):
    """cuSPARSE's time over ours, ascending (Fig. 13)."""
    panel = Panel(title, "matrices, ascending", "cuSPARSE's time over ours", "y")
    panel.add("first", [(i + 1, r) for i, r in enumerate(sorted(speedups(problems, form)))])
    return panel


def figures(lines):
    problems = by_problem(lines)
    yield "tiled.svg", figure(
        "Tiled SpMM on the roofline (Figs. 10 and 11)",
        ["before the chart", "after chart and sort", "bandwidth of device memory"],
        [roofline("the paper's form", problems, PAPER), roofline("ours", problems, OURS)])
    yield "tiled-cusparse.svg", figure(
        "Beside column-major cuSPARSE (Fig. 13)", ["a matrix"],
        [beside("the paper's form, after chart and sort", problems, PAPER[-1][1]),
         beside("ours, after chart and sort", problems, OURS[-1][1])])


if __name__ == "__main__":
    paper.main(sys.modules[__name__])
