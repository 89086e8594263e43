#!/usr/bin/env python3
"""bench/papers/hyspmm.py RAW OUTDIR - the tables of hySpMM (Wu 2015), from lines of hyspmm.sh.

A matrix of the paper counts once in a mean, however many problems stand for it.
"""
import os
import sys

import paper
import timeline
from paper import mean, number, percent, table
from summary import ms
from svg import sheet, text

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = ["esc_dup", "esc", "hash"]
LARGE = 100_000  # rows from which a matrix of the paper is large
TRACE = "paper-hyspmm-trace"  # "mode" of a line that holds an event of the trace
METRICS = {"lts__t_sectors_lookup_hit.sum": "hit", "lts__t_sectors_lookup_miss.sum": "miss"}


# ---- lines -----------------------------------------------------------------------------------

def stands_for():
    """Returns {problem: matrix of the paper, or "-"} in the order of hyspmm.txt."""
    with open(os.path.join(HERE, "hyspmm.txt"), encoding="utf-8") as f:
        words = [line.split("#")[0].split() for line in f]
    return {pair[0]: pair[1] for pair in words if pair}


def reduced(lines, folder):
    """Yields a line for each problem, with the seconds of each variant and of cuSPARSE; then those
    of profiles and of the trace in `folder`."""
    timed = list(compared(lines))
    yield from timed
    yield from cached(folder, paper.conditions(timed[0]) if timed else {})
    trace = os.path.join(folder, "trace.json")
    if os.path.exists(trace):
        yield from (event | {"mode": TRACE} for event in timeline.read(trace))


def compared(lines):
    names, found = stands_for(), {}
    for line in paper.good(lines):
        who = line["peer"] or line["variant"].rsplit(".", 1)[1]
        cell = found.setdefault(line["problem"], {})
        if who not in cell or line["seconds"] < cell[who]["seconds"]:
            cell[who] = line
    for problem in sorted(found, key=list(names).index):
        cell = found[problem]
        first = cell.get("esc_dup") or next(iter(cell.values()))
        yield {"problem": problem, "for": names[problem], "rows": first["rows"],
               "nnz": first["nnz"], "products": first["products"], "nnz_out": first["nnz_out"],
               "seconds": {who: line["seconds"] for who, line in cell.items()},
               **paper.conditions(first)}


def hit_rate(path):
    """Returns the hit rate of the L2 cache over all kernels, or None."""
    count = {"hit": 0.0, "miss": 0.0}
    for _, values in paper.metrics(path):
        for metric, value in values.items():
            count[METRICS[metric]] += value
    return count["hit"] / sum(count.values()) if sum(count.values()) else None


def cached(folder, like):
    """Yields a line for each profile "l2 VARIANT PROBLEM.csv" of `folder`."""
    for (variant, problem), path in paper.profiles(folder, "l2"):
        rate = hit_rate(path)
        if rate is not None:
            yield {"problem": problem, "variant": variant, "l2_hit": rate, **like}


# ---- tables ----------------------------------------------------------------------------------

def ratio(line, who="esc_dup"):
    """Returns cuSPARSE's time over ours, or None."""
    seconds = line["seconds"]
    return seconds["cusparse"] / seconds[who] if {"cusparse", who} <= seconds.keys() else None


def matrices(lines):
    """Returns {matrix of the paper: its lines}; a problem that stands for none is its own."""
    groups = {}
    for line in lines:
        name = line["problem"] if line["for"] == "-" else line["for"]
        groups.setdefault(name, []).append(line)
    return groups


def times_table(lines):
    rows = []
    for line in lines:
        seconds = line["seconds"]
        shown = [ms(seconds[who]) if who in seconds else "-" for who in [*OURS, "cusparse"]]
        gflops = (number(2e-9 * line["products"] / seconds["esc_dup"])
                  if "esc_dup" in seconds else "-")
        rows.append([line["for"], line["problem"], *shown, gflops, number(ratio(line)),
                     number(ratio(line, "hash"))])
    return ("Milliseconds of A*A from host arrays to host arrays, and cuSPARSE's time over ours "
            "(the paper's Table 4.2, Figs. 4.1 and 4.2):\n\n"
            + table(["paper's matrix", "problem", *OURS, "cuSPARSE", "GFLOP/s of esc_dup",
                     "cuSPARSE / esc_dup", "cuSPARSE / hash"], rows))


def means_table(lines):
    groups = matrices(lines)
    paper_own = {name: group for name, group in groups.items() if group[0]["for"] != "-"}
    large = {name: group for name, group in paper_own.items() if group[0]["rows"] >= LARGE
             or group[-1]["rows"] >= LARGE}

    def row(said, chosen):
        cells = [said, str(len(chosen))]
        for who in OURS:
            known = [[r for line in group if (r := ratio(line, who))] for group in chosen.values()]
            cells.append(number(mean([mean(ratios) for ratios in known if ratios])))
        return cells
    return ("Geometric means of cuSPARSE's time over ours:\n\n"
            + table(["matrices", "number", *OURS],
                    [row("the paper's, of 100 000 rows or more", large),
                     row("the paper's", paper_own), row("all, with cage10 and sherman3", groups)]))


def l2_table(lines):
    rates = {}
    for line in lines:
        rates.setdefault(line["problem"], {})[line["variant"]] = line["l2_hit"]
    rows = [[problem, *(percent(cell[who]) if who in cell else "-" for who in ("esc_dup", "esc"))]
            for problem, cell in rates.items()]
    return ("Share of accesses to the L2 cache that hit, over all kernels (the paper's Fig. 4.3, "
            "with `esc` in place of CUSP):\n\n" + table(["problem", "esc_dup", "esc"], rows))


def tables(lines):
    timed = [line for line in lines if "seconds" in line]
    profiled = [line for line in lines if "l2_hit" in line]
    parts = [means_table(timed), times_table(timed)] if timed else []
    parts += [l2_table(profiled)] if profiled else []
    return paper.setting(timed + profiled) + "\n".join(parts) if parts else ""


def figures(lines):
    """Yields the timeline of the trace."""
    events = [line for line in lines if line.get("mode") == TRACE]
    yield "hyspmm.svg", (timeline.picture(events) if events
                         else sheet(timeline.WIDTH, 60, text(16, 36, "no trace")))


if __name__ == "__main__":
    paper.main(sys.modules[__name__])
