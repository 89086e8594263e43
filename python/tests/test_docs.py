"""docs/python.md is what Sphinx makes of the docstrings, and leaves nothing out."""

import dataclasses
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hybrid_spmm as hs

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
COMMAND = "python -m sphinx -E -q -b markdown -d build/doctrees python/docs docs"

if not PAGE.exists():
    pytest.skip("the documents are not in an sdist", allow_module_level=True)


def test_the_page_is_current(tmp_path):
    pytest.importorskip("sphinx_markdown_builder")
    command = [sys.executable, *COMMAND.replace("build/", f"{tmp_path}/").split()[1:-1]]
    subprocess.run([*command, str(tmp_path)], cwd=ROOT, check=True)
    assert (tmp_path / "python.md").read_text() == PAGE.read_text(), f"run: {COMMAND}"


def test_the_page_has_every_public_name():
    anchors = re.findall(r'<a id="hybrid_spmm\.([\w.]+)"></a>', PAGE.read_text())
    assert set(anchors) >= {*hs.__all__, "torch.matmul"}
    assert COMMAND in PAGE.read_text()


@pytest.mark.parametrize("cls", [hs.Report, hs.Use])
def test_every_field_of_a_report_is_described(cls):
    described = re.findall(r"^(\w+) : ", inspect.getdoc(cls), re.MULTILINE)
    assert described == [field.name for field in dataclasses.fields(cls)]


def test_links_lead_to_anchors():
    text = PAGE.read_text()
    links = set(re.findall(r"\]\(#([^)]+)\)", text))
    assert links and links <= set(re.findall(r'<a id="([^"]+)"></a>', text))
