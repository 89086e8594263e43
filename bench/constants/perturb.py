#!/usr/bin/env python3
"""bench/constants/perturb.py TREE [--seed S] - makes the built-in constants of the cost models wrong.

Multiplies each speed and each cost that the cost functions of a source tree assume by 2 or by 1/2,
at random, and prints what it did. bench/constants/constants.sh finds out whether `calibrate` makes
up for it. Sizes, shares and exponents, which are no speed of a machine, stay as they are.
"""
import argparse
import os
import random
import re
import sys

# file: pattern whose groups are the name of a constant, what stands between, and its value
NUMBER = r"(\d+(?:\.\d+)?(?:e-?\d+)?)\b"
DOUBLES = rf"(?m)(?:^static const double |(?<=, ))([A-Z_]+)(\s* = ){NUMBER}(?=[,;])"
CYCLES = rf"(hy_spgemm_host_cost)(\(f, r, ){NUMBER}"
FILES = {
    "gpu/backend/cuda_tuning.h":
        r"#define (HY_\w+)(\s+(?:\\\n\s+)?)(\d+(?:\.\d+(?:e-?\d+)?|e-?\d+))\b",
    "gpu/backend/cuda_backend.cu": r"out->(\w+)(\s*= )(\d+(?:\.\d+)?e-?\d+)",
    "engine/rates/estimate.c": DOUBLES,
    "host/backend/host_backend.c": DOUBLES,
    "host/spgemm/spgemm_host_work.c": DOUBLES,
    "host/spgemm/spgemm_host_rows.c": CYCLES,
    "host/spgemm/spgemm_host_dense.c": CYCLES,
    "host/spgemm/spgemm_host_hash.c": CYCLES,
    "host/spmm/spmm_host_rows.c": DOUBLES,
}
# names of sizes, shares and exponents
OTHERS = re.compile(r"NEAR(ER|_LINE)?$|^HY_SPMM_SCATTERED|EVEN_CV|SPARE|POWER|B_ROW|BIN_PRODUCTS|PADDING"
                    r"|HALF_ROW|PASSES|SPARSE_DOWN|SPARSE_STORED|WIDE|REACH|PAGES|BLOCK_ROWS|APART")


def perturbed(text, pattern, draw, told):
    def one(match):
        name, _, value = match.groups()
        if OTHERS.search(name) and name != "LINE_NEAR":
            return match[0]
        factor = draw.choice((2, 0.5))
        told.append(f"{name} {value} x {factor:g}")
        return match[0][:match.start(3) - match.start()] + f"({factor:g} * {value})"
    return re.sub(pattern, one, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", help="source tree, which is changed")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    draw = random.Random(args.seed)
    for name, pattern in FILES.items():
        path, told = os.path.join(args.tree, name), []
        with open(path, encoding="utf-8") as f:
            text = perturbed(f.read(), pattern, draw, told)
        if not told:
            sys.exit(f"perturb.py: {path} has no constant")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        print(f"{name}: {', '.join(told)}")


if __name__ == "__main__":
    main()
