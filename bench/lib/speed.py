#!/usr/bin/env python3
"""bench/lib/speed.py - the rows of the README's table of speed, and of its picture.

A row compares this library with the fastest other program, product by product. The ratio of a
product is the time of the fastest other program over ours; above 1, ours is faster. Rows are made
from lines of bench/results: large generated matrices and operands on the GPU are measured by
hybrid_spmm_bench and peers.py, real matrices by real.py. A module of check_readme.py.
"""
import collections
import math

import real_table
from compared import CPU, GPU, end_to_end, fastest, in_core, program, seconds
from summary import PEER_NAMES

Pair = collections.namedtuple("Pair", "matrix ratio program")
Row = collections.namedtuple("Row", "label pairs")


# ---- pairs ---------------------------------------------------------------------------------

def large(lines):
    """Yields pairs of A*A, and of A*X with 128 columns: host arrays, f32, results freed."""
    for name, row_of in end_to_end(lines).items():
        peer = fastest([line for who, line in row_of.items() if who not in (GPU, CPU)], "freed_s")
        if GPU in row_of and peer:
            ratio = seconds(peer, "freed_s") / seconds(row_of[GPU], "freed_s")
            yield Pair(name.split(" ", 1)[1], ratio, program(peer))


def machine(lines):
    """Returns the backend that this library chose."""
    return next((line["backend"] for line in lines if line.get("engine") == "auto"
                 and line["backend"] == "cuda"), "host")


def real(lines, backend, condition, products, neighbour=False):
    """Yields pairs of real matrices with host arrays. Names are those of real_table. With
    `neighbour`, the lines are of calls beside threads of PyTorch that spin."""
    files = collections.defaultdict(list)
    for line in lines:
        if line["mode"] == "real" and bool(line.get("neighbour")) == neighbour:
            files[line["file"]].append(line)
    chosen = [line for file in files.values() if machine(file) == backend for line in file]
    for (product, _, when), problems in real_table.collect(chosen).items():
        if when != condition or product not in products:
            continue
        for problem, times in problems.items():
            peers = {who: s for who, s in times.items() if not who.startswith(real_table.OURS)}
            if real_table.OURS in times and peers:
                who = min(peers, key=peers.get)
                yield Pair(problem, peers[who] / times[real_table.OURS], PEER_NAMES[who])


def on_gpu(lines, *keys):
    """Yields pairs with operands and result on the GPU. Keys are those of compared.in_core()."""
    for kind in ("f32", "f64"):
        for problem, cells in in_core(lines, kind).items():
            for key in keys:
                ours, theirs = cells.get(key, (None, None))
                if ours and theirs:
                    yield Pair(problem, theirs / ours, PEER_NAMES["cusparse"])


def device(lines, mine, *columns):
    """Yields pairs of whole calls with operands and result on the GPU, from lines of device.py."""
    for line in lines:
        if line["mode"] != "device" or line["cols"] not in columns:
            continue
        peers = {who: s for who, s in line["times"].items() if who in PEER_NAMES}
        if peers:
            who = min(peers, key=peers.get)
            yield Pair(line["problem"], peers[who] / line["times"][mine], PEER_NAMES[who])


# ---- rows ----------------------------------------------------------------------------------

EVERY = ["A*A", "A*X 1", "A*X 8", "A*X 64"]
ROWS = [
    ("Large generated matrices: A·A, and A·X with 128 columns", large),
    ("Real matrices: A·A", lambda lines: real(lines, "cuda", "freed", EVERY[:1])),
    ("Real matrices: A·X with 8 or 64 columns",
     lambda lines: real(lines, "cuda", "freed", EVERY[2:])),
    ("Real matrices: A·x", lambda lines: real(lines, "cuda", "freed", EVERY[1:2])),
    ("First calls, real matrices: A·A, A·X, A·x",
     lambda lines: real(lines, "cuda", "first", EVERY)),
    ("Real matrices, beside spinning threads: A·A, A·X, A·x",
     lambda lines: real(lines, "cuda", "freed", EVERY, neighbour=True)),
    ("Real matrices, two CPU cores: A·A, A·X, A·x",
     lambda lines: real(lines, "host", "freed", EVERY)),
    ("On the GPU, one call: A·A", lambda lines: device(lines, "once", None)),
    ("On the GPU: A·A with new values",
     lambda lines: on_gpu(lines, ("A*A again", "kernels_s"))),
    ("On the GPU, one call: A·X with 8 or 64 columns",
     lambda lines: device(lines, "once", 8, 64)),
    ("On the GPU, with a plan: A·X with 8 or 64 columns",
     lambda lines: device(lines, "plan", 8, 64)),
]


def mean(ratios):
    """Returns the geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def rows(lines):
    """Yields every row of the table. A row has no pairs if the lines have no such products."""
    for label, pairs_of in ROWS:
        yield Row(label, list(pairs_of(lines)))


def ratio(row):
    return mean([pair.ratio for pair in row.pairs])


def times(ratio):
    """Returns a ratio with two digits."""
    return f"{ratio:.2f}" if ratio < 0.995 else f"{ratio:.1f}"


def cells(row):
    if not row.pairs:
        return [row.label, "-", "-", "-"]
    program_of = collections.Counter(pair.program for pair in row.pairs)
    matrices = {pair.matrix for pair in row.pairs}
    slower = {pair.matrix for pair in row.pairs if pair.ratio < 1}
    return [row.label, program_of.most_common(1)[0][0], times(ratio(row)),
            f"{len(slower)}/{len(matrices)}"]


def listed(names):
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def setting(lines):
    """Returns a sentence with the dates and machines of the lines."""
    days = {line["date"][:10] for line in lines}
    ours = [line for line in lines if not line.get("peer")]
    gpus = {line["device"].split(",")[0] for line in ours if line["backend"] == "cuda"}
    hosts = {(line["threads"], line["device"]) for line in ours if line["backend"] == "host"
             and not line.get("device_memory") and line["mode"] == "real"}
    cores = [f"{threads} cores of {device.replace('(R)', '')}" for threads, device in hosts]
    return f"Measured {listed(sorted(days))} on {listed([*sorted(gpus), *sorted(cores)])}.\n\n"


HEAD = ["Product and data", "Fastest other program", "Times as fast", "Slower on"]
