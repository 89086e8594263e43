#!/usr/bin/env python3
"""bench/lib/judge.py - judges predictions and choices, from the lines of bench/models.sh.

    bench/lib/judge.py LINES.jsonl

An error is |predicted / measured - 1|. The error of device time is that of the variant which the
planner ranks first on the device, whether or not the CPU computes the product. The end-to-end error
is that of one-shot calls, planning included. The regret of a product is the time of that choice over the least
time of all choices, also of those that plans use only by name. Ends with exit code 1 if a figure is beyond its bound, or if a product could not
be computed.
"""
import json
import math
import sys

# figure: largest value that is accepted
BOUNDS = {"device time, median error": 0.15, "device time, 90th percentile": 0.35,
          "SpGEMM end to end, median error": 0.12, "SpMM end to end, median error": 0.14,
          "regret, geometric mean": 1.02, "regret, worst": 1.25}
WORST = 8  # products with the largest regret that are listed


def read(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(text) for text in f if text.strip()]


def quantile(values, share):
    """Returns the least value that at least this share of the values does not exceed."""
    values = sorted(values)
    return values[max(0, math.ceil(share * len(values)) - 1)]


def error(predicted, measured):
    return abs(predicted / measured - 1)


def product_of(line):
    return line["problem"], line["op"], line["cols"], line["type"]


def by_product(lines):
    products = {}
    for line in lines:
        products.setdefault(product_of(line), []).append(line)
    return products


def device_errors(products):
    """Returns the error of the best-ranked variant of the device, for each product with one."""
    firsts = [line for lines in products.values() for line in lines
              if line["rank"] == 0 and line["backend"] == "cuda" and line["device_s"]]
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


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: judge.py LINES.jsonl\n\n" + __doc__)
    lines = read(sys.argv[1])
    failed = [line for line in lines if line.get("error")]
    products = by_product(line for line in lines if not line.get("error"))
    products = {key: found for key, found in products.items() if any(l["pick"] for l in found)}
    if not products:
        sys.exit(f"judge.py: {sys.argv[1]} has no product with a choice")
    first = next(iter(products.values()))[0]
    print(f"{len(products)} products. {first['device']}, {first['threads']} threads, "
          f"{first['rates'] or 'built-in rates'}, commit {first['commit']}, {first['date'][:10]}.\n")
    figures = figures_of(products)
    table(figures)
    list_worst(products)
    list_variants(products)
    for line in failed:
        print(f"\n{name_of(line)}, {line['variant'] or 'the choice'}: {line['error']}")
    beyond = [name for name, bound in BOUNDS.items()
              if figures[name] is not None and figures[name] > bound]
    sys.exit(1 if beyond or failed else 0)


if __name__ == "__main__":
    main()
