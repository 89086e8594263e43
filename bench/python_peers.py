#!/usr/bin/env python3
"""bench/python_peers.py - the Python package and its peers, in one process with the same arrays.

    PYTHONPATH=python/src bench/python_peers.py FILE|FOLDER... [--json FILE.jsonl]

Three parts, each of which --parts can select:

products  A*A (A times its transpose if A is not square), A*x, and A*X with 8 and 64 columns, of
          every .mtx and .mtx.xz file. Programs with host arrays: hybrid_spmm, SciPy, PyTorch on the
          CPU, oneMKL (sparse_dot_mkl), and CuPy and PyTorch on the GPU with their copies. Programs
          with arrays on the GPU: CuPy, PyTorch, and hybrid_spmm on the arrays of both.
layer     what the package adds to the functions of the C library, per call (python_layer.py).
solvers   eigsh() and svds() of a 27-point stencil that stays resident (python_solvers.py).

A program that is not installed, or has no GPU, is named and left out. The results of all programs
are compared before any is timed. Each product has a first call and later calls under two conditions:
quiet, when no thread of the process computes, and neighbour, right after PyTorch has computed on
all cores, while its OpenMP threads still spin.
"""
import argparse
import contextlib
import datetime
import json
import os
import subprocess
import sys
import time

os.environ.setdefault("KMP_BLOCKTIME", "1")  # ms; oneMKL's threads would spin for 200

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import peers
import real_peers
from python_layer import LAYER_HEAD, layer_lines, layer_text
from python_programs import PROGRAMS, on_host, usable
from python_solvers import solver_lines, solver_text
from real import (COLUMNS, PEER_ROOM, TURN_CALLS, TURN_S, TYPES, available_bytes, files,
                  fresh_pages, rest, spread, torch_neighbour)
from real_check import bounds, compare, same_rows
from real_table import mean, natural, product_of, text

CONDITIONS = ("quiet", "neighbour")
SPARSE_RATE, DENSE_RATE = 1e8, 1e9  # products per second of a slow program on the CPU
ROUNDS = 7


# ---- one product -----------------------------------------------------------------------------

class Contender:
    """A program and a product, with its times by condition."""

    def __init__(self, program):
        self.program, self.call = program, None
        self.error = self.verified = None
        self.first, self.spent = {}, None
        self.times = {condition: [] for condition in CONDITIONS}

    def expected(self, p):
        """Return the seconds that one call will take, roughly."""
        if self.spent is not None:
            return self.spent
        if self.program.backend == "cuda":
            return 0
        return p.products() / (SPARSE_RATE if p.cols is None else DENSE_RATE)

    def begin(self, p, condition, before):
        """Bind operands anew, and time the first call with them; return its result."""
        self.call = self.program.bind(p)
        rest()
        before()
        start = time.perf_counter()
        result = self.call()
        self.first[condition] = self.spent = time.perf_counter() - start
        return result

    def turn(self, condition, before):
        """Time one call, or several short ones after one that is not timed."""
        rest()
        calls = 1
        if self.spent < TURN_S:
            self.call()
            calls = max(1, min(TURN_CALLS, int(TURN_S / self.spent)))
        for _ in range(calls):
            before()
            start = time.perf_counter()
            result = self.call()
            self.spent = time.perf_counter() - start
            self.times[condition].append(self.spent)
            del result


class Reference:
    """The result of the first program that has one. Other results must agree with it."""

    def __init__(self, p):
        self.p, self.result = p, None
        second = p.second or p.first()
        self.columns = second[3][1]
        self.bound = bounds(p, sp.csr_matrix(p.first()[:3], shape=p.shape))

    def check(self, c, result):
        """Note whether a result agrees, within twice what rounding may change."""
        found = on_host(result)
        if self.result is None:
            self.result = found
            return
        try:
            self.agree(found)
            c.verified = True
        except ArithmeticError as error:
            c.error, c.verified = f"wrong: {error}", False

    def agree(self, found):
        p, bound = self.p, 2 * self.bound
        if p.cols is not None:
            compare(found, self.result, bound if p.cols == 1 else bound[:, None])
            return
        row_ptr, col, val = self.result
        theirs = sp.csr_matrix((val, col, row_ptr), shape=(p.shape[0], self.columns))
        same_rows(found, theirs, bound)


def nbytes(result):
    parts = on_host(result)
    return parts.nbytes if isinstance(parts, np.ndarray) else sum(part.nbytes for part in parts)


def first_calls(p, contenders, condition, before, until, reference):
    """Time first calls. Those of the first condition are compared with the reference."""
    room = 0
    for c in contenders:
        if c.error:
            continue
        if time.perf_counter() + c.expected(p) > until:
            c.error = "left out: no time"
        elif c.program.backend == "host" and room > available_bytes():
            c.error = f"left out: {room / 1e9:.1f} GB of memory are not free"
        else:
            try:
                result = c.begin(p, condition, before)
                if reference:
                    room = max(room, PEER_ROOM * nbytes(result))
                    reference.check(c, result)
                del result
            except Exception as error:  # a failure is a result
                c.error = f"{type(error).__name__}: {error}".splitlines()[0][:400]


def measure(p, programs, neighbour, until):
    """Return a contender for each program. All take turns, and the first one changes each turn."""
    contenders, reference = [Contender(program) for program in programs], Reference(p)
    befores = [("quiet", lambda: None)] + ([("neighbour", neighbour)] if neighbour else [])
    for number, (condition, before) in enumerate(befores):
        share = time.perf_counter() + (until - time.perf_counter()) / (len(befores) - number)
        fresh_pages()
        first_calls(p, contenders, condition, before, until, reference)
        reference = None
        running = [c for c in contenders if not c.error]
        for turn in range(ROUNDS):
            first = turn % max(len(running), 1)
            for c in running[first:] + running[:first]:
                if time.perf_counter() + c.spent < share:
                    c.turn(condition, before)
    for c in contenders:
        c.call = None
        c.program.forget()
    return contenders


def line_of(c, p, kind):
    line = {"mode": "python", "problem": p.name, "op": "spgemm" if p.cols is None else "spmm",
            "cols": p.cols, "type": kind, "rows": p.shape[0], "columns": p.shape[1], "nnz": p.nnz,
            "products": p.products(), "peer": c.program.name, "arrays": c.program.arrays,
            "backend": c.program.backend, "version": c.program.version,
            "device": c.program.device, "threads": c.program.threads,
            "verified": c.verified, "error": c.error}
    for condition in CONDITIONS:
        line[f"{condition}_first_s"] = c.first.get(condition)
        line.update(spread(condition, [] if c.error else c.times[condition]))
    return line


def product_lines(args, programs):
    """Yield the lines of all matrices, types and products."""
    neighbour = torch_neighbour() if any(p.name == "torch-cpu" for p in programs) else None
    if not neighbour:
        print("No PyTorch: there is no neighbour that spins", file=sys.stderr)
    for path in files(args.paths):
        p = real_peers.Problem(path)
        parts = [(kind, product) for kind in args.types for product in COLUMNS]
        end = time.perf_counter() + args.seconds
        for number, (kind, product) in enumerate(parts):
            p.take(TYPES[kind], COLUMNS[product])
            left = (end - time.perf_counter()) / (len(parts) - number)
            done = measure(p, programs, neighbour, time.perf_counter() + left)
            yield from (line_of(c, p, kind) for c in done)


# ---- tables ----------------------------------------------------------------------------------

def who(line):
    return line["peer"] or "hybrid_spmm"


def product_text(line):
    """Return a line as text: milliseconds of first and later calls, by condition."""
    head = f"{line['problem']} {product_of(line)} {line['type']} {who(line)} ({line['arrays']}): "
    if line["error"]:
        return head + line["error"]
    return head + "; ".join(f"{condition} {ms(line.get(condition + '_first_s'))}, "
                            f"{ms(line.get(condition + '_s'))} ms" for condition in CONDITIONS)


def ms(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.4g}"


def ratios(lines, field):
    """Return {(product, type, arrays): {peer: geometric mean of its time over ours}}."""
    seconds = {}
    for line in lines:
        if line.get(field) and not line["error"]:
            key = product_of(line), line["type"], line["arrays"]
            seconds.setdefault(key, {}).setdefault(line["problem"], {})[line["peer"]] = line[field]
    found = {}
    for key, problems in seconds.items():
        rows = [row for row in problems.values() if None in row]
        for peer in sorted({peer for row in rows for peer in row if peer}):
            both = [row[peer] / row[None] for row in rows if peer in row]
            found.setdefault(key, {})[peer] = mean(both), len(both)
    return found


def product_table(lines):
    """Return a table in Markdown with the time of each peer over ours."""
    names = sorted({line["peer"] for line in lines if line["peer"]})
    head = ["product", "type", "arrays", "calls", *names]
    rows = [head, ["---"] * len(head)]
    for field, calls in [(f"{c}{which}", f"{c}, {said}") for c in CONDITIONS
                         for which, said in (("_first_s", "first"), ("_s", "later"))]:
        for key, peer in sorted(ratios(lines, field).items(), key=lambda item: natural(item[0][0])):
            cells = [f"{text(peer[n][0])} ({peer[n][1]})" if n in peer else "-" for n in names]
            rows.append([*key, calls, *cells])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


# ---- program ---------------------------------------------------------------------------------

def commit():
    """Return the commit of the tree that this file is in, or None without git."""
    here = os.path.dirname(os.path.abspath(__file__))
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        return subprocess.check_output(["git", "-C", here, "rev-parse", "--short", "HEAD"],
                                       stderr=subprocess.DEVNULL, text=True).strip()
    return None


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    known = sorted({program.name for program in PROGRAMS if program.name})
    parser.add_argument("paths", nargs="*", metavar="FILE|FOLDER")
    parser.add_argument("--json", help="append lines of JSON to this file")
    parser.add_argument("--parts", default="layer,solvers,products")
    parser.add_argument("--matrices", help="only files with these names, separated by commas")
    parser.add_argument("--types", default="f64", help="f32,f64")
    parser.add_argument("--peers", default=",".join(known), help="of: " + ",".join(known))
    parser.add_argument("--seconds", type=float, default=20,
                        help="for each matrix, the stencil of the solvers included")
    parser.add_argument("--stencil", type=int, default=32,
                        help="points on the shortest side of the stencil")
    parser.add_argument("--commit", default=commit())
    args = parser.parse_args()
    args.types, args.peers, args.parts = (given.split(",") for given in
                                          (args.types, args.peers, args.parts))
    for names, all_names in ((args.types, TYPES), (args.peers, known),
                             (args.parts, ("layer", "solvers", "products"))):
        for name in names:
            if name not in all_names:
                parser.error(f"{name!r} is not one of {', '.join(all_names)}")
    args.paths = chosen(parser, args)
    return args


def chosen(parser, args):
    """Return the files that --matrices selects."""
    found = {os.path.basename(path).split(".mtx")[0]: path for path in files(args.paths)}
    names = args.matrices.split(",") if args.matrices else list(found)
    for name in names:
        if name not in found:
            parser.error(f"there is no file {name}.mtx or {name}.mtx.xz")
    if "products" in args.parts and not names:
        parser.error("the products need files with matrices")
    return [found[name] for name in names]


def parts(args, programs):
    """Return {part: (its lines, function that formats a line)}."""
    found = {"layer": lambda: (layer_lines(programs), layer_text),
             "solvers": lambda: (solver_lines(programs, args.stencil, args.seconds), solver_text),
             "products": lambda: (product_lines(args, programs), product_text)}
    return [found[part]() for part in found if part in args.parts]


def main():
    args = parse()
    programs = list(usable(args.peers))
    now = datetime.datetime.now(datetime.timezone.utc)
    every = {"machine": f"{peers.cpu_name()}, {len(os.sched_getaffinity(0))} cores",
             "load": os.getloadavg()[0],
             "date": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": args.commit}
    out = open(args.json, "a", encoding="utf-8") if args.json else None
    lines = []
    for found, said in parts(args, programs):
        if said is layer_text:
            print(LAYER_HEAD)
        for line in found:
            lines.append(line | every)
            print(said(line), flush=True)
            if out:
                print(json.dumps(line | every), file=out, flush=True)
    if "products" in args.parts:
        print("\nTime of a peer / time of hybrid_spmm (matrices):\n")
        print(product_table([line for line in lines if line["mode"] == "python"]))
    sys.exit(any(not line.get("peer") and line.get("error") for line in lines))


if __name__ == "__main__":
    main()
