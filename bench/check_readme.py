#!/usr/bin/env python3
"""bench/check_readme.py [--root DIR] [--write [FILE.jsonl...]] - figures are those of lines.
   bench/check_readme.py --show FILE.jsonl...

README.md and docs/performance.md have blocks of figures, each between

    <!-- figures KIND: FILE.jsonl FILE.jsonl... -->
    <!-- end of figures -->

FILEs are of bench/results. The script makes each block anew from their lines, where of several
lines about the same thing the last counts, and fails if a block says anything else. --write
puts what it made in place; with names of files, those that have such lines become the
block's. It fails too if a column of a block's table has nothing but "-": lines are missing;
and if README.md has a time, a rate or a ratio before its reference, but outside of blocks.
--show prints the blocks of some files.
"""
import argparse
import functools
import math
import os
import re
import sys

import real_table
from summary import PEER_NAMES, ms, read, usable

DOCUMENTS = ["README.md", "docs/performance.md"]
FIGURE = re.compile(r"\d(?:[.,]\d+)? ?(?:[nu]?s|ms|[KMGT]B/s|GFLOP/s|%|times|x)(?!\w)")
BLOCK = re.compile(r"<!-- figures ([\w-]+): (.*?) -->\n(.*?)<!-- end of figures -->", re.S)
GPU, CPU = "hybrid_spmm, GPU", "hybrid_spmm, CPU"
CONDITIONS = {"first": "cold_s", "freed": "freed_s", "kept": "kept_s"}


# ---- lines ---------------------------------------------------------------------------------

def plain(line):
    """Made as the planner has it, with what belongs to the caller in pageable memory. A peer
    may have X and Y in columns where that is faster."""
    return (usable(line) and line["type"] == "f32"
            and (line["peer"] or line.get("order") != "col") and not line.get("pinned") and not line.get("tf32")
            and not line.get("device_memory") and line.get("pages") != "cold"
            and line.get("split", "default") == "default")


def program(line):
    if line["peer"]:
        return PEER_NAMES[line["peer"]]
    return GPU if line.get("engine", line["backend"]) == "cuda" else CPU


def seconds(line, field):
    """Older lines name the time of calls whose results are freed `seconds`, and time no
    kernels of cuSPARSE's SpGEMM without its allocations."""
    if field in line:
        return line[field]
    if field == "freed_s" or field == "kernels_s" and line["op"] != "spgemm":
        return line["seconds"]
    return None


def last_runs(lines, name):
    """Lines by what name() makes of them; of each the last run of the bench, all of it."""
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
    """The line that is fastest with results freed. Of a peer that has several, as cuSPARSE has
    of its algorithms, each condition is told by the line that is fastest under it."""
    line = fastest(run, "freed_s")
    if not line or not line["peer"]:
        return line
    told = [(field, fastest(run, field)) for field in CONDITIONS.values()]
    return line | {field: by and seconds(by, field) for field, by in told}


def end_to_end(lines):
    """{product and problem: {program: its line}}."""
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


# ---- words ---------------------------------------------------------------------------------

def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def table_of(head, rows):
    return row(head) + "|" + " --- |" * len(head) + "\n" + "".join(row(r) for r in rows)


def number(value):
    """Three digits, as far as they were measured."""
    if value is None:
        return "-"
    return ms(float(f"{value:.3g}"))


def versions(lines):
    """Each name once, in the order of the lines."""
    names = {}
    for line in lines:
        text = line.get("versions") or line.get("driver") or line["variant"]
        names.update((part, None) for part in text.split(", "))
    return ", ".join(name for name in names if not name.startswith(("Python ", "NumPy ")))


def conditions(table):
    lines = [line for row in table.values() for line in row.values()]
    dates = sorted({line["date"][:10] for line in lines})
    devices = sorted({line["device"].split(",")[0] for line in lines}, reverse=True)
    threads = max((row[CPU]["threads"] for row in table.values() if CPU in row), default=0)
    return (f"Medians in ms; {', '.join(dates)}; {', '.join(devices)}, {threads} threads; "
            f"f32, 128 columns of X; pageable arrays, planning and copies included; "
            f"{versions(lines)}.\n\n")


def fastest_block(lines):
    """Ours beside the fastest of all peers, for each of the three conditions."""
    table = {name: row_of for name, row_of in end_to_end(lines).items()
             if set(row_of) - {GPU, CPU}}
    head, rows = ["product"], []
    for condition in CONDITIONS:
        head += [f"{condition}: GPU", "CPU", "peer"]
    for name, row_of in table.items():
        cells = [name]
        for field in CONDITIONS.values():
            peer = fastest([row_of[who] for who in row_of if who not in (GPU, CPU)], field)
            cells += [number(seconds(row_of[who], field)) if who in row_of else "-"
                      for who in (GPU, CPU)]
            cells.append(f"{number(seconds(peer, field))} {program(peer)}" if peer else "-")
        rows.append(cells)
    return conditions(table) + table_of(head, rows)


def peers_block(lines):
    """Everybody, one under the other."""
    table = end_to_end(lines)
    head = ["product", "program", *CONDITIONS, "calls freed, kept"]
    rows = []
    for name, row_of in table.items():
        for who in [GPU, CPU, *PEER_NAMES.values()]:
            if who in row_of:
                line = row_of[who]
                calls = f"{line.get('reps', '-')}, {line.get('kept_reps', '-')}"
                rows.append([name, who, *(number(seconds(line, field))
                                          for field in CONDITIONS.values()), calls])
    return conditions(table) + table_of(head, rows)


# ---- in core -------------------------------------------------------------------------------

CORE = {("spgemm", None): "A*A", ("spmm", 32): "A*X-32", ("spmm", 128): "A*X-128",
        ("spmv", 1): "A*x"}
KINDS = {"kernels_s": "kernels", "new_matrix_s": "new matrix"}


def in_core(lines, kind="f32"):
    """{problem: {(product, field): (ours, cuSPARSE's fastest)}}, None where one failed."""
    table = {}
    chosen = [line for line in lines if line["mode"] == "core" and line["type"] == kind
              and not line.get("tf32") and (line["op"], line.get("cols")) in CORE
              and (line["peer"] or line.get("order") != "col")]
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


def core_cell(pair):
    ours, theirs = pair
    if not ours:
        return "-"
    return number(ours) + (f" ({theirs / ours:.2f})" if theirs else " (fails)")


def core_block(lines):
    table = in_core(lines)
    keys = columns_of(table)
    head = ["matrix"] + [f"{product}: {KINDS[field]}" for product, field in keys]
    rows = [[problem] + [core_cell(cells.get(key, (None, None))) for key in keys]
            for problem, cells in sorted(table.items())]
    return table_of(head, rows)


def ratios_of(table, key):
    """cuSPARSE's time over ours, by matrix."""
    return {problem: cells[key][1] / cells[key][0] for problem, cells in table.items()
            if all(cells.get(key, (None, None)))}


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios.values())) / len(ratios))


def core_summary_block(lines):
    """Each product in both types, and the matrices on which ours is slower."""
    rows = []
    for kind in ("f32", "f64"):
        table = in_core(lines, kind)
        for product, field in columns_of(table):
            ratios = ratios_of(table, (product, field))
            if ratios:
                slow = sorted((ratio, name) for name, ratio in ratios.items() if ratio < 1)
                names = ", ".join(f"{name} {ratio:.2f}" for ratio, name in slow[:6])
                rows.append([product, kind, KINDS[field], f"{geometric_mean(ratios):.2f}",
                             f"{min(ratios.values()):.2f}", str(len(ratios)), str(len(slow)),
                             names + (", ..." if len(slow) > 6 else "")])
    return table_of(["product", "type", "time", "geometric mean", "least", "matrices",
                     "ours is slower on", "at worst"], rows)


def short_items(lines):
    """The same, an item for each product: geometric means in f32 and in f64."""
    tables, texts = {kind: in_core(lines, kind) for kind in ("f32", "f64")}, {}
    for product, field in columns_of(tables["f32"]):
        said = []
        for table in tables.values():
            ratios = ratios_of(table, (product, field))
            slow = sum(ratio < 1 for ratio in ratios.values())
            said.append(f"{geometric_mean(ratios):.2f}" +
                        (f" ({slow}/{len(ratios)})" if slow else "") if ratios else "-")
        if set(said) != {"-"}:
            texts.setdefault(product, []).append(f"{KINDS[field]} {' and '.join(said)}")
    return "".join(f"- {product}: {', '.join(said)}\n" for product, said in texts.items())


def core_short_block(lines):
    """Those items, and the least and the most that planning took in calls for a new matrix."""
    plans = [1e3 * line["plan_s"] for line in lines
             if not line["peer"] and line.get("new_matrix_s") and usable(line)]
    span = f"- planning: {min(plans):.2g} to {max(plans):.2g} ms\n" if plans else ""
    return short_items(lines) + span


def core_vector_block(lines):
    days = ", ".join(sorted({line["date"][:10] for line in lines}))
    return short_items(lines).replace(":", f" ({days}):")


BLOCKS = {"real": real_table.items, "fastest": fastest_block, "peers": peers_block,
          "core": core_block,
          "core-summary": core_summary_block, "core-short": core_short_block,
          "core-vector": core_vector_block}


def lines_for(kind, lines):
    """Those that a block of this kind is made from."""
    mode = "core" if kind.startswith("core") else "real" if kind == "real" else "end"
    vector = kind == "core-vector"
    return [line for line in lines
            if line["mode"] == mode and (line["op"] == "spmv") == vector]


# ---- documents -----------------------------------------------------------------------------

@functools.cache
def lines_of(paths):
    return list(read(paths))


def names_for(kind, results, names):
    """Those that have lines for such a block."""
    return [name for name in names
            if lines_for(kind, lines_of((os.path.join(results, name),)))]


def refreshed(text, results, names):
    """The document with its blocks made anew, and how many blocks there are."""
    def block(match):
        files = names_for(match[1], results, names) or match[2].split()
        lines = lines_of(tuple(os.path.join(results, name) for name in files))
        return (f"<!-- figures {match[1]}: {' '.join(files)} -->\n"
                f"{BLOCKS[match[1]](lines_for(match[1], lines))}<!-- end of figures -->")
    return BLOCK.subn(block, text)


def empty_columns(text):
    """(kind of block, name of column) of all columns that have nothing but "-"."""
    for block in BLOCK.finditer(text):
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in block[3].splitlines() if line.startswith("|")]
        for column in zip(*rows):
            if len(column) > 2 and set(column[2:]) == {"-"}:
                yield block[1], column[0]


def loose_figures(text):
    """What looks measured before the reference, outside of blocks and of code."""
    said = re.sub(r"^```.*?^```", "", BLOCK.sub("", text.split("\n# Reference")[0]),
                  flags=re.S | re.M)
    return [match[0] for match in FIGURE.finditer(said)]


def complain(path, old, new):
    before, after = old.splitlines(), new.splitlines()
    for number_of, (a, b) in enumerate(zip(before, after), 1):
        if a != b:
            print(f"{path}:{number_of}: says\n  {a}\nwhere the lines of bench/results make\n"
                  f"  {b}", file=sys.stderr)
    if len(before) != len(after):
        print(f"{path}: {len(before)} lines, not {len(after)}", file=sys.stderr)


def parse():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.dirname(here))
    parser.add_argument("--write", nargs="*", metavar="FILE.jsonl")
    parser.add_argument("--show", nargs="+", metavar="FILE.jsonl")
    return parser.parse_args()


def check(document, args):
    """Whether the document says what its lines say, or does so now."""
    path = os.path.join(args.root, document)
    names = [os.path.basename(name) for name in args.write or []]
    with open(path, encoding="utf-8") as f:
        old = f.read()
    new, count = refreshed(old, os.path.join(args.root, "bench", "results"), names)
    empty = list(empty_columns(new))
    loose = loose_figures(new) if document == "README.md" else []
    for figure in loose:
        print(f"{path}: '{figure}' is in no block of figures", file=sys.stderr)
    for kind, column in empty:
        print(f"{path}: no line has anything for column '{column}' of the figures {kind}",
              file=sys.stderr)
    if count == 0:
        print(f"{path}: no block of figures", file=sys.stderr)
    elif args.write is not None:
        with open(path, "w", encoding="utf-8") as f:
            f.write(new)
    elif new != old:
        complain(path, old, new)
        return False
    return count > 0 and not empty and not loose


def main():
    args = parse()
    if args.show:
        lines = list(read(args.show))
        for kind, made in BLOCKS.items():
            print(f"\n{kind}\n\n{made(lines_for(kind, lines))}", end="")
        return
    sys.exit(not all([check(document, args) for document in DOCUMENTS]))


if __name__ == "__main__":
    main()
