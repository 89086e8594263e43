"""Progress of long calls: tqdm's bar, or a function of the caller."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .._native.listen import Show

Progress = bool | Callable[[int, int], object]


@contextlib.contextmanager
def showing(progress: Progress) -> Iterator[Show | None]:
    """Yield the function that is told rows done and rows, for True that of a tqdm bar."""
    if not progress:
        yield None
    elif callable(progress):
        yield progress
    else:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            yield None
            return
        with tqdm(unit="row", unit_scale=True) as bar:
            yield bar_updater(bar)


def bar_updater(bar: Any) -> Show:
    """Return a function that moves a bar of tqdm."""

    def show(done: int, rows: int) -> None:
        if bar.total != rows:
            bar.reset(total=rows)
        bar.update(done - bar.n)

    return show
