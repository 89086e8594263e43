#!/usr/bin/env python3
"""Compares predicted_s with total_s: a table by product and mode, from lines of hybrid_spmm_bench.

    python3 bench/predicted.py [--manifest MANIFEST.tsv] LINES.jsonl...

The error is |ln(predicted_s / total_s)|: 0.15 is 15 %, and 0.69 a factor of 2. A manifest names a
matrix in each line after its header. Constants are fitted on the even lines and judged on the odd
ones; other problems are `other`. "beyond 2x" counts runs of more than 1 ms."""
import argparse
import json
import math
import statistics
import sys

LONG_S = 1e-3


def mode(line):
    if line["backend"] == "host":
        return "host"
    return ("pinned" if line["pinned"] else "pageable") + (
        ", resident" if line["resident"] else "")


def read_manifest(path):
    if not path:
        return {}
    with open(path, encoding="utf-8") as f:
        names = [text.split("\t")[0] for text in f][1:]
    return {name: number for number, name in enumerate(names, 1)}


def half(line, numbers):
    number = numbers.get(line["problem"])
    return "other" if number is None else "odd" if number % 2 else "even"


def read_lines(paths):
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for text in f:
                line = json.loads(text)
                if not line.get("error") and line.get("predicted_s") and line.get("total_s"):
                    yield line


def group(lines, numbers):
    groups = {}
    for line in lines:
        error = abs(math.log(line["predicted_s"] / line["total_s"]))
        key = (line["op"], mode(line), half(line, numbers))
        groups.setdefault(key, []).append((error, line["total_s"] > LONG_S))
    return groups


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--manifest", help="table of matrices, one a line, names first")
    parser.add_argument("lines", nargs="+")
    options = parser.parse_args()
    groups = group(read_lines(options.lines), read_manifest(options.manifest))
    if not groups:
        sys.exit("predicted.py: no line has both predicted_s and total_s")
    print("| product | mode | lines | runs | median error | beyond 2x |")
    print("| --- | --- | --- | ---: | ---: | ---: |")
    for key in sorted(groups):
        errors = groups[key]
        median = statistics.median(error for error, _ in errors)
        beyond = sum(error > math.log(2) and long for error, long in errors)
        print(f"| {' | '.join(key)} | {len(errors)} | {100 * median:.0f} % | {beyond} |")


if __name__ == "__main__":
    main()
