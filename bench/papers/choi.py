#!/usr/bin/env python3
"""bench/papers/choi.py LINES [--svg FILE] [--keep FILE] - tables and picture of choi.sh.

For each variant and type, and each matrix, the fraction of the exhaustive optimum is the time
of the fastest kernel over the time of the kernel that a rule picks. The tables have the mean and
the median over all matrices, which Fig. 13 of Choi, Singh and Vuduc gives as 0.865 and 0.926 for
the kernels that are not the best. --keep writes the lines that suffice for all of this: of each
case, the kernels that were picked and the fastest one, which gets the number of kernels searched
and the model's median error.
"""
import argparse
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import svg  # noqa: E402
from summary import read  # noqa: E402

RULES = {"model": "model", "bytes": "fewest bytes"}
DEFAULTS = ("default, model", "default, bytes")  # the form that runs without paper=1
GOAL_MEAN, GOAL_MEDIAN = 0.865, 0.926
BAR, GAP, LEFT, HEIGHT, DOWN = 11, 10, 64, 150, 280  # sizes in the picture; DOWN: of a row of panels
SUMMARY = ("| variant | type | matrices | model: mean, median, least | fewest bytes: mean, median, "
           "least | time of the default form by model, bytes / best of the paper's form | error of the model |")


def cases_of(lines):
    """Returns the line about the machine, and the others by (variant, type, problem)."""
    head, cases = {}, {}
    for line in lines:
        if "device" in line:
            head = line
        else:
            cases.setdefault((line["variant"], line["type"], line["problem"]), []).append(line)
    return head, cases


def kinds_of(cases):
    return sorted({(variant, kind) for variant, kind, _ in cases})


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


def fractions(cases, variant, kind):
    """Returns the fractions of each rule, and the errors of the model."""
    parts, errors = {rule: [] for rule in (*RULES, *DEFAULTS)}, []
    for (v, t, _), lines in cases.items():
        found = summary(lines) if (v, t) == (variant, kind) else None
        if not found:
            continue
        whole = all(rule in found["part"] for rule in DEFAULTS)
        for rule, part in found["part"].items():
            if rule in RULES or whole:
                parts[rule].append(part)
        errors.append(found["error"])
    return parts, errors


def table(cases, variant, kind):
    """Prints one line for each matrix."""
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


def tables(lines):
    """Returns the summary as Markdown."""
    head, cases = cases_of(lines)
    rows = [row_of(*key, *fractions(cases, *key)) for key in kinds_of(cases)]
    return (f"Measured on {head.get('device')}, {head.get('date')}, commit {head.get('commit')}.\n\n"
            + "\n".join([SUMMARY, "| --- |" + " --- |" * 6, *rows]) + "\n")


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


def panel(x, y, title, rows):
    """Draws the fractions of a variant and type. The top of the bars is at y."""
    x += LEFT
    drawn = svg.text(x, y - 12, title, "mean")
    for level in (0, 0.5, 1):
        at = y + HEIGHT * (1 - level)
        drawn += f'<path class="grid" d="M{x} {at:g}h{len(rows) * (2 * BAR + GAP) + GAP}"/>\n'
        drawn += svg.text(x - 8, at + 4, f"{level:g}", "faint", "end")
    for i, (problem, parts) in enumerate(rows):
        at = x + GAP + i * (2 * BAR + GAP)
        for k, (rule, kind_of_bar) in enumerate((("model", "h2d"), ("bytes", "d2h"))):
            tall = HEIGHT * min(parts.get(rule, 0), 1)
            drawn += (f'<rect class="{kind_of_bar}" x="{at + k * BAR:g}" '
                      f'y="{y + HEIGHT - tall:g}" width="{BAR - 1}" height="{tall:g}">'
                      f"<title>{problem}, {RULES[rule]}: {parts.get(rule, 0):.2f}</title>"
                      "</rect>\n")
        drawn += (f'<text class="faint" transform="translate({at + BAR:g} '
                  f'{y + HEIGHT + 12:g}) rotate(35)">{problem}</text>\n')
    return drawn


def picture(lines):
    """Draws the fractions of both rules as bars, one panel for each variant and type."""
    _, cases = cases_of(lines)
    groups = {key: [(p, summary(found)["part"]) for (v, t, p), found in cases.items()
                    if (v, t) == key and summary(found)] for key in kinds_of(cases)}
    groups = {key: rows for key, rows in groups.items() if rows}
    most = max(map(len, groups.values()))
    across = LEFT + most * (2 * BAR + GAP) + 60
    drawn = svg.text(LEFT, 24, "Share of the exhaustive optimum: model (left), fewest bytes (right)",
                     "title")
    for i, ((variant, kind), rows) in enumerate(groups.items()):
        drawn += panel(i % 2 * across, 72 + i // 2 * DOWN, f"{variant}, {kind}", rows)
    return svg.sheet(max(2 * across, 620), 50 + (len(groups) + 1) // 2 * DOWN, drawn)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lines")
    parser.add_argument("--svg")
    parser.add_argument("--keep")
    args = parser.parse_args()
    lines = list(read([args.lines]))
    head, cases = cases_of(lines)
    for variant, kind in kinds_of(cases):
        print(f"\n**{variant}, {kind}** ({head.get('device', 'unknown device')}, "
              f"{head.get('date', '')}, {head.get('commit', '')})\n")
        table(cases, variant, kind)
        verdict(*fractions(cases, variant, kind))
    print("\n" + tables(lines), end="")
    searched = any(summary(found) for found in cases.values())
    if args.keep:
        keep(args.keep, head, cases)
    if args.svg and searched:
        with open(args.svg, "w", encoding="utf-8") as out:
            out.write(picture(lines))
    return 0 if searched else 1


if __name__ == "__main__":
    sys.exit(main())
