#!/usr/bin/env python3
"""bench/lib/widths.py - tables of the time by columns of X, from lines that widths.sh writes.

usage: widths.py FILE.jsonl...

Prints a table of milliseconds for each file and type, with a row for each problem. Names cliffs, and
exits with 1 if there are any. A cliff is a time above 1.15 times that of more columns, or a time of
33 or 129 columns above 1.35 times that of 32 or 128. If there are several runs, the last counts.
"""
import json
import os
import sys

MONOTONE, STEP, STEPS = 1.15, 1.35, ((32, 33), (128, 129))


def read(paths):
    """Returns {(file, type): {problem: {cols: seconds, or None for a failure}}}."""
    tables = {}
    for path in paths:
        who = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding="utf-8") as f:
            for line in map(json.loads, filter(str.strip, f)):
                kind = line["type"] + (", TF32" if line.get("tf32") else "")
                row = tables.setdefault((who, kind), {}).setdefault(line["problem"], {})
                good = not line["error"] and line["verified"] is not False
                row[line["cols"]] = line["seconds"] if good else None
    return tables


def cliffs(row):
    """Returns [(columns, columns compared with, ratio of the times)]."""
    times = sorted((n, t) for n, t in row.items() if t is not None)
    found = []
    for i, (n, t) in enumerate(times):
        later = min(times[i + 1:], key=lambda other: other[1], default=None)
        if later and t > MONOTONE * later[1]:
            found.append((n, later[0], t / later[1]))
    for low, high in STEPS:
        if row.get(low) and row.get(high) and row[high] > STEP * row[low]:
            found.append((high, low, row[high] / row[low]))
    return found


def print_table(who, kind, rows):
    cols = sorted({n for row in rows.values() for n in row})
    print(f"\n### {who}, {kind}\n")
    print("| ms by columns | " + " | ".join(map(str, cols)) + " |")
    print("|" + " --- |" * (len(cols) + 1))
    for problem, row in rows.items():
        cells = [("" if n not in row else "fails" if row[n] is None else f"{row[n] * 1e3:.4g}")
                 for n in cols]
        print("| " + " | ".join([problem] + cells) + " |")


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    count = 0
    for (who, kind), rows in read(sys.argv[1:]).items():
        print_table(who, kind, rows)
        for problem, row in rows.items():
            failures = [n for n, t in row.items() if t is None]
            for n in failures:
                print(f"\n- {problem}, {n} columns: failed")
            for n, other, ratio in cliffs(row):
                print(f"\n- {problem}: {n} columns take {ratio:.2f} times as long as {other}")
            count += len(failures) + len(cliffs(row))
    print(f"\n{count} cliffs or failures.")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
