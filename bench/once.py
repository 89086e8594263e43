#!/usr/bin/env python3
"""bench/once.py - each real matrix multiplied once, by ours and its peers, in one process.

    bench/once.py LIBRARY FILE|FOLDER... [--json FILE.jsonl]

For each .mtx or .mtx.xz file, every program computes C = A*A (A*A^T if A is not square) once in each
round, with arrays that were copied for this call and that no program has seen. Who begins changes from
round to round. Results are freed before the next call. The time of a program is the median of its
rounds. Before the first round, a tiny product loads the libraries and starts the threads of each
program, so that no time contains the start of a program.

Programs: ours, SciPy, oneMKL through sparse_dot_mkl with its default threads, and PyTorch on the CPU.
SciPy, oneMKL and PyTorch return rows whose columns are not sorted, ours returns sorted rows. Each peer
is timed twice: as it is, and with the sort that its own interface offers ("mkl-sorted",
"scipy-sorted").

--pages fresh (default): what malloc and the engine keep goes back to the system before each call.
--pages used: malloc and the engine keep what they keep by default, from matrix to matrix.
--patience S: a call begins when no other thread of the machine computes, and is repeated if another
computes when the call has ended, for up to S seconds. "busy_calls" counts calls beside others.
"""
import argparse
import collections
import datetime
import json
import math
import os
import resource
import statistics
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import library
import peers
import real_peers
from real import COLUMNS, REST_S, TYPES, available_bytes, files, fresh_pages, rest
from real_check import LARGE, ascend, csr_arrays, same_product

ROOM = 4  # results of one call for which memory has to be free


# ---- programs --------------------------------------------------------------------------------

class SciPySorted(real_peers.SciPy):
    name = "scipy-sorted"

    def product(self, A, B):
        def call():
            C = A @ B
            C.sort_indices()
            return C
        return call


class MKLSorted(real_peers.MKL):
    name = "mkl-sorted"

    def product(self, A, B):
        return lambda: self.dot(A, B, reorder_output=True)


PEERS = {peer.name: peer for peer in (real_peers.SciPy, SciPySorted, real_peers.MKL, MKLSorted,
                                      real_peers.TorchCPU)}


class Other(real_peers.Ours):
    """Another build of the library."""
    name = "other"


def present(args):
    """Return ours, SciPy, each other peer that is installed, and another build."""
    found = [real_peers.Ours(args.engine, library.Library(args.library), args)]
    found += real_peers.installed(args.peers, PEERS)
    if args.other:
        found.append(Other(args.engine, library.Library(args.other), args))
    return found


# ---- one call --------------------------------------------------------------------------------

class Fresh:
    """The operands of a problem in arrays of their own."""

    def __init__(self, p):
        copy = lambda arrays: (*(np.array(array) for array in arrays[:3]), arrays[3])
        self.own, self.shape, self.cols, self.dtype = copy(p.first()), p.shape, None, p.dtype
        self.second = copy(p.second) if p.second else None

    def first(self):
        return self.own


def once(who, p, args):
    """Time one call with fresh operands; return its seconds by the wall clock and of all cores, its
    minor page faults, and its result."""
    call = who.bind(operands := Fresh(p))
    if args.pages == "fresh":
        who.forget()
        fresh_pages()
    rest()
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    cores, start = time.process_time(), time.perf_counter()
    result = call()
    spent, cores = time.perf_counter() - start, time.process_time() - cores
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    del call, operands
    return spent, cores, faults, result


def others():
    """Return how many threads of the machine are running or could be, besides this one."""
    with open("/proc/loadavg", encoding="utf-8") as f:
        return int(f.read().split()[3].split("/")[0]) - 1


def wait_for_quiet(end):
    """Wait until no other thread computes, but not beyond `end`."""
    while others() > 0 and time.perf_counter() < end:
        time.sleep(REST_S)


class Contender:
    def __init__(self, who):
        self.who, self.times, self.cores, self.faults, self.plans = who, [], [], [], []
        self.sorted = self.error = None
        self.busy = 0

    def turn(self, p, args):
        """Call once, or until a call had the machine to itself; return the result."""
        end = time.perf_counter() + args.patience
        while True:
            wait_for_quiet(end)
            spent, cores, faults, result = once(self.who, p, args)
            rest()
            busy = others() > 0
            if not busy or time.perf_counter() > end:
                break
            del result
        self.busy += busy
        self.times.append(spent)
        self.cores.append(cores)
        self.faults.append(faults)
        self.plans.append(self.who.later().get("plan_s"))
        return result

    def line(self, p, args):
        line = {"problem": p.name, "op": "spgemm", "type": args.type, "mode": "once",
                "pages": args.pages, "peer": self.who.name, "version": self.who.version,
                "device": self.who.device, "threads": self.who.threads, "rows": p.shape[0],
                "columns": p.shape[1], "nnz": p.nnz, "products": p.products(),
                "sorted": self.sorted, "error": self.error, "date": args.date,
                "commit": args.commit, "load": args.load, "calls": len(self.times),
                "busy_calls": self.busy}
        if self.times:
            line.update(once_s=statistics.median(self.times), once_min_s=min(self.times),
                        once_max_s=max(self.times), cpu_s=statistics.median(self.cores),
                        page_faults=statistics.median(self.faults))
        if self.plans and self.plans[0] is not None:
            line["plan_s"] = statistics.median(self.plans)
        return line


# ---- one matrix ------------------------------------------------------------------------------

def check(c, p, result, reference, scipy_peer):
    """Compare ours with SciPy's result entry by entry, and the number of entries of the others but
    SciPy, which stores no sum that is 0."""
    row_ptr, col, _ = csr_arrays(result)
    c.sorted = ascend(row_ptr, col)
    try:
        if c.who.name is None:
            same_product(p, result, reference, scipy_peer)
        elif int(row_ptr[-1]) != reference and not isinstance(c.who, real_peers.SciPy):
            raise ArithmeticError(f"{int(row_ptr[-1])} entries, not {reference}")
    except ArithmeticError as error:
        c.error = f"wrong: {error}"


def verify(contenders, p, args, scipy_peer):
    """Compute once by each program, and compare the results; those times count for nothing."""
    entries, A = None, scipy_peer.csr(*p.first())
    for c in contenders:
        result = once(c.who, p, args)[-1]
        if entries is None:
            entries = int(csr_arrays(result)[0][-1])
            check(c, p, result, A @ (scipy_peer.csr(*p.second) if p.second else A), scipy_peer)
            if entries * 16 * ROOM > available_bytes():
                raise MemoryError("too little memory is free")
        else:
            check(c, p, result, entries, scipy_peer)
        del result


def measure(p, everybody, args):
    contenders = [Contender(who) for who in everybody]
    verify(contenders, p, args, everybody[1])
    running = [c for c in contenders if not c.error]
    for turn in range(args.rounds):
        at = turn % len(running)
        for c in running[at:] + running[:at]:
            result = c.turn(p, args)
            del result
    return contenders


# ---- tables ----------------------------------------------------------------------------------

def mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def summary(lines, key):
    """Print the geometric means of each peer's time over ours."""
    times = collections.defaultdict(dict)
    for line in lines:
        if line.get(key) and not line["error"]:
            times[line["type"], line["problem"]][line["peer"]] = line[key]
    for type_ in sorted({key[0] for key in times}):
        products = [t for key, t in times.items() if key[0] == type_ and None in t]
        names = sorted({name for t in products for name in t if name})
        groups = {name: [name] for name in names}
        names = [name for name in names if name != Other.name]
        groups["fastest"] = names
        groups["fastest sorted"] = [name for name in names if name.endswith("-sorted")]
        for title, group in groups.items():
            ratios = [min(t[n] for n in group if n in t) / t[None]
                      for t in products if any(n in t for n in group)]
            if not ratios:
                continue
            print(f"{type_} {title:15s} {mean(ratios):6.3f} of {len(ratios)}, least {min(ratios):.3f},"
                  f" slower on {sum(r < 1 for r in ratios)}")


def show(lines):
    ours = lines[0]["once_s"] if lines[0].get("once_s") else None
    print(f"{lines[0]['problem']:16s} {lines[0]['type']} ", ", ".join(
        f"{l['peer'] or 'ours'} {l['error'] or '%.4g ms' % (l['once_s'] * 1e3)}"
        + (f" ({l['once_s'] / ours:.2f})" if ours and l["peer"] and not l["error"] else "")
        for l in lines), flush=True)


# ---- program ---------------------------------------------------------------------------------

def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libhybrid_spmm.so")
    parser.add_argument("paths", nargs="+", metavar="FILE|FOLDER")
    parser.add_argument("--json", help="append lines of JSON")
    parser.add_argument("--types", default="f32,f64")
    parser.add_argument("--peers", default=",".join(PEERS), help="of: " + ",".join(PEERS))
    parser.add_argument("--engine", default="auto", choices=("auto", "host", "cuda"))
    parser.add_argument("--other", metavar="LIBRARY", help="another build, timed as a peer is")
    parser.add_argument("--threads", type=int, default=0, help="of ours; 0: it chooses")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pages", default="fresh", choices=("fresh", "used"))
    parser.add_argument("--patience", type=float, default=0, metavar="S")
    parser.add_argument("--most", type=float, default=LARGE, help="products; larger matrices are left out")
    parser.add_argument("--commit")
    args = parser.parse_args()
    now = datetime.datetime.now(datetime.timezone.utc)
    args.date, args.load = now.strftime("%Y-%m-%dT%H:%M:%SZ"), round(os.getloadavg()[0], 2)
    return args


def main():
    args = parse()
    everybody, lines, wrong = present(args), [], 0
    for who in everybody:
        for dtype in TYPES.values():
            (tiny := peers.tiny(dtype)).cols, tiny.dtype = None, np.dtype(dtype)
            who.bind(tiny)()
    for path in files(args.paths):
        p = real_peers.Problem(path)
        for args.type in args.types.split(","):
            p.take(TYPES[args.type], COLUMNS["spgemm"])
            if p.products() > args.most:
                print(f"{p.name} left out: {p.products():.2e} products", file=sys.stderr)
                continue
            done = [c.line(p, args) for c in measure(p, everybody, args)]
            lines += done
            wrong += bool(done[0]["error"])
            show(done)
            if args.json:
                with open(args.json, "a", encoding="utf-8") as out:
                    out.writelines(json.dumps(line) + "\n" for line in done)
    for key, title in ("once_s", "medians"), ("once_min_s", "least times, which others disturb less"):
        print(title)
        summary(lines, key)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
