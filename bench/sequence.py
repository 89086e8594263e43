#!/usr/bin/env python3
"""bench/sequence.py - a sequence of equal one-shot calls A*A, from the first call of a process on.

    bench/sequence.py BENCH LIBRARY [--base LIBRARY --base-header FILE]
                      [--problems P,...] [--calls 10] [--rounds 5] [--backend auto] [--json FILE.jsonl]

BENCH is hybrid_spmm_bench, which writes the matrices of each problem (--dump). Each round starts a
new process for each library and times --calls calls, f32, operands in pageable memory. Each result
is freed before the next call. The libraries take turns in who is first. The median over rounds of
each call counts.
"""
import argparse
import ctypes as C
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import library

PROBLEMS = "stencil27:160,rmat:18,8,stencil27:80"


def problems(text):
    """Return the problems of a list; a part that is a number belongs to the part before."""
    found = []
    for part in text.split(","):
        if part.isdigit() and found:
            found[-1] += "," + part
        else:
            found.append(part)
    return found


def sequence(path, header, folder, backend, calls):
    """Print the seconds of each call, and what the last report tells, as JSON."""
    load = lambda name: np.load(os.path.join(folder, f"{name}.npy"))
    row_ptr, col, val = load("row_ptr"), load("col"), load("val").astype(np.float32)
    lib = library.Library(path, header)
    engine = library.Engine(lib, backend)
    rows = row_ptr.size - 1
    A = lib.struct("csr", rows=rows, cols=rows, nnz=val.size,
                   offset_type=row_ptr.dtype.itemsize // 4, row_ptr=row_ptr.ctypes.data,
                   col=col.ctypes.data, val=val.ctypes.data, type=library.TYPES[val.dtype])
    seconds = []
    for _ in range(calls):
        result = lib.struct("csr")
        start = time.perf_counter()
        engine.succeed(lib.so.hybrid_spgemm(engine.handle, C.byref(A), C.byref(A),
                                            C.byref(result)))
        seconds.append(time.perf_counter() - start)
        lib.so.hybrid_csr_free(engine.handle, C.byref(result))
    pooled = getattr(engine.report(), "pooled_bytes", None)
    print(json.dumps({"seconds": seconds, "pooled_bytes": pooled, "nnz_out": result.nnz,
                      "device": engine.device, "threads": engine.threads,
                      "version": lib.version()}))
    engine.close()


def child(args, which, folder):
    path, header = which
    run = [sys.executable, os.path.abspath(__file__), "", path, "--child", folder, "--header", header,
           "--backend", args.backend, "--calls", str(args.calls)]
    return json.loads(subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout)


def measure(args, problem, libraries):
    """Yield a line for each library."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([args.bench, "spgemm", problem, "--dump", folder], check=True,
                       stdout=subprocess.DEVNULL)
        matrix = os.path.join(folder, os.listdir(folder)[0])
        rounds = {name: [] for name in libraries}
        for turn in range(args.rounds):
            for name in sorted(libraries, reverse=turn % 2 == 1):
                rounds[name].append(child(args, libraries[name], matrix))
    for name, found in rounds.items():
        calls = [statistics.median(r["seconds"][k] for r in found) for k in range(args.calls)]
        yield {"mode": "sequence", "problem": problem, "op": "spgemm", "type": "f32",
               "library": name, "calls_s": calls, "pooled_bytes": found[-1]["pooled_bytes"],
               "nnz_out": found[-1]["nnz_out"], "device": found[-1]["device"],
               "threads": found[-1]["threads"], "version": found[-1]["version"],
               "commit": args.base_commit if name == "base" else args.commit, "date": args.date}


def tell(lines):
    for line in lines:
        ms = [s * 1e3 for s in line["calls_s"]]
        print(f"{line['problem']:16s} {line['library']:5s} ms: " + " ".join(f"{t:.1f}" for t in ms) +
              f"; slowest later call / first {max(ms[1:]) / ms[0]:.2f}", flush=True)
    if len(lines) == 2:
        new, base = (next(l["calls_s"] for l in lines if l["library"] == n) for n in ("new", "base"))
        print(f"{'':16s} new / base: first {new[0] / base[0]:.2f}, first three "
              f"{sum(new[:3]) / sum(base[:3]):.2f}, last {new[-1] / base[-1]:.2f}", flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("library")
    parser.add_argument("--base", help="another libhybrid_spmm.so")
    parser.add_argument("--base-header", help="its hybrid_spmm.h")
    parser.add_argument("--problems", default=PROBLEMS)
    parser.add_argument("--calls", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--json", help="append lines of JSON")
    parser.add_argument("--commit", help="recorded in the lines of LIBRARY")
    parser.add_argument("--base-commit", help="recorded in those of --base")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--header", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if args.base and not args.base_header:
        parser.error("--base needs --base-header")
    return args


def main():
    args = parse()
    if args.child:
        sequence(args.library, args.header, args.child, args.backend, args.calls)
        return
    libraries = {"new": (args.library, library.HEADER)}
    if args.base:
        libraries["base"] = (args.base, args.base_header)
    for problem in problems(args.problems):
        lines = list(measure(args, problem, libraries))
        tell(lines)
        if args.json:
            with open(args.json, "a", encoding="utf-8") as f:
                f.writelines(json.dumps(line) + "\n" for line in lines)


if __name__ == "__main__":
    main()
