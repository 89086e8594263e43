"""Products that are handed out in panels of rows."""

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import integers

import hybrid_spmm as hs


def assembled(panels, shape):
    rows, expected = [], 0
    for first, panel in panels:
        assert first == expected and panel.format == "csr" and panel.shape[1] == shape[1]
        assert panel.indices.base is None and panel.data.base is None
        expected += panel.shape[0]
        rows.append(panel)
    assert expected == shape[0]
    return sp.vstack(rows, format="csr") if rows else sp.csr_array(shape)


@pytest.mark.parametrize("left", [sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("right", [sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int16])
def test_panels_are_the_rows_of_the_product(engine, rng, left, right, kind):
    A, B = left(integers(rng, (50, 40), dtype=kind)), right(integers(rng, (40, 30), dtype=kind))
    C = assembled(engine.matmul_rows(A, B, chunk_rows=7), (50, 30))
    assert C.dtype == kind and abs(C - A @ B).sum() == 0
    for _, panel in engine.matmul_rows(A, B):
        assert isinstance(panel, sp.csr_array if isinstance(A, sp.sparray) else sp.csr_matrix)
        assert panel.has_canonical_format


def test_other_calls_are_refused_until_the_end(engine, rng):
    A = integers(rng, (50, 50))
    plan = engine.plan(A, A)
    panels = engine.matmul_rows(A, A, chunk_rows=3)
    engine.matmul(A, A)  # allowed, because the generator has not begun
    next(panels)
    for call in (
        lambda: engine.matmul(A, A),
        lambda: plan(A, A),
        engine.close,
        lambda: next(engine.matmul_rows(A, A)),
    ):
        with pytest.raises(hs.StateError, match="matmul_rows"):
            call()
    with hs.Engine(backend="host", threads=1) as other:
        other.matmul(A, A)
    panels.close()
    engine.matmul(A, A)
    assert list(panels) == []


@pytest.mark.parametrize("end", ["close", "del", "cycle", "raise", "exhaust"])
def test_the_engine_is_usable_after_any_end(engine, rng, end):
    A = integers(rng, (300, 300))
    panels = engine.matmul_rows(A, A, chunk_rows=3)
    next(panels)
    if end == "close":
        panels.close()
    if end == "del":
        del panels
    if end == "cycle":
        knot = [panels]
        knot.append(knot)
        del panels, knot
        gc.collect()
    if end == "raise":
        with pytest.raises(RuntimeError):
            panels.throw(RuntimeError)
    if end == "exhaust":
        for _ in panels:
            pass
    assert abs(engine.matmul(A, A) - A @ A).sum() == 0
    assert not [t for t in threading.enumerate() if t.name == "hybrid_spmm rows"]


def test_the_queue_is_bounded(engine, rng, monkeypatch):
    from hybrid_spmm._products import rows

    made = []
    copies = rows.copies
    monkeypatch.setattr(rows, "copies", lambda rows: made.append(1) or copies(rows))
    A = integers(rng, (300, 300))
    panels = engine.matmul_rows(A, A, chunk_rows=1)
    for taken in range(1, 20):
        next(panels)
        time.sleep(0.005)
        assert len(made) <= taken + rows.WAITING + 1
    panels.close()


def test_errors_come_before_the_first_panel_or_from_it(engine, rng):
    A = integers(rng, (30, 40))
    with pytest.raises(hs.ShapeError):
        engine.matmul_rows(A, A)
    with pytest.raises(TypeError, match="sparse"):
        engine.matmul_rows(A, np.ones((40, 2)))
    J = sp.csr_array(np.full((3, 3), 100, np.int8))
    with pytest.raises(OverflowError):
        list(engine.matmul_rows(J, J))
    assert engine.matmul(A, np.ones(40)).shape == (30,)
    big = sp.csr_array(np.array([[2**52, 2**52]]))
    with pytest.raises(OverflowError):
        engine.matmul_rows(big, sp.csr_array(np.ones((2, 1), int)))


def test_an_interrupt_while_waiting(engine, rng, interruptible):
    A = integers(rng, (2000, 2000), 0.3)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(1000):
            for _ in engine.matmul_rows(A, A):
                pass
    assert engine.matmul(A, np.ones(2000)).shape == (2000,)
