"""The table of versions that the package is tested with, docs/python-versions.md.

Tests that pass with HYBRID_SPMM_VERSIONS=write in the environment add the versions that they
ran with to the table; with HYBRID_SPMM_VERSIONS=check they fail if the table lacks these.
"""

import os
import platform
import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "python-versions.md"
MODULES = {"NumPy": "numpy", "SciPy": "scipy", "PyTorch": "torch", "CuPy": "cupy"}
TEXT = """\
# Versions that the Python package is tested with

`scripts/wheel --versions` writes this page: every test of the package has passed with the oldest
and with the newest version of each row. CuPy is tested on a machine with a GPU.

| | oldest | newest |
| --- | --- | --- |
"""


def minor(version):
    """Return major and minor of a version as numbers."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def running():
    """Return {name: version} of Python and of the libraries that the tests have imported."""
    found = {"Python": minor(platform.python_version())}
    for name, module in MODULES.items():
        version = getattr(sys.modules.get(module), "__version__", None)
        if version:
            found[name] = minor(version)
    return found


def read():
    """Return {name: (oldest, newest)} of the table."""
    text = PAGE.read_text() if PAGE.exists() else ""
    rows = re.findall(r"^\| (\w+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    return {name: (minor(oldest), minor(newest)) for name, oldest, newest in rows}


def widened(table, found):
    """Return the table with the versions that were found."""
    result = dict(table)
    for name, version in found.items():
        oldest, newest = table.get(name, (version, version))
        result[name] = min(oldest, version), max(newest, version)
    return result


def write(table):
    """Write the page."""
    names = [name for name in ("Python", *MODULES) if name in table]
    rows = [[name, *(".".join(map(str, version)) for version in table[name])] for name in names]
    PAGE.write_text(TEXT + "".join(f"| {' | '.join(row)} |\n" for row in rows))


def finish():
    """Add the versions of this run to the table, or return what the table lacks."""
    wish, table = os.environ.get("HYBRID_SPMM_VERSIONS"), read()
    wide = widened(table, running())
    if wish == "write":
        write(wide)
    elif wish == "check" and wide != table:
        return f"{PAGE} does not have these versions: {running()}; see its first lines"
    return ""
