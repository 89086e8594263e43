#!/usr/bin/env python3
"""bench/lib/real_table.py FILE.jsonl... - makes tables from lines of bench/lib/real.py.

For each product, type and condition (first call of the matrix, results freed, results kept) a row
has: the number of matrices; the geometric means of the time of the fastest peer and of each peer
over ours; the number of matrices on which ours is slower than the fastest peer by more than 5 %, and
the worst of these. If ours was also timed on the host and on the device alone, the planner's choice
is compared with the faster. If several lines measure the same thing, the last counts.
"""
import math
import sys

from summary import PEER_NAMES, read

SLOWER = 1.05
CONDITIONS = ("first", "freed", "kept")
WORST = 6
OURS = "ours"


def who_of(line):
    if line["peer"]:
        return line["peer"]
    return OURS if line["engine"] == "auto" else f"{OURS} {line['engine']}"


def product_of(line):
    return "A*A" if line["op"] == "spgemm" else f"A*X {line['cols']}"


def collect(lines):
    """Returns {(product, type, condition): {problem: {program: seconds}}} of lines without errors."""
    tables = {}
    for line in lines:
        for condition in CONDITIONS:
            seconds = line.get(condition + "_s")
            if seconds and not line["error"]:
                key = (product_of(line), line["type"], condition)
                tables.setdefault(key, {}).setdefault(line["problem"], {})[who_of(line)] = seconds
    return tables


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def ratios_of(rows, who):
    """Returns {problem: who(row) / our seconds}. who() returns seconds, or None to leave a row out."""
    return {problem: who(row) / row[OURS] for problem, row in rows.items()
            if OURS in row and who(row)}


def fastest_peer(row):
    return min((s for who, s in row.items() if not who.startswith(OURS)), default=None)


def faster_site(row):
    return min((s for who, s in row.items() if who.startswith(OURS + " ")), default=None)


def text(value):
    return "-" if value is None else f"{value:.2f}"


def slow(ratios):
    return sorted((ratio, problem) for problem, ratio in ratios.items() if ratio * SLOWER < 1)


def named(pairs):
    said = ", ".join(f"{problem} {ratio:.2f}" for ratio, problem in pairs[:WORST])
    return said + (", ..." if len(pairs) > WORST else "")


def table(lines):
    """Returns a table in Markdown."""
    tables = collect(lines)
    peers = sorted({line["peer"] for line in lines if line["peer"]})
    sites = any(line["engine"] == "host" for line in lines)
    head = ["product", "type", "results", "matrices", "fastest peer / ours", *peers,
            "ours slower by > 5 %", "worst"]
    head += ["chosen slower than the other site by > 10 %"] if sites else []
    rows = []
    for (product, kind, condition), problems in sorted(tables.items()):
        ratios = ratios_of(problems, fastest_peer)
        behind = slow(ratios)
        cells = [product, kind, condition, str(len(ratios)), text(mean(ratios.values()))]
        cells += [text(mean(ratios_of(problems, lambda row: row.get(peer)).values()))
                  for peer in peers]
        cells += [str(len(behind)), named(behind)]
        if sites:
            chosen = ratios_of(problems, faster_site)
            cells.append(named([pair for pair in slow(chosen) if pair[0] * 1.1 < 1]) or "none")
        rows.append(cells)
    return "".join("| " + " | ".join(cells) + " |\n"
                   for cells in [head, ["---"] * len(head), *rows])


def natural(product):
    """Returns a sort key with A*X 8 before A*X 64."""
    return [int(part) if part.isdigit() else part for part in product.split()]


def setting(lines):
    """Returns our device and the peers of one machine's lines as text."""
    ours = next(line for line in lines if line["engine"] == "auto")
    peers = sorted({f"{PEER_NAMES[line['peer']]} {line['version']}"
                    for line in lines if line["peer"]})
    return f"{ours['device']}, {ours['threads']} threads, {', '.join(peers)}"


def mean_of(ratios):
    return f"{mean(ratios.values()):.2f} ({len(slow(ratios))}/{len(ratios)})" if ratios else "-"


def items(lines):
    """Returns an item for each product, with geometric means of the fastest peer's time over ours."""
    ratios, products = {}, {}
    for (product, kind, condition), problems in collect(lines).items():
        products[product] = None
        ratios.setdefault((product, condition), {}).update(
            {(problem, kind): r for problem, r in ratios_of(problems, fastest_peer).items()})
    if not products:
        return ""
    text = f"{setting(lines)}: {', '.join(CONDITIONS)}\n\n"
    for product in sorted(products, key=natural):
        cells = [mean_of(ratios.get((product, condition), {})) for condition in CONDITIONS]
        text += f"- {product.replace(' ', '-')}: {', '.join(cells)}\n"
    return text


def failures(lines):
    seen = {f"{line['problem']} {product_of(line)} {line['type']}, {who_of(line)}: "
            f"{line['error']}": None for line in lines if line["error"]}
    return "".join(f"- {said}\n" for said in seen)


def conditions(lines):
    names = {}
    for line in lines:
        names[f"{who_of(line)} {line['version']} ({line['device']}, {line['threads']} threads)"] = 0
    dates = sorted({line["date"][:10] for line in lines})
    commits = sorted({line["commit"] or "unknown" for line in lines})
    return f"{', '.join(dates)}, commit {', '.join(commits)}: {'; '.join(names)}.\n"


def show_table(lines):
    print("\n" + conditions(lines) + "\n" + table(lines))
    if failures(lines):
        print("Without a time:\n\n" + failures(lines))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    show_table(list(read(sys.argv[1:])))
