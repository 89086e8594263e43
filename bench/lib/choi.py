#!/usr/bin/env python3
"""bench/lib/choi.py LINES [--svg FILE] [--doc FILE] [--keep FILE] - tables and picture of choi.sh.

For each variant and type, and each matrix, the fraction of the exhaustive optimum is the time
of the fastest kernel over the time of the kernel that a rule picks. The tables have the mean and
the median over all matrices, which Fig. 13 of Choi, Singh and Vuduc gives as 0.865 and 0.926 for
the kernels that are not the best. --doc writes the summary between the marks of docs/papers.md.
--keep writes the lines that suffice for all of this: of each case, the kernels that were picked and
the fastest one, which gets the number of kernels searched and the model's median error.
"""
import argparse
import json
import statistics
import sys

import svg

RULES = {"model": "model", "bytes": "fewest bytes"}
DEFAULTS = ("default, model", "default, bytes")  # the form that runs without paper=1
GOAL_MEAN, GOAL_MEDIAN = 0.865, 0.926
SUMMARY = ("| variant | type | matrices | model: mean, median, least | fewest bytes: mean, median, "
           "least | time of the default form by model, bytes / best of the paper's form | error of the model |")


def read(path):
    """Returns the head of the file, and its lines by (variant, type, problem)."""
    head, cases = {}, {}
    with open(path, encoding="utf-8") as lines:
        for text in lines:
            line = json.loads(text)
            if "device" in line:
                head = line
            else:
                key = (line["variant"], line["type"], line["problem"])
                cases.setdefault(key, []).append(line)
    return head, cases


def shape(line):
    lanes = f", {line['R']}" if line["R"] else ""
    return f"{line['r']} x {line['c']}{lanes}"


def summary(lines):
    """Returns the fastest kernel of a case in the paper's form, and what the rules pick."""
    good = [x for x in lines if not x["failed"]]
    paper = [x for x in good if x["pick"] not in DEFAULTS]
    if all(x["pick"] for x in paper):  # skipped, because the lines have no exhaustive search
        return None
    picks = {x["pick"]: x for x in good if x["pick"]}
    best = min(paper, key=lambda x: x["kernel_s"])
    searched = [x for x in good if not x["pick"]]
    return {"best": best, "picks": picks,
            "searched": searched[0].get("searched", len(searched)),
            "part": {rule: best["kernel_s"] / picks[rule]["kernel_s"]
                     for rule in (*RULES, *DEFAULTS) if rule in picks},
            "error": searched[0].get("model_error", statistics.median(
                abs(x["model_s"] - x["kernel_s"]) / x["kernel_s"] for x in searched))}


def table(cases, variant, kind):
    """Prints one line for each matrix, and returns the fractions of each rule."""
    parts, errors = {rule: [] for rule in (*RULES, *DEFAULTS)}, []
    print("| matrix | best r x c, R | us | model picks | of the best | fewest bytes picks "
          "| of the best | default form by model, us | by bytes, us |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for (v, t, problem), lines in cases.items():
        found = summary(lines) if (v, t) == (variant, kind) else None
        if not found:
            continue
        cells = [problem, shape(found["best"]), f"{1e6 * found['best']['kernel_s']:.1f}"]
        for rule in RULES:
            if rule in found["part"]:
                cells += [shape(found["picks"][rule]), f"{found['part'][rule]:.2f}"]
            else:
                cells += ["failed", "-"]
        for rule in DEFAULTS:
            own = found["picks"].get(rule)
            cells.append(f"{shape(own)}: {1e6 * own['kernel_s']:.1f}" if own else "-")
        print("| " + " | ".join(cells) + " |")
        whole = all(rule in found["part"] for rule in DEFAULTS)
        for rule, part in found["part"].items():
            if rule in RULES or whole:
                parts[rule].append(part)
        errors.append(found["error"])
    return parts, errors


def row_of(variant, kind, parts, errors):
    """Returns the line of a variant and type in the summary."""
    cells = [variant, kind, str(len(parts["model"]))]
    for rule in RULES:
        values = parts[rule] or [float("nan")]
        cells.append(f"{statistics.mean(values):.3f}, {statistics.median(values):.3f}, "
                     f"{min(values):.3f}")
    own = [parts[rule] or [float("nan")] for rule in DEFAULTS]
    cells.append(", ".join(f"{1 / statistics.geometric_mean(values):.2f}" for values in own))
    cells.append(f"{100 * statistics.median(errors):.0f} %" if errors else "-")
    return "| " + " | ".join(cells) + " |"


def fill(path, lines, head):
    """Replaces what is between the marks of the file by the summary."""
    begin, end = "<!-- choi.py begin -->\n", "<!-- choi.py end -->"
    with open(path, encoding="utf-8") as document:
        before, _, rest = document.read().partition(begin)
    _, mark, after = rest.partition(end)
    if not mark:
        sys.exit(f"{path}: the marks of choi.py are missing")
    where = f"{head.get('device')}, {head.get('date')}, commit {head.get('commit')}"
    with open(path, "w", encoding="utf-8") as document:
        document.write(before + begin + f"Measured on {where}.\n\n" + "\n".join(lines)
                       + "\n" + mark + after)


def keep(path, head, cases):
    with open(path, "w", encoding="utf-8") as out:
        print(json.dumps(head), file=out)
        for lines in cases.values():
            found = summary(lines)
            if not found:
                continue
            fastest = min((x for x in lines if not x["pick"] and not x["failed"]),
                          key=lambda x: x["kernel_s"])
            kept = dict(fastest, searched=found["searched"], model_error=found["error"])
            for line in (kept, *found["picks"].values()):
                print(json.dumps(line), file=out)


def verdict(parts, errors):
    for rule, said in RULES.items():
        values = parts[rule]
        if not values:
            continue
        others = [x for x in values if x < 1] or [1.0]
        mean, median = statistics.mean(values), statistics.median(values)
        met = "reaches" if mean >= GOAL_MEAN and median >= GOAL_MEDIAN else "misses"
        print(f"\n{said[0].upper() + said[1:]}: mean {mean:.3f}, median {median:.3f}, least "
              f"{min(values):.3f} of the optimum over {len(values)} matrices; mean "
              f"{statistics.mean(others):.3f}, median {statistics.median(others):.3f} over the "
              f"{sum(x < 1 for x in values)} that are not the best. It {met} {GOAL_MEAN} and "
              f"{GOAL_MEDIAN}.")
    if errors:
        print(f"\nThe model's time of a kernel errs by {100 * statistics.median(errors):.0f} % "
              f"(median of the medians of {len(errors)} matrices).")


def picture(groups):
    """Draws the fractions of both rules as bars, one panel for each variant and type."""
    bar, gap, left, height, top = 11, 10, 64, 150, 52
    drawn, y = "", top
    width = left + 60 + max(len(g) for g in groups.values()) * (2 * bar + gap)
    for (variant, kind), rows in groups.items():
        drawn += svg.text(left, y - 12, f"{variant}, {kind}", "mean")
        for level in (0, 0.5, 1):
            at = y + height * (1 - level)
            drawn += f'<path class="grid" d="M{left} {at:g}H{width - 24}"/>\n'
            drawn += svg.text(left - 8, at + 4, f"{level:g}", "faint", "end")
        for i, (problem, parts) in enumerate(rows):
            x = left + gap + i * (2 * bar + gap)
            for k, (rule, kind_of_bar) in enumerate((("model", "h2d"), ("bytes", "d2h"))):
                tall = height * min(parts.get(rule, 0), 1)
                drawn += (f'<rect class="{kind_of_bar}" x="{x + k * bar:g}" '
                          f'y="{y + height - tall:g}" width="{bar - 1}" height="{tall:g}">'
                          f"<title>{problem}, {RULES[rule]}: {parts.get(rule, 0):.2f}</title>"
                          "</rect>\n")
            drawn += (f'<text class="faint" transform="translate({x + bar:g} '
                      f'{y + height + 12:g}) rotate(35)">{problem}</text>\n')
        y += height + 130
    head = svg.text(left, 24, "Share of the exhaustive optimum: model (left), fewest bytes "
                    "(right)", "title")
    return svg.sheet(max(width, 620), y - 20, head + drawn)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lines")
    parser.add_argument("--svg")
    parser.add_argument("--doc")
    parser.add_argument("--keep")
    args = parser.parse_args()
    head, cases = read(args.lines)
    groups = {}
    lines = [SUMMARY, "| --- | --- | --- | --- | --- | --- | --- |"]
    for variant, kind in sorted({(v, t) for v, t, _ in cases}):
        print(f"\n**{variant}, {kind}** ({head.get('device', 'unknown device')}, "
              f"{head.get('date', '')}, {head.get('commit', '')})\n")
        parts, errors = table(cases, variant, kind)
        verdict(parts, errors)
        lines.append(row_of(variant, kind, parts, errors))
        rows = [(p, summary(x)["part"]) for (v, t, p), x in cases.items()
                if (v, t) == (variant, kind) and summary(x)]
        if rows:
            groups[variant, kind] = rows
    print("\n" + "\n".join(lines))
    if args.doc and groups:
        fill(args.doc, lines, head)
    if args.keep:
        keep(args.keep, head, cases)
    if args.svg and groups:
        with open(args.svg, "w", encoding="utf-8") as out:
            out.write(picture(groups))
    return 0 if groups else 1


if __name__ == "__main__":
    sys.exit(main())
