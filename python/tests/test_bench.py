"""bench/python_peers.py: every part gives lines, and results that are wrong are found."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import integers

import hybrid_spmm as hs

BENCH = Path(__file__).parents[2] / "bench"
pytestmark = pytest.mark.skipif(not BENCH.exists(), reason="the bench is not in an sdist")


@pytest.fixture
def matrix(tmp_path, rng):
    hs.write_mtx(tmp_path / "wide.mtx", integers(rng, (60, 40), 0.1))
    return tmp_path / "wide.mtx"


def test_every_part_gives_lines(matrix):
    lines = matrix.with_suffix(".jsonl")
    options = ["--peers", "scipy", "--seconds", "60", "--stencil", "6", "--json", str(lines)]
    command = [sys.executable, str(BENCH / "python_peers.py"), str(matrix), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [json.loads(line) for line in lines.read_text().splitlines()]
    assert all(line["machine"] and line["date"] and not line.get("error") for line in found)
    products = {(line["peer"], line["op"], line["cols"]) for line in found if "cols" in line}
    wanted = [("spgemm", None), ("spmm", 1), ("spmm", 8), ("spmm", 64)]
    assert products >= {(peer, *product) for peer in (None, "scipy") for product in wanted}
    host = [line for line in found if line["arrays"] == "numpy"]
    for line in host:
        if line["mode"] == "layer":
            assert 0 < line["library_s"] < line["call_s"]
            assert line["layer_s"] == line["python_s"] - line["theirs_s"]
            assert (line["theirs_s"] > 0) == (line["op"] == "operator.matvec(x)")
        elif line["mode"] == "solver":
            assert line["first_s"] > 0 and (line["peer"] == "scipy") == (line["verified"] is None)
        else:
            assert line["quiet_first_s"] > 0 and line["quiet_s"] > 0
            assert line["verified"] or line["peer"] == "scipy"
    assert {line["mode"] for line in host} == {"layer", "solver", "python"}


@pytest.mark.parametrize("columns", [None, 1, 8])
def test_wrong_results_are_found(monkeypatch, matrix, columns):
    monkeypatch.syspath_prepend(str(BENCH))
    import python_peers
    import python_programs
    import real_peers

    p = real_peers.Problem(str(matrix))
    p.take(np.float64, columns)
    reference = python_peers.Reference(p)
    first, second = python_programs.SciPy().bind(p)(), python_programs.Ours().bind(p)()
    for result in (first, second):
        c = python_peers.Contender(None)
        reference.check(c, result)
        assert not c.error
    values = second.data if columns is None else second
    values[7] += 0.01
    c = python_peers.Contender(None)
    reference.check(c, second)
    assert c.error.startswith("wrong: ") and c.verified is False
