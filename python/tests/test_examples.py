"""The programs of examples/ check their own answers; the notebook is rendered in docs/."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOK = EXAMPLES / "common_neighbours.ipynb"
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_a_program_runs_and_finds_its_answer_right(path):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300)
    if done.stderr.startswith("skipped: "):
        if os.environ.get("HYBRID_REQUIRE_GPU") and "GPU" in done.stderr:
            pytest.fail(done.stderr)
        pytest.skip(done.stderr.strip().removeprefix("skipped: "))
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_page_of_the_notebook_is_what_it_prints():
    pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    convert = ["nbconvert", "--execute", "--to", "markdown"]
    done = subprocess.run(
        [sys.executable, "-m", *convert, "--stdout", NOTEBOOK],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    page = (DOCS / NOTEBOOK.with_suffix(".md").name).read_text()
    # Versions of nbconvert differ in empty lines.
    assert page.split() == done.stdout.split(), f"run: jupyter {' '.join(convert)} " + (
        "--output-dir docs python/examples/common_neighbours.ipynb"
    )
