"""The table of versions agrees with what the package demands, and can be found wanting."""

import re
from pathlib import Path

import pytest
import versions

PROJECT = Path(__file__).parents[1] / "pyproject.toml"

if not versions.PAGE.exists():
    pytest.skip("the documents are not in an sdist", allow_module_level=True)


def test_the_oldest_versions_are_those_that_the_package_demands():
    demanded = dict(re.findall(r'"?(\w+)(?:"? = "|)>=(\d+\.\d+)', PROJECT.read_text()))
    table = versions.read()
    python = re.search(r'requires-python = ">=([\d.]+)"', PROJECT.read_text())
    assert table["Python"][0] == versions.minor(python[1])
    assert table["NumPy"][0] == versions.minor(demanded["numpy"])
    assert table["SciPy"][0] == versions.minor(demanded["scipy"])
    assert all(oldest <= newest for oldest, newest in table.values())


def test_the_page_is_what_the_tests_write(monkeypatch, tmp_path):
    page = versions.PAGE.read_text()
    table = versions.read()
    monkeypatch.setattr(versions, "PAGE", tmp_path / "page.md")
    versions.write(table)
    assert versions.PAGE.read_text() == page


def test_versions_that_the_table_lacks_are_found(monkeypatch, tmp_path):
    monkeypatch.setattr(versions, "PAGE", tmp_path / "page.md")
    found = versions.running()
    older = {name: ((0, 1), (0, 2)) for name in found}
    versions.write(older)
    monkeypatch.setenv("HYBRID_SPMM_VERSIONS", "check")
    assert "does not have" in versions.finish()
    monkeypatch.setenv("HYBRID_SPMM_VERSIONS", "write")
    assert versions.finish() == ""
    assert versions.read() == {name: ((0, 1), version) for name, version in found.items()}
    monkeypatch.setenv("HYBRID_SPMM_VERSIONS", "check")
    assert versions.finish() == ""
