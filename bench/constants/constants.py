#!/usr/bin/env python3
"""bench/constants/constants.py - how much time is lost with the choices that other constants make.

    bench/constants/constants.py LINES.jsonl FOLDER --json FILE.jsonl NAME=LIBRARY[,RATES]...

LINES.jsonl are the lines of bench/models.sh, which have the time of every choice for products of
the matrices in FOLDER. Each setting is a library with a file of measured rates, or with its
built-in rates. It only plans these products: its regret is the time of the variant that it chooses
over that of the fastest variant. A product does not count for a setting that chooses a variant which
models.sh has not timed. The program prints a table and writes a line for each setting.
"""
import argparse
import datetime
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import judge  # noqa: E402
import library  # noqa: E402
import models  # noqa: E402
from real_peers import Problem  # noqa: E402


class Setting:
    """A library with rates, and the regret of each product that it has chosen for."""

    def __init__(self, text, args):
        self.name, _, files = text.partition("=")
        path, _, rates = files.partition(",")
        lib = library.Library(path)
        models.declare(lib.so)
        self.engine = library.Engine(lib, args.engine, args.threads, rates)
        self.regrets, self.untimed, self.changed = [], 0, 0

    def choose(self, p, lines):
        """Chooses for a product whose choices have these lines."""
        plan = models.Plan(self.engine, models.Operands(self.engine, p), None)
        pick, _ = models.choices(plan.candidates())
        plan.close()
        seconds = {line["variant"]: line["total_s"] for line in lines}
        if pick not in seconds:  # far slower than the pick of models.sh, by prediction
            self.untimed += 1
            return
        self.regrets.append((seconds[pick] / min(seconds.values()), judge.name_of(lines[0]), pick))
        self.changed += pick != next(line["variant"] for line in lines if line["pick"])

    def result(self):
        worst, product, pick = max(self.regrets)
        mean = math.exp(sum(math.log(one[0]) for one in self.regrets) / len(self.regrets))
        return {"setting": self.name, "products": len(self.regrets), "untimed": self.untimed,
                "changed": self.changed, "regret": round(mean, 4), "worst": round(worst, 3),
                "worst_of": f"{product}, {pick}"}


def choose_all(folder, products, settings):
    """Lets all settings choose for all products; each matrix is read once."""
    for name in dict.fromkeys(key[0] for key in products):
        p = Problem(models.path_of(folder, name))
        for (problem, _, cols, kind), lines in products.items():
            if problem == name:
                p.take(models.TYPES[kind], cols)
                for setting in settings:
                    setting.choose(p, lines)


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", metavar="LINES.jsonl")
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("settings", metavar="NAME=LIBRARY[,RATES]", nargs="+")
    parser.add_argument("--json", required=True)
    parser.add_argument("--engine", default="auto", choices=library.ENGINES)
    parser.add_argument("--threads", type=int, default=0, help="of the library; 0: it chooses")
    return parser.parse_args()


def main():
    args = parse()
    products = judge.by_product(line for line in judge.read(args.lines) if not line.get("error"))
    products = {key: found for key, found in products.items() if any(l["pick"] for l in found)}
    settings = [Setting(text, args) for text in args.settings]
    choose_all(args.folder, products, settings)
    first = next(iter(products.values()))[0]
    machine = {key: first[key] for key in ("device", "threads", "commit")}
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    lines = [{"mode": "constants", **machine, "date": date, **setting.result()} for setting in settings]
    with open(args.json, "w", encoding="utf-8") as out:
        for line in lines:
            print(json.dumps(line, separators=(",", ":")), file=out)
    print(judge.constants(lines), end="")


if __name__ == "__main__":
    main()
