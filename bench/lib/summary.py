#!/usr/bin/env python3
"""bench/lib/summary.py - makes Markdown tables from lines of hybrid_spmm_bench and peers.py.

There is a table for each product, mode and type, and a row for each problem. A cell is the median
in milliseconds of the fastest variant or algorithm. A peer's cell also has the ratio to our fastest
time. If several runs measure the same thing, the last counts. --by-variant gives each of our
variants a column of its own.
"""
import json
import sys

PEERS = ["cusparse", "cupy", "torch-cuda", "torch-cpu", "scipy"]
PEER_NAMES = {"cusparse": "cuSPARSE", "cupy": "CuPy", "torch-cuda": "PyTorch-CUDA",
              "torch-cpu": "PyTorch-CPU", "scipy": "SciPy", "graphblas": "GraphBLAS",
              "mkl": "oneMKL"}


def read(paths):
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for number, text in enumerate(f, 1):
                if not text.strip():
                    continue
                try:
                    yield json.loads(text)
                except ValueError as error:  # the line is incomplete
                    print(f"{path}:{number}: {error}", file=sys.stderr)


def print_rows(head, left, rows):
    """Prints a table with these titles. The first `left` columns are aligned left."""
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * left + " ---: |" * (len(head) - left))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def table_of(line):
    return (line["op"], line["mode"], line["type"], line.get("cols"),
            bool(line.get("reuse")), line.get("device_memory") or 0,
            line["mode"] == "end" and bool(line.get("resident")),
            bool(line.get("pinned")), bool(line.get("tf32")),
            line.get("order") == "col")


def who(line, by_variant):
    return line["peer"] or "ours " + (line["variant" if by_variant else "backend"] or "?")


def usable(line):
    return line["seconds"] is not None and not line["error"] and line["verified"] is not False


def fastest(lines):
    good = [line for line in lines if usable(line)]
    return min(good, key=lambda line: line["seconds"]) if good else None


def ms(seconds):
    value = seconds * 1e3
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def times(ratio):
    return f"{ratio:.1f}x" if ratio >= 10 else f"{ratio:.2f}x"


def cell(lines, best=None):
    """Returns the fastest of `lines` in ms and, if `best` is given, the ratio to it."""
    if not lines:
        return ""
    line = fastest(lines)
    if not line:
        return "wrong" if any(l["verified"] is False for l in lines) else "fails"
    text = ms(line["seconds"])
    return f"{text} ({times(line['seconds'] / best['seconds'])})" if best else text


def bus(line):
    """Returns the larger use of the two directions of the bus; older lines have none."""
    ways = [line.get(name) for name in ("use_bus_up", "use_bus_down")] if line else []
    known = [use for use in ways if use is not None]
    return f"{100 * max(known):.0f} %" if known else ""


def reference(line):
    """Returns the speedup over the reference time; lines before 2026-11-23 have none."""
    speedup = line.get("speedup_over_reference") if line else None
    return "" if speedup is None else f"{speedup:.2f}"


def per_core(row):
    """Returns SciPy's time over ours per core: our time times the number of threads."""
    scipy = fastest(row.get("scipy", []))
    ours = [line for line in row.get("ours host", []) if usable(line)]
    if not scipy or not ours:
        return ""
    ratios = {}
    for line in sorted(ours, key=lambda line: line["threads"]):
        ratio = scipy["seconds"] / (line["seconds"] * line["threads"])
        ratios[line["threads"]] = max(ratio, ratios.get(line["threads"], 0))
    return ", ".join(f"{times(ratio)} at {threads}" for threads, ratio in ratios.items())


def row_text(problem, row, columns, mode):
    own = [line for name, lines in row.items() if name.startswith("ours") for line in lines]
    best = fastest(own)
    cells = [problem]
    for name in columns:
        mine = name.startswith("ours")
        cells.append(cell(row.get(name, []), None if mine else best))
    cells += [best["variant"] if best else "", f"{best['gflops']:.4g}" if best else ""]
    if mode == "end":
        cold = ms(best["cold_s"]) if best and best["cold_s"] else ""
        cells += [cold, bus(best), reference(best), per_core(row)]
    return "| " + " | ".join(cells) + " |"


def print_table(key, rows):
    op, mode, kind, cols, reuse, memory, resident, pinned, tf32, turned = key
    names = {name for row in rows.values() for name in row}
    columns = sorted(n for n in names if n.startswith("ours")) + [p for p in PEERS if p in names]
    title = f"{op}, {kind}" + (f", {cols} columns" if cols else "")
    title += ", in core" if mode == "core" else ", end to end"
    title += ", X and Y in columns" if turned else ""
    title += ", TF32" if tf32 else ""
    title += ", A resident" if resident else ""
    title += ", pinned" if pinned else ""
    title += ", values alone" if reuse else ""
    title += f", device memory capped at {memory / 2**20:.0f} MiB" if memory else ""
    head = ["problem"] + [n + " ms" for n in columns] + ["fastest of ours", "GFLOP/s"]
    if mode == "end":
        head += ["first call ms", "bus", "speedup over reference", "SciPy / ours, a core"]
    print(f"\n### {title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for problem, row in rows.items():
        print(row_text(problem, row, columns, mode))


def machines(lines):
    found = {}
    for line in lines:
        for name in (line.get("device"), line.get("versions") or line.get("driver")):
            if name:
                found[name] = None
    commits = {line["commit"]: None for line in lines if line.get("commit")}
    print("Measured on: " + "; ".join(found) + ".")
    if commits:
        print("Commit: " + ", ".join(commits) + ".")


def main():
    paths = [path for path in sys.argv[1:] if path != "--by-variant"]
    if not paths or paths[0] in ("-h", "--help"):
        sys.exit("usage: summary.py [--by-variant] FILE.jsonl...\n\n" + __doc__)
    latest = {}
    for line in read(paths):
        name = who(line, len(paths) < len(sys.argv) - 1)
        key = (table_of(line), line["problem"], name, line["variant"],
               line.get("order"), line["threads"])
        latest[key] = line
    if not latest:
        sys.exit("no measurement in " + " ".join(paths))
    machines(latest.values())
    tables = {}
    for (table, problem, name, *_), line in latest.items():
        tables.setdefault(table, {}).setdefault(problem, {}).setdefault(name, []).append(line)
    for key in sorted(tables, key=str):
        print_table(key, tables[key])


if __name__ == "__main__":
    main()
