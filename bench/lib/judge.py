#!/usr/bin/env python3
"""bench/lib/judge.py - judges predictions and choices, from the lines of bench/models.sh.

    bench/lib/judge.py LINES.jsonl [--keep FILE.jsonl]

An error is |predicted / measured - 1|. The error of device time is that of the variant which the
planner ranks first on the device, whether or not the CPU computes the product. The end-to-end error
is that of one-shot calls, planning included. The regret of a product is the time of that choice
over the least time of all choices, also of those that plans use only by name. Ends with exit code 1
if a figure is beyond its bound, or if a product could not be computed.

--keep writes short lines that give the same figures: one about the machine, then one for each
product with the choices that count, which are the pick, the fastest, and the one that is ranked
first on the device, whose index is `first`. `choices` begins with the pick. A choice has the
variant, and microseconds: the run, its device time, and the prediction of that. `call` has
microseconds of a one-shot call and the prediction.
"""
import argparse
import json
import math
import sys

# figure: largest value that is accepted
BOUNDS = {"device time, median error": 0.15, "device time, 90th percentile": 0.35,
          "SpGEMM end to end, median error": 0.12, "SpMM end to end, median error": 0.14,
          "regret, geometric mean": 1.02, "regret, worst": 1.25}
WORST = 8  # products with the largest regret that are listed
MACHINE = ("device", "threads", "rates", "date", "commit")
PRODUCT = ("problem", "op", "cols", "type")


def read(path):
    with open(path, encoding="utf-8") as f:
        return list(whole(json.loads(text) for text in f if text.strip()))


# ---- short lines ---------------------------------------------------------------------------

def micro(seconds):
    if seconds is None:
        return None
    value = float(f"{1e6 * seconds:.4g}")
    return int(value) if value.is_integer() else value


def seconds(micros):
    return None if micros is None else 1e-6 * micros


def whole(lines):
    """Yields a line for each choice of short lines; other lines as they are."""
    machine = {}
    for line in lines:
        if line.get("mode") != "models":
            yield line
        elif "device" in line:
            machine = {key: line[key] for key in MACHINE}
        else:
            for i, (variant, total, device, predicted) in enumerate(line["choices"]):
                call = map(seconds, line["call"] if i == 0 else (None, None))
                yield {**machine, **{key: line[key] for key in ("problem", "cols", "type")},
                       "op": "spgemm" if line["cols"] is None else "spmm", "error": None,
                       "variant": variant, "backend": variant.split(".")[1], "pick": i == 0,
                       "rank": 0 if i == line["first"] else None, "total_s": seconds(total),
                       "device_s": seconds(device), "predicted_device_s": seconds(predicted),
                       **dict(zip(("call_s", "call_predicted_s"), call))}


def is_first(line):
    return line["rank"] == 0 and line["backend"] == "cuda" and line["device_s"]


def short(lines):
    """Returns the short line of a product."""
    fastest = min(lines, key=lambda line: line["total_s"])
    pick = next(line for line in lines if line["pick"])
    counting = [pick] + [line for line in lines
                         if line is not pick and (line is fastest or is_first(line))]
    return {"mode": "models", **{key: pick[key] for key in ("problem", "cols", "type")},
            "call": [micro(pick["call_s"]), micro(pick["call_predicted_s"])],
            "first": next((i for i, line in enumerate(counting) if is_first(line)), None),
            "choices": [[line["variant"], *map(micro, (line["total_s"], line["device_s"],
                                                       line["predicted_device_s"]))]
                        for line in counting]}


def keep(products, path):
    machine = next(iter(products.values()))[0]
    with open(path, "w", encoding="utf-8") as out:
        for line in [{"mode": "models", **{key: machine[key] for key in MACHINE}},
                     *map(short, products.values())]:
            print(json.dumps(line, separators=(",", ":")), file=out)


# ---- figures -------------------------------------------------------------------------------


def quantile(values, share):
    """Returns the least value that at least this share of the values does not exceed."""
    values = sorted(values)
    return values[max(0, math.ceil(share * len(values)) - 1)]


def error(predicted, measured):
    return abs(predicted / measured - 1)


def by_product(lines):
    products = {}
    for line in lines:
        products.setdefault(tuple(line[key] for key in PRODUCT), []).append(line)
    return products


def device_errors(products):
    """Returns the error of the best-ranked variant of the device, for each product with one."""
    firsts = [line for lines in products.values() for line in lines if is_first(line)]
    return [error(line["predicted_device_s"], line["device_s"]) for line in firsts]


def picks(products):
    return [line for lines in products.values() for line in lines if line["pick"]]


def end_errors(products, op):
    return [error(line["call_predicted_s"], line["call_s"])
            for line in picks(products) if line["op"] == op]


def regrets(products):
    """Returns (regret, pick, best) for each product."""
    found = []
    for lines in products.values():
        pick = next(line for line in lines if line["pick"])
        best = min(lines, key=lambda line: line["total_s"])
        found.append((pick["total_s"] / best["total_s"], pick, best))
    return sorted(found, key=lambda one: -one[0])


def figures_of(products):
    """Returns the value of each figure; None if no line has it, as device time without a GPU."""
    device = device_errors(products)
    lost = [regret for regret, _, _ in regrets(products)]
    ends = {op: end_errors(products, op) for op in ("spgemm", "spmm")}
    return dict(zip(BOUNDS, [
        quantile(device, 0.5) if device else None, quantile(device, 0.9) if device else None,
        quantile(ends["spgemm"], 0.5) if ends["spgemm"] else None,
        quantile(ends["spmm"], 0.5) if ends["spmm"] else None,
        math.exp(sum(map(math.log, lost)) / len(lost)) if lost else None,
        lost[0] if lost else None]))


# ---- tables --------------------------------------------------------------------------------

def shown(name, value):
    if value is None:
        return "none"
    return f"{value:.3f}" if name.startswith("regret") else f"{100 * value:.1f} %"


def table(figures):
    print("| figure | value | bound | |")
    print("| --- | ---: | ---: | --- |")
    for name, bound in BOUNDS.items():
        value = figures[name]
        beyond = value is not None and value > bound
        print(f"| {name} | {shown(name, value)} | {shown(name, bound)} | "
              f"{'beyond' if beyond else ''} |")


def name_of(line):
    cols = "A*A" if line["op"] == "spgemm" else f"n = {line['cols']}"
    return f"{line['problem']}, {cols}, {line['type']}"


def list_worst(products):
    print("\n| product | regret | choice | ms | best | ms |")
    print("| --- | ---: | --- | ---: | --- | ---: |")
    for regret, pick, best in regrets(products)[:WORST]:
        print(f"| {name_of(pick)} | {regret:.3f} | {pick['variant']} | {pick['total_s'] * 1e3:.4g} | "
              f"{best['variant']} | {best['total_s'] * 1e3:.4g} |")


def list_variants(products):
    """Prints the ratio of predicted to measured device time of each variant."""
    ratios = {}
    for lines in products.values():
        for line in lines:
            if line["backend"] == "cuda" and line["device_s"]:
                ratios.setdefault(line["variant"], []).append(
                    line["predicted_device_s"] / line["device_s"])
    if ratios:
        print("\n| variant | products | predicted / measured, 10 % | median | 90 % |")
        print("| --- | ---: | ---: | ---: | ---: |")
    for variant, found in sorted(ratios.items()):
        print(f"| {variant} | {len(found)} | " +
              " | ".join(f"{quantile(found, share):.2f}" for share in (0.1, 0.5, 0.9)) + " |")


def machine_of(lines):
    first = lines[0]
    return (f"{first['device']}, {first['threads']} threads, {first['rates'] or 'built-in rates'}, "
            f"commit {first['commit']}, {first['date'][:10]}")


def columns(runs):
    """Returns a table with a column for each run of models.sh, and the worst choice of each."""
    found = [figures_of(by_product(run)) for run in runs]
    text = ("| figure | bound |" + "".join(f" {run[0]['device'].split(',')[0]} |" for run in runs)
            + "\n| --- | ---: |" + " ---: |" * len(runs) + "\n")
    for name, bound in BOUNDS.items():
        text += f"| {name} | {shown(name, bound)} |"
        text += "".join(f" {shown(name, figures[name])} |" for figures in found) + "\n"
    for run in runs:
        products = by_product(run)
        _, pick, best = regrets(products)[0]
        text += (f"\n{machine_of(run)}: {len(products)} products. The worst choice is "
                 f"{pick['variant']} for {name_of(pick)}: {1e3 * pick['total_s']:.2g} ms in place "
                 f"of {1e3 * best['total_s']:.2g} ms with {best['variant']}.\n")
    return text


def constants(lines):
    """Returns the lines of bench/constants/constants.py as a table."""
    text = ("| constants | device | products | other choices | regret, geometric mean | worst "
            "| worst product and its choice |\n"
            "| --- | --- | ---: | ---: | ---: | ---: | --- |\n")
    for line in lines:
        text += (f"| {line['setting']} | {line['device'].split(',')[0]} | {line['products']} "
                 f"| {line['changed']} | {line['regret']:.3f} | {line['worst']:.2f} "
                 f"| {line['worst_of']} |\n")
    return text


def tables(lines):
    """Returns the figures of kept lines as Markdown."""
    runs = {}
    for line in whole(line for line in lines if line["mode"] == "models"):
        runs.setdefault(tuple(line[key] for key in MACHINE), []).append(line)
    settings = [line for line in lines if line["mode"] == "constants"]
    return columns(list(runs.values())) + ("\n" + constants(settings) if settings else "")


def say(products, failed, figures):
    print(f"{len(products)} products. {machine_of(next(iter(products.values())))}.\n")
    table(figures)
    list_worst(products)
    list_variants(products)
    for line in failed:
        print(f"\n{name_of(line)}, {line['variant'] or 'the choice'}: {line['error']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lines", metavar="LINES.jsonl")
    parser.add_argument("--keep", metavar="FILE.jsonl")
    args = parser.parse_args()
    lines = read(args.lines)
    failed = [line for line in lines if line.get("error")]
    products = by_product(line for line in lines if not line.get("error"))
    products = {key: found for key, found in products.items() if any(l["pick"] for l in found)}
    if not products:
        sys.exit(f"judge.py: {args.lines} has no product with a choice")
    figures = figures_of(products)
    say(products, failed, figures)
    if args.keep:
        keep(products, args.keep)
    beyond = [name for name, bound in BOUNDS.items()
              if figures[name] is not None and figures[name] > bound]
    sys.exit(1 if beyond or failed else 0)


if __name__ == "__main__":
    main()
