"""Runs the test suites of other projects with their products computed by this library.

    foreign.py [--tenth] [sparse_dot_mkl | scipy | pyamg ...]

The tests of sparse_dot_mkl run with dot_product_mkl() replaced, those of SciPy and pyamg
under accelerate(). A test that fails is run again without the library: it has to fail then
too. ``--tenth`` runs the tests whose name has a hash that ends in 0, and leaves out SciPy's
tests without ``@`` or ``dot``. foreign_excluded.txt lists the tests that are left out, with
reasons.

Fails if a test fails, or if SciPy computed a product of float32 or float64 CSR operands.
"""

import collections
import fnmatch
import functools
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
import zlib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUITES = {
    "sparse_dot_mkl": "sparse_dot_mkl/tests",
    "scipy": "scipy/sparse/tests",
    "pyamg": "pyamg",
}
WHOLE = r"(csr|dense) float(32|64)"
FORBIDDEN = re.compile(f"{WHOLE} @ {WHOLE}: ")

# ---- the plugin, inside pytest ---------------------------------------------------------

suite = os.environ.get("HYBRID_FOREIGN", "")
plain = os.environ.get("HYBRID_FOREIGN_PLAIN")
counts = collections.Counter()
failed = []


def name_of(item):
    """Return the name of a test, which begins with its package."""
    path = str(item.path).rpartition("site-packages/")[2]
    return f"{path}::{item.nodeid.partition('::')[2]}"


def excluded():
    """Return pairs of a pattern of names and the reason."""
    lines = (HERE / "foreign_excluded.txt").read_text().splitlines()
    return [line.split(None, 1) for line in lines if line and not line.startswith("#")]


@functools.cache
def multiplies(function):
    """Return whether the source of a test contains a product."""
    source = inspect.getsource(function)
    return re.search(r" @ |\bdot\b|matmul|_mul_", source) is not None


def reason_to_skip(item, patterns):
    """Return why a test is left out; empty if it runs."""
    name = name_of(item)
    if os.environ.get("HYBRID_FOREIGN_TENTH"):
        if zlib.crc32(name.encode()) % 10:
            return "not of this tenth"
        if suite == "scipy" and not multiplies(getattr(item.function, "__func__", item.function)):
            return "without a product"
    bare = name.replace("[", "(").replace("]", ")")  # which fnmatch would take for a set
    for pattern, reason in patterns:
        if fnmatch.fnmatchcase(bare, pattern.replace("[", "(").replace("]", ")")):
            return reason
    return ""


def pytest_collection_modifyitems(config, items):
    patterns, kept, left = excluded(), [], []
    for item in items:
        reason = "" if plain else reason_to_skip(item, patterns)
        (left if reason else kept).append(item)
        if reason:
            counts[f"left out: {reason}"] += 1
    config.hook.pytest_deselected(items=left)
    items[:] = kept


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    if plain or suite == "sparse_dot_mkl":
        yield
    else:
        import hybrid_spmm as hs

        with hs.accelerate() as used:
            yield
        counts["products"] += used.products
        for reason, number in used.fallbacks.items():
            counts[f"fallback: {reason}"] += number


def pytest_runtest_logreport(report):
    if report.failed:
        failed.append(report.nodeid)
    elif report.skipped or report.when == "call":
        counts[report.outcome] += 1


def pytest_sessionstart():
    if suite == "sparse_dot_mkl" and not plain:
        import sparse_dot_mkl

        sparse_dot_mkl.dot_product_mkl = dot_product


def pytest_sessionfinish():
    Path(os.environ["HYBRID_FOREIGN_RESULT"]).write_text(json.dumps([counts, failed]))


def dot_product(
    a,
    b,
    cast=False,
    copy=True,
    reorder_output=False,
    dense=False,
    debug=False,
    out=None,
    out_scalar=None,
):
    """Return a @ b as sparse_dot_mkl's function of this signature does."""
    import scipy.sparse as sp

    import hybrid_spmm as hs

    if debug:
        warnings.warn("debug does nothing", DeprecationWarning, stacklevel=2)
    counts["products"] += 1
    beta = 0.0 if out is None else float(out_scalar or 0)
    if sp.issparse(a) and sp.issparse(b):
        C = hs.matmul(a, b)
        if not dense:
            return C
        C = C.toarray()
        if out is None:
            return C
        out[...] = C + beta * out if beta else C  # out may hold NaN when beta is 0
        return out
    return hs.matmul(a, b, out=out, beta=beta)


# ---- the program -----------------------------------------------------------------------


def run_pytest(name, paths, **environment):
    """Run pytest on a suite with the plugin; return its counts and the tests that failed."""
    site = Path(importlib.util.find_spec(name).origin).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        (Path(folder) / "pytest.ini").write_text("[pytest]\n")
        found = os.environ.get("PYTHONPATH", "")
        environment |= {
            "HYBRID_FOREIGN": name,
            "LD_LIBRARY_PATH": str(Path(sys.prefix) / "lib"),  # where pip installs MKL
            "MKL_NUM_THREADS": "1",  # its threads spin, and ours would wait for a core
            "HYBRID_FOREIGN_RESULT": str(result),
            "PYTHONPATH": f"{HERE}{os.pathsep}{found}" if found else str(HERE),
        }
        options = ["-c", f"{folder}/pytest.ini", f"--rootdir={site}", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "foreign", *options, *paths],
            cwd=site,
            env=os.environ | environment,
            capture_output=True,
            text=True,
        )
        if not result.exists():
            sys.exit(f"{name}: pytest did not run\n{done.stdout}{done.stderr}")
        counts, failed = json.loads(result.read_text())
        if done.returncode != bool(failed) or not (counts.get("passed") or failed):
            sys.exit(f"{name}: pytest ended with {done.returncode}\n{done.stdout[-4000:]}")
        return counts, failed, done.stdout


def by_reason(counts):
    """Return the counts of what was left out, and of fallbacks without operands and values."""
    result = collections.Counter()
    for what, number in counts.items():
        if what.startswith("fallback: "):
            what = "fallback: " + re.sub(r"\d{3,}", "N", what.split(": ", 2)[2])
        if what not in ("passed", "skipped", "products"):
            result[what] += number
    return result


def run(name, tenth):
    """Run a suite, print its counts, and return the reasons why it failed."""
    environment = {"HYBRID_FOREIGN_TENTH": "1"} if tenth else {}
    counts, failed, said = run_pytest(name, [SUITES[name]], **environment)
    broken = []
    if failed:
        _, still, _ = run_pytest(name, failed, HYBRID_FOREIGN_PLAIN="1")
        counts["failed without the library too"] = len(still)
        broken = sorted(set(failed) - set(still))
    told = (f"{counts.get(what, 0)} {what}" for what in ("passed", "skipped", "products"))
    print(f"{name}: {', '.join(told)}")
    for what, number in sorted(by_reason(counts).items()):
        print(f"  {number:6} {what}")
    if broken:
        print(said)
    return [f"{name}: {test} fails with the library alone" for test in broken] + [
        f"{name}: {what}" for what in counts if FORBIDDEN.search(what)
    ]


def main(arguments):
    tenth = "--tenth" in arguments
    names = [argument for argument in arguments if argument in SUITES] or list(SUITES)
    wrong = [reason for name in names for reason in run(name, tenth)]
    for reason in wrong:
        print(reason, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
