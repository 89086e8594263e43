#!/usr/bin/env python3
"""bench/lib/ab.py [--slow] A.jsonl B.jsonl [AGAIN_A.jsonl AGAIN_B.jsonl] - compares two builds.

The lines are those of bench/ab.sh: "commit" holds the build's name, its round and the way,
as in b3:pinned. Prints a table of ratios, seconds of A over seconds of B; above 1, B is faster.
Exit code 1 if the geometric mean of all is below 0.98, or if a product's median is below 0.93,
also in the second measurement if there is one.
--slow: prints only the problems with a median below 0.93."""
import collections
import json
import math
import statistics
import sys

LEAST_MEAN, LEAST = 0.98, 0.93
KEYS = ("op", "backend", "type", "cols", "problem")


def seconds(path):
    """Returns {product: {round: seconds}} of one build."""
    found = collections.defaultdict(dict)
    with open(path, encoding="utf-8") as lines:
        for text in lines:
            line = json.loads(text)
            if not line.get("seconds"):
                continue
            name, way = line["commit"].split(":", 1)
            product = (way,) + tuple(line.get(key) for key in KEYS)
            found[product][name[1:]] = line["seconds"]
    return found


def medians(a_path, b_path):
    """Returns {product: median over rounds of A's seconds / B's}."""
    a, b = seconds(a_path), seconds(b_path)
    if a.keys() != b.keys():
        sys.exit(f"ab.py: the builds computed different products: {a.keys() ^ b.keys()}")
    return {p: statistics.median(a[p][r] / b[p][r] for r in a[p] if r in b[p]) for p in a}


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def table(ratios, again):
    groups = collections.defaultdict(dict)
    for product, ratio in ratios.items():
        groups[product[:4]][product] = ratio
    print("| way | product | backend | type | products | geometric mean | least |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for group, of in sorted(groups.items()):
        print(f"| {' | '.join(group)} | {len(of)} | {geometric_mean(of.values()):.3f} "
              f"| {min(of.values()):.3f} |")
    print(f"\nGeometric mean of {len(ratios)} products: {geometric_mean(ratios.values()):.3f}\n")
    for product, ratio in sorted(ratios.items(), key=lambda item: item[1]):
        if ratio < LEAST:
            second = f", again {again[product]:.3f}" if product in again else ""
            print(f"- {' '.join(map(str, product))}: {ratio:.3f}{second}")


def main(args):
    slow_only = args[:1] == ["--slow"]
    paths = args[slow_only:]
    if len(paths) not in (2, 4):
        sys.exit(__doc__)
    ratios = medians(*paths[:2])
    again = medians(*paths[2:]) if len(paths) == 4 else {}
    if not ratios:
        sys.exit("ab.py: no product was timed by both")
    slow = [p for p, ratio in ratios.items() if ratio < LEAST]
    if slow_only:
        print(" ".join(sorted({p[-1] for p in slow})))
        return 0
    table(ratios, again)
    twice = [p for p in slow if again.get(p, 0) < LEAST]
    return int(geometric_mean(ratios.values()) < LEAST_MEAN or bool(twice))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
