"""HTML for Jupyter: small tables."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and values."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{escape(title)}</caption>{body}</table>"


def text(title: str, body: str) -> str:
    """Return text that keeps its columns, under a title."""
    return f"<details open><summary>{escape(title)}</summary><pre>{escape(body)}</pre></details>"
