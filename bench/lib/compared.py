#!/usr/bin/env python3
"""bench/lib/compared.py - chooses the lines of bench/results that are compared with each other.

A module of check_readme.py and speed.py. If several lines measure the same thing, the last counts.
"""
import math

from summary import PEER_NAMES, usable

GPU, CPU = "hybrid_spmm, GPU", "hybrid_spmm, CPU"
CONDITIONS = {"first": "cold_s", "freed": "freed_s", "kept": "kept_s"}


# ---- whole calls ---------------------------------------------------------------------------

def plain(line):
    """Returns whether a line has the planner's choices, pageable operands, and row-major X and Y,
    in which all programs are compared."""
    return (usable(line) and line["type"] == "f32"
            and line.get("order") != "col" and not line.get("pinned") and not line.get("tf32")
            and not line.get("device_memory") and line.get("pages") != "cold"
            and line.get("split", "default") == "default")


def program(line):
    if line["peer"]:
        return PEER_NAMES[line["peer"]]
    return GPU if line.get("engine", line["backend"]) == "cuda" else CPU


def seconds(line, field):
    """Returns a time of a line, or None. Older lines have the time of calls whose results are freed
    in `seconds`, and no time of cuSPARSE's SpGEMM kernels without its allocations."""
    if field in line:
        return line[field]
    if field == "freed_s" or field == "kernels_s" and line["op"] != "spgemm":
        return line["seconds"]
    return None


def last_runs(lines, name):
    """Groups lines by name(line), and returns for each name all lines of the last run."""
    found = {}
    for line in lines:
        key = name(line)
        if key not in found or found[key][0]["date"] != line["date"]:
            found[key] = []
        found[key].append(line)
    return found


def fastest(lines, field):
    timed = [line for line in lines if seconds(line, field)]
    return min(timed, key=lambda line: seconds(line, field)) if timed else None


def best(run):
    """Returns the line that is fastest with results freed. A peer may have several lines, such as
    cuSPARSE's algorithms; then each condition has the time of its fastest line."""
    line = fastest(run, "freed_s")
    if not line or not line["peer"]:
        return line
    told = [(field, fastest(run, field)) for field in CONDITIONS.values()]
    return line | {field: by and seconds(by, field) for field, by in told}


def end_to_end(lines):
    """Returns {product and problem: {program: its line}}."""
    chosen = [line for line in lines if line["mode"] == "end" and plain(line)
              and not line.get("resident") and line.get("cols") in (None, 128)]
    cores = max((line["threads"] for line in chosen if program(line) == CPU), default=0)
    chosen = [line for line in chosen if program(line) != CPU or line["threads"] == cores]
    table = {}
    runs = last_runs(chosen, lambda line: (line["op"], line["problem"], program(line)))
    for (op, problem, who), run in sorted(runs.items(), key=lambda item: item[0][0]):
        name = f"{'A*A' if op == 'spgemm' else 'A*X'} {problem}"
        table.setdefault(name, {})[who] = best(run)
    return table


# ---- in core -------------------------------------------------------------------------------

CORE = {("spgemm", None): "A*A", ("spmm", 32): "A*X-32", ("spmm", 128): "A*X-128",
        ("spmv", 1): "A*x"}
KINDS = {"kernels_s": "kernels", "new_matrix_s": "new matrix"}


def in_core(lines, kind="f32"):
    """Returns {problem: {(product, field): (ours, cuSPARSE's fastest)}}, with None for a failure."""
    table = {}
    chosen = [line for line in lines if line["mode"] == "core" and line["type"] == kind
              and not line.get("tf32") and (line["op"], line.get("cols")) in CORE
              and line.get("order") != "col"]
    name = lambda line: (line["problem"], line["op"], line.get("cols"),
                         bool(line.get("reuse")), line["peer"])
    runs = last_runs(chosen, name)
    for (problem, op, cols, reuse, peer), run in runs.items():
        if peer:
            continue
        theirs = runs.get((problem, op, cols, reuse, "cusparse"), [])
        for field in ["kernels_s"] if reuse else KINDS:
            pair = [fastest([line for line in side if usable(line)], field)
                    for side in (run, theirs)]
            times = tuple(line and seconds(line, field) for line in pair)
            key = ("A*A again" if reuse else CORE[op, cols], field)
            table.setdefault(problem, {})[key] = times
    return table


def columns_of(table):
    keys = [(product, field) for product in CORE.values() for field in KINDS]
    keys.insert(2, ("A*A again", "kernels_s"))
    return [key for key in keys if any(key in cells for cells in table.values())]


def ratios_of(table, key):
    """Returns cuSPARSE's time over ours, by matrix."""
    return {problem: cells[key][1] / cells[key][0] for problem, cells in table.items()
            if all(cells.get(key, (None, None)))}


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios.values())) / len(ratios))
