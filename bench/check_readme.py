#!/usr/bin/env python3
"""bench/check_readme.py [--root DIR] [--write [FILE.jsonl...]] - checks figures of documents.
   bench/check_readme.py --show FILE.jsonl...

README.md, docs/performance.md, docs/figures.md, docs/papers.md and the pictures docs/*.svg have
blocks, each between

    <!-- figures KIND: FILE.jsonl FILE.jsonl... -->
    <!-- end of figures -->

FILEs are in bench/results. The script makes each block from their lines and fails if the document
has another text. If several lines measure the same thing, the last counts. --write writes the
blocks into the documents. Names of files then replace the files of a block that hold the same
parts (see parts_of). A block without files takes those that hold lines of its kind. The script also fails if a row or a column of a table has nothing but "-",
because lines are missing, and if README.md has a time, a rate or a ratio outside of blocks.
--show prints the blocks of some files.
"""
import argparse
import functools
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "lib"), os.path.join(HERE, "papers")]
import choi
import cutespmm
import hyspmm
import judge
import merge
import oversized
import picture
import real_table
import speed
import tiled
from compared import (CONDITIONS, CORE, CPU, GPU, KINDS, columns_of, end_to_end, geometric_mean,
                      in_core, ratios_of, seconds)
from summary import PEER_NAMES, ms, read

DOCUMENTS = ["README.md", "docs/performance.md", "docs/figures.md", "docs/papers.md",
             "docs/speed.svg", "docs/oversized.svg", "docs/papers-hyspmm.svg",
             "docs/papers-merge-length.svg", "docs/papers-merge-real.svg",
             "docs/papers-cutespmm.svg", "docs/papers-tiled.svg",
             "docs/papers-tiled-cusparse.svg", "docs/papers-choi.svg"]
FIGURE = re.compile(r"\d(?:[.,]\d+)? ?(?:[nu]?s|ms|[KMGT]B/s|GFLOP/s|%|times|x)(?!\w)")
BLOCK = re.compile(r"<!-- figures ([\w-]+): (.*?) -->\n(.*?)<!-- end of figures -->", re.S)


# ---- text ----------------------------------------------------------------------------------

def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def table_of(head, rows):
    return row(head) + "|" + " --- |" * len(head) + "\n" + "".join(row(r) for r in rows)


def number(value):
    """Returns a number with three digits, or "-"."""
    if value is None:
        return "-"
    return ms(float(f"{value:.3g}"))


def versions(lines):
    """Returns each name once, in the order of the lines."""
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


def peers_block(lines):
    """Returns a table with one row for each product and program."""
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


def core_summary_block(lines):
    """Returns a table of all products in both types, with the matrices on which ours is slower."""
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
    """Returns an item for each product: the geometric means in f32 and in f64."""
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


def core_vector_block(lines):
    days = ", ".join(sorted({line["date"][:10] for line in lines}))
    return short_items(lines).replace(":", f" ({days}):")


def speed_block(lines):
    return speed.setting(lines) + table_of(speed.HEAD, [speed.cells(row) for row in speed.rows(lines)])


def figure_of(module, name):
    """Returns a function that draws a figure of a paper."""
    return lambda lines: dict(module.figures(lines))[name]


BLOCKS = {"speed": speed_block, "picture": picture.picture,
          "real": real_table.items, "peers": peers_block, "core": core_block,
          "core-summary": core_summary_block, "core-vector": core_vector_block,
          "oversized": oversized.tables, "oversized-figure": oversized.drawn,
          "hyspmm": hyspmm.tables, "hyspmm-pipeline": figure_of(hyspmm, "hyspmm.svg"), "merge": merge.tables,
          "merge-length": figure_of(merge, "merge-length.svg"),
          "merge-real": figure_of(merge, "merge-real.svg"), "cutespmm": cutespmm.tables,
          "cutespmm-figure": figure_of(cutespmm, "cutespmm.svg"), "tiled": tiled.tables,
          "tiled-figure": figure_of(tiled, "tiled.svg"),
          "tiled-cusparse": figure_of(tiled, "tiled-cusparse.svg"), "choi": choi.tables,
          "choi-figure": choi.picture, "models": judge.tables}
MODES = {"speed": ["end", "core", "real", "device"],
         "picture": ["end", "core", "real", "device"],
         "real": ["real"], "peers": ["end"], "core": ["core"], "core-summary": ["core"],
         "core-vector": ["core"], "oversized": ["oversized"],
         "oversized-figure": ["oversized"], "hyspmm": ["paper-hyspmm"], "hyspmm-pipeline": ["paper-hyspmm-trace"],
         "merge": ["paper-merge"], "merge-length": ["paper-merge"],
         "merge-real": ["paper-merge"], "cutespmm": ["paper-cutespmm"],
         "cutespmm-figure": ["paper-cutespmm"], "tiled": ["paper-tiled"],
         "tiled-figure": ["paper-tiled"], "tiled-cusparse": ["paper-tiled"],
         "choi": ["paper-choi"], "choi-figure": ["paper-choi"], "models": ["models", "constants"]}


def lines_for(kind, lines):
    """Returns the lines that a block of this kind is made from. Calls beside a neighbour have a
    row of their own in the table of speed and its picture, and count nowhere else."""
    vector = kind == "core-vector"
    return [line for line in lines if line["mode"] in MODES[kind]
            and (line.get("op") == "spmv") == vector
            and (not line.get("neighbour") or kind in ("speed", "picture"))]


# ---- documents -----------------------------------------------------------------------------

@functools.cache
def lines_in(path):
    """Returns every line of a file, with the name of the file added."""
    return [line | {"file": os.path.basename(path)} for line in read([path])]


def lines_of(paths):
    return [line for path in paths for line in lines_in(path)]


def parts_of(kind, results, name):
    """Returns the parts of a block of this kind that a file has. A part is a program with host
    arrays, operands on the GPU, or real matrices on a machine with or without a GPU, alone or
    beside a neighbour."""
    lines = lines_for(kind, lines_in(os.path.join(results, name)))
    backend = speed.machine(lines)
    detail = {"end": lambda line: line["peer"], "real": lambda line: (backend, bool(line.get("neighbour")))}
    return {(line["mode"], detail.get(line["mode"], lambda line: None)(line)) for line in lines}


def names_for(kind, results, old, names):
    """Returns the files of a block after `names` have replaced those with the same parts."""
    had = {name: parts_of(kind, results, name) for name in old}
    found = {name: parts_of(kind, results, name) for name in names}
    parts = set().union(*(had or found).values())
    new = {name: found[name] & parts for name in names}
    replaced = set().union(*new.values())
    return [name for name in old if not had[name] & replaced] + [n for n in names if new[n]]


def refreshed(text, results, names):
    """Returns the document with new blocks, and the number of blocks."""
    def block(match):
        files = names_for(match[1], results, match[2].split(), names)
        lines = lines_of([os.path.join(results, name) for name in files])
        return (f"<!-- figures {match[1]}: {' '.join(files)} -->\n"
                f"{BLOCKS[match[1]](lines_for(match[1], lines))}<!-- end of figures -->")
    return BLOCK.subn(block, text)


def empty_cells(text):
    """Yields (kind of block, name) of all columns and rows that have nothing but "-"."""
    for block in BLOCK.finditer(text):
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in block[3].splitlines() if line.startswith("|")]
        for column in zip(*rows):
            if len(column) > 2 and set(column[2:]) == {"-"}:
                yield block[1], f"column '{column[0]}'"
        for row in rows:
            if set(row[1:]) == {"-"}:
                yield block[1], f"row '{row[0]}'"


def loose_figures(text):
    """Returns figures outside of blocks and of code that look measured."""
    said = re.sub(r"^```.*?^```", "", BLOCK.sub("", text), flags=re.S | re.M)
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
    """Returns whether the blocks are right, or have been written."""
    path = os.path.join(args.root, document)
    names = [os.path.basename(name) for name in args.write or []]
    with open(path, encoding="utf-8") as f:
        old = f.read()
    new, count = refreshed(old, os.path.join(args.root, "bench", "results"), names)
    empty = list(empty_cells(new))
    loose = loose_figures(new) if document == "README.md" else []
    for figure in loose:
        print(f"{path}: '{figure}' is in no block of figures", file=sys.stderr)
    for kind, name in empty:
        print(f"{path}: no line has anything for {name} of the figures {kind}",
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
        lines = lines_of(args.show)
        for kind, made in BLOCKS.items():
            if chosen := lines_for(kind, lines):
                print(f"\n{kind}\n\n{made(chosen)}", end="")
        return
    sys.exit(not all([check(document, args) for document in DOCUMENTS]))


if __name__ == "__main__":
    main()
