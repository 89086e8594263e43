#!/usr/bin/env python3
"""bench/lib/models.py - times every choice for products of real matrices, beside its prediction.

    bench/lib/models.py LIBRARY FOLDER --json FILE.jsonl [--seconds S]

The matrices are the odd lines of FOLDER/MANIFEST.tsv; constants of the models are fitted to the even
ones. The products are A*A (A*A^T if A is not square) and A*X with 1, 8, 32 and 128 columns, in f32
and f64, from host arrays to host arrays. For each product, plans are made with the planner's own
choice and with each other variant that can compute it, on the GPU and on the CPU, also with those
that plans use only by name (--as-planned leaves these out). They run in turns, and the median of
their times counts. A plan whose first runs are far slower than the best drops out, unless it is the
pick. The best-ranked choice of the GPU, whose prediction is judged, then runs again after the
others have ended. --seconds limits the time of the whole program: products get fewer turns when it
gets short.
bench/README.md describes the lines.
"""
import argparse
import ctypes as C
import datetime
import json
import os
import sys
import time

import numpy as np

import library
from real_peers import Problem

COLUMNS = [None, 1, 8, 32, 128]  # None: A*A
TYPES = {"f32": np.float32, "f64": np.float64}
FAR = 1.5        # a choice that takes this many times as long as the best is not timed further
HOPELESS = 20    # a choice predicted to take this many times as long as the pick does not run,
HOPELESS_S = 0.5  # and only if that time exceeds this number of seconds
TURNS = 9        # number of timed runs of a choice, if there is time
MANY, BRIEF_S = 99, 0.02  # a product whose turns took less than BRIEF_S gets up to MANY turns
FEW = 3          # fewest timed runs of a choice whose prediction is judged
UNSUPPORTED = 5  # hybrid_status
SHARE = 0.8      # part of a product's time for turns; the rest is for plans and first runs


# ---- plans ---------------------------------------------------------------------------------

def declare(so):
    pointer = C.c_void_p
    for name, arguments in {
            "spgemm_plan": [pointer] * 5, "spgemm_run": [pointer] * 4,
            "spmm_plan": [pointer, pointer, C.c_int64, pointer, pointer],
            "spmm_run": [pointer, C.c_double, pointer, pointer, C.c_double, pointer],
            "plan_report": [pointer] * 2, "plan_destroy": [pointer],
            "plan_candidate": [pointer, C.c_int, pointer]}.items():
        getattr(so, "hybrid_" + name).argtypes = arguments
    so.hybrid_plan_destroy.restype = None


class Operands:
    """A and B, or A, X and Y, as the library takes them."""

    def __init__(self, engine, p):
        self.kept = [p.first(), p.second]
        self.A = engine.csr(*self.kept[0])
        self.B = self.X = self.Y = None
        if p.cols is None:
            self.B = engine.csr(*p.second) if p.second else self.A
        else:
            X = p.X.reshape(-1, p.cols)
            Y = np.zeros((self.A.rows, p.cols), p.dtype)
            self.kept += [X, Y]
            self.X, self.Y = engine.dense(X), engine.dense(Y)


class Refused(RuntimeError):
    """No variant of this name can compute the product."""


class Plan:
    """A plan with the planner's choice (variant None) or a variant, and the times of its runs."""

    def __init__(self, engine, operands, variant):
        self.engine, self.o, self.variant = engine, operands, variant
        self.handle, self.reports, self.first_s = C.c_void_p(), [], None
        options = engine.library.struct("plan_options")
        if variant:
            self.name = C.create_string_buffer(variant.encode())
            options.variant = C.addressof(self.name)
        options.struct_size = C.sizeof(options)
        so, o = engine.so, operands
        if o.B is not None:
            status = so.hybrid_spgemm_plan(engine.handle, C.byref(o.A), C.byref(o.B),
                                           C.byref(options), C.byref(self.handle))
        else:
            status = so.hybrid_spmm_plan(engine.handle, C.byref(o.A), o.X.cols,
                                         C.byref(options), C.byref(self.handle))
        if status == UNSUPPORTED:
            raise Refused(so.hybrid_engine_message(engine.handle).decode())
        engine.succeed(status)
        self.planned = self.report()

    def report(self):
        report = self.engine.library.struct("report")
        report.struct_size = C.sizeof(report)
        self.engine.succeed(self.engine.so.hybrid_plan_report(self.handle, C.byref(report)))
        return report

    def candidates(self):
        """Returns (name, why refused, chosen) of each candidate."""
        found, one = [], self.engine.library.struct("candidate")
        while self.engine.so.hybrid_plan_candidate(self.handle, len(found), C.byref(one)) == 0:
            refused = C.string_at(one.refused).decode() if one.refused else None
            found.append((C.string_at(one.variant).decode(), refused, bool(one.chosen)))
        return found

    def run(self):
        so, o = self.engine.so, self.o
        if o.B is not None:
            result = self.engine.library.struct("csr")
            self.engine.succeed(so.hybrid_spgemm_run(self.handle, C.byref(o.A), C.byref(o.B),
                                                     C.byref(result)))
            so.hybrid_csr_free(self.engine.handle, C.byref(result))
        else:
            self.engine.succeed(so.hybrid_spmm_run(self.handle, 1, C.byref(o.A), C.byref(o.X), 0,
                                                   C.byref(o.Y)))
        return self.report()

    def first(self):
        """Runs once; the time does not count."""
        self.first_s = self.run().total_s

    def turn(self):
        self.reports.append(self.run())

    def median_s(self):
        return median([r.total_s for r in self.reports])

    def close(self):
        self.engine.so.hybrid_plan_destroy(self.handle)


class Call:
    """One-shot calls, which make the planner's choice. Their reports include planning."""

    def __init__(self, engine, operands):
        self.engine, self.o, self.reports = engine, operands, []

    def run(self):
        so, o = self.engine.so, self.o
        if o.B is not None:
            result = self.engine.library.struct("csr")
            self.engine.succeed(so.hybrid_spgemm(self.engine.handle, C.byref(o.A), C.byref(o.B),
                                                 C.byref(result)))
            so.hybrid_csr_free(self.engine.handle, C.byref(result))
        else:
            self.engine.succeed(so.hybrid_spmm(self.engine.handle, 1, C.byref(o.A), C.byref(o.X),
                                               0, C.byref(o.Y)))
        return self.engine.report()


def median(values):
    return sorted(values)[(len(values) - 1) // 2]


# ---- a product -----------------------------------------------------------------------------

def choices(candidates):
    """Returns the name of the pick, and (name, rank) of all candidates, where rank counts those of
    the same processor from 0, and is None for those that are refused unless they are named."""
    ranks, found, pick = {}, [], None
    for name, refused, chosen in candidates:
        processor = name.split(".")[1]
        found.append((name, None if refused else ranks.get(processor, 0)))
        if not refused:
            ranks[processor] = ranks.get(processor, 0) + 1
        pick = name if chosen else pick
    return pick, found


def plan_named(engine, operands, name):
    """Returns a plan with this variant; None if the variant refuses the product."""
    try:
        return Plan(engine, operands, name)
    except Refused:
        return None


def is_hopeless(plan, pick):
    predicted = plan.planned.predicted_s
    return predicted > HOPELESS_S and predicted > HOPELESS * pick.planned.predicted_s


def rounds(plans, call, until):
    """Lets all plans and the call take turns. Plans that are far slower than the best drop out."""
    running, begin = list(plans), time.perf_counter()
    for turn in range(MANY):
        call.reports.append(call.run())
        for plan in running:
            plan.turn()
        best = min(plan.median_s() for plan in running)
        running = [p for p in running if p.median_s() < FAR * best or p is plans[0]]
        now = time.perf_counter()
        if turn > 0 and (now > until or turn + 1 >= TURNS and now - begin > BRIEF_S):
            break


def catch_up(plan, until):
    """Lets a plan that dropped out take the turns that it has missed, since its prediction is
    judged. The other plans have ended, because they would find the caches cold after each of
    these turns."""
    while len(plan.reports) < TURNS and (len(plan.reports) < FEW or time.perf_counter() < until):
        plan.turn()


def measure(engine, p, until, as_planned):
    """Returns plans that have run, the pick first, the rank of each, and one-shot calls."""
    operands = Operands(engine, p)
    plans, ranks, call = [Plan(engine, operands, None)], [], Call(engine, operands)
    pick, others = choices(plans[0].candidates())
    try:
        plans[0].first()
        ranks.append(dict(others)[pick])
        plans[0].variant = pick
        for name, rank in others:
            if name == pick or (as_planned and rank is None):
                continue
            plan = plan_named(engine, operands, name)
            if plan and is_hopeless(plan, plans[0]):
                plan.close()
                plan = None
            if not plan:
                continue
            plans.append(plan)
            ranks.append(rank)
            plan.first()
        rounds(plans, call, until)
        for plan, rank in zip(plans, ranks):
            if rank == 0 and ".cuda." in plan.variant:
                catch_up(plan, until)
    finally:
        for plan in plans:
            plan.close()
    return list(zip(plans, ranks)), call


def middle(reports):
    """Returns the report of the median run."""
    return sorted(reports, key=lambda r: r.total_s)[(len(reports) - 1) // 2]


def line_of(p, kind, args):
    return {"problem": p.name, "op": "spgemm" if p.cols is None else "spmm", "cols": p.cols,
            "type": kind, "rows": p.shape[0], "columns": p.shape[1], "nnz": p.nnz,
            "variant": None, "pick": False, "error": None, "device": args.device,
            "threads": args.threads, "rates": os.path.basename(args.rates), "date": args.date,
            "commit": args.commit}


def numbers(plan, rank, is_pick):
    """Returns the fields of a choice: medians, and the report of the median run."""
    report, runs = middle(plan.reports), plan.reports
    device_s = median([r.multiply_s + r.finish_s for r in runs])
    on_device = plan.variant.split(".")[1] == "cuda"
    return {"variant": plan.variant, "backend": plan.variant.split(".")[1], "pick": is_pick,
            "rank": rank, "total_s": report.total_s, "least_s": min(r.total_s for r in runs),
            "first_s": plan.first_s, "predicted_s": report.predicted_s,
            "device_s": device_s if on_device else None,
            "predicted_device_s": report.predicted_device_s if on_device else None,
            "plan_s": plan.planned.plan_s, "chunks": report.chunks, "runs": len(runs),
            "host_chunks": report.host_chunks}


def lines_of(engine, p, kind, args, until):
    line = line_of(p, kind, args)
    try:
        found, call = measure(engine, p, until, args.as_planned)
    except RuntimeError as error:  # a failure is recorded
        return [dict(line, error=str(error))]
    finally:
        engine.trim()
    lines = [dict(line, **numbers(plan, rank, i == 0)) for i, (plan, rank) in enumerate(found)]
    called = middle(call.reports)
    lines[0].update(call_s=called.total_s, call_predicted_s=called.predicted_s)
    return lines


# ---- program -------------------------------------------------------------------------------

def odd_names(folder):
    with open(os.path.join(folder, "MANIFEST.tsv"), encoding="utf-8") as f:
        return [text.split("\t")[0] for text in f][1::2]


def path_of(folder, name):
    paths = [os.path.join(folder, name + end) for end in (".mtx", ".mtx.xz")]
    return next((path for path in paths if os.path.exists(path)), None)


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libhybrid_spmm.so")
    parser.add_argument("folder", help="of MANIFEST.tsv and matrices")
    parser.add_argument("--json", required=True, help="append lines of JSON")
    parser.add_argument("--rates", default="", help="file of measured rates (built-in rates)")
    parser.add_argument("--engine", default="auto", choices=library.ENGINES)
    parser.add_argument("--threads", type=int, default=0, help="of the library; 0: it chooses")
    parser.add_argument("--seconds", type=float, default=240, help="of the whole program")
    parser.add_argument("--as-planned", action="store_true",
                        help="leave out variants that plans use only by name")
    parser.add_argument("--only", metavar="NAME,...", help="matrices; even lines are allowed")
    parser.add_argument("--commit")
    args = parser.parse_args()
    args.date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return args


def main():
    begin = time.perf_counter()
    args = parse()
    lib = library.Library(args.library)
    declare(lib.so)
    engine = library.Engine(lib, args.engine, args.threads, args.rates)
    args.threads, args.device = engine.threads, engine.device
    names = args.only.split(",") if args.only else odd_names(args.folder)
    left = len(names) * len(TYPES) * len(COLUMNS)
    with open(args.json, "a", encoding="utf-8") as out:
        for name in names:
            path = path_of(args.folder, name)
            if not path:
                sys.exit(f"models.py: {args.folder} has no {name}.mtx or {name}.mtx.xz")
            p = Problem(path)
            print(f"{time.perf_counter() - begin:6.1f} s  {name}", file=sys.stderr)
            for kind, cols in ((kind, cols) for kind in TYPES for cols in COLUMNS):
                p.take(TYPES[kind], cols)
                now = time.perf_counter()
                share = max(0, begin + args.seconds - now) / left
                for line in lines_of(engine, p, kind, args, now + SHARE * share):
                    print(json.dumps(line), file=out, flush=True)
                left -= 1
    engine.close()


if __name__ == "__main__":
    main()
