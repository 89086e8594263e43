"""Progress, interrupts, traces and reports of calls."""

import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import integers, users

import hybrid_spmm as hs
from hybrid_spmm._native import handle
from hybrid_spmm._operands import arrays

LONG = 60_000  # rows of a matrix whose square takes seconds on two cores


@pytest.fixture(scope="module")
def wide():
    """A matrix whose square takes several seconds."""
    rng = np.random.default_rng(3)
    columns = np.sort(rng.integers(0, LONG, (LONG, 60)), axis=1).astype(np.int32)
    A = sp.csr_array(
        (np.ones(columns.size), columns.ravel(), np.arange(0, columns.size + 1, 60)),
        shape=(LONG, LONG),
    )
    A.sum_duplicates()
    return A


@pytest.mark.parametrize("use", ["matmul", "plan"])
def test_an_interrupt_ends_a_call_and_leaves_the_engine_usable(engine, wide, use, interruptible):
    small = sp.csr_array(sp.eye(5))
    product = engine.plan(wide, wide) if use == "plan" else engine.matmul
    began = [0.0]

    def interrupt():
        began[0] = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        product(wide, wide)
    took = time.monotonic() - began[0]
    timer.join()
    assert 0 < took < 20  # seconds; about one on an idle machine
    assert engine.matmul(small, small).nnz == 5


def test_an_interrupt_is_not_printed_and_not_lost():
    code = (
        "import numpy as np, scipy.sparse as sp, hybrid_spmm as hs, os, signal, threading\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "i = np.random.default_rng(0).integers(0, 60000, (2, 3600000))\n"
        "A = sp.csr_array(sp.coo_matrix((np.ones(3600000), i), shape=(60000, 60000)))\n"
        "engine = hs.Engine(backend='host', threads=2)  # others would have finished\n"
        "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    engine.matmul(A, A)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', engine.matmul(A[:5], A[:, :5]).shape)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("interrupted (5, 5)\n", "")


class Interrupts:
    """Sends SIGINT at some moment after every ``ready.release()``, from a thread."""

    def __init__(self, count):
        self.ready = threading.Semaphore(0)
        self.thread = threading.Thread(target=self.send, args=(count,), daemon=True)
        self.thread.start()

    def send(self, count):
        rng = np.random.default_rng(0)
        for wait in rng.uniform(0, 2e-4, count):
            self.ready.acquire()
            end = time.perf_counter() + wait
            while time.perf_counter() < end:
                pass
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("kind", ["sparse", "dense", "plan"])
def test_interrupts_arrive_between_small_calls(engine, rng, interruptible, monkeypatch, kind):
    """Each interrupt ends a loop of short calls, and none of them costs a result its pages."""
    gc.collect()  # frees the engines of other tests
    dropped = []
    monkeypatch.setattr(sys, "unraisablehook", lambda dropping: dropped.append(repr(dropping)))
    A, X = integers(rng, (100, 100)), np.ones((100, 100))
    plan = engine.plan(A, A)
    call = {
        "sparse": lambda: engine.matmul(A, A),
        "dense": lambda: engine.matmul(A, X),
        "plan": lambda: plan(A, A),
    }[kind]

    # Python may run a signal handler where a loop begins anew, which a `try` around that loop
    # does not cover in every version; what surrounds a call always covers the function.
    def call_until_interrupted():
        interrupts.ready.release()
        while not dropped:
            call()

    interrupts = Interrupts(300)
    for _ in range(300):
        with contextlib.suppress(KeyboardInterrupt):
            call_until_interrupted()
        assert not dropped
    interrupts.thread.join()
    call = plan = None
    gc.collect()
    assert not users(engine) and not engine._handle.lock.locked()
    assert engine.matmul(A, A).shape == (100, 100)


@pytest.mark.parametrize("columns", [1, 100])
def test_calls_of_few_entries_and_many_rows_can_be_interrupted(engine, monkeypatch, columns):
    """They listen for interrupts, as calls with many entries do; short calls do not."""
    heard = []
    original = handle.Handle.heard
    monkeypatch.setattr(
        handle.Handle, "heard", lambda *a: heard.append(a[1].__name__) or original(*a)
    )
    for rows, long in ((1000, False), (2_000_000 // columns, True)):
        offsets = np.full(rows + 1, 2)
        offsets[:2] = 0, 1
        A = sp.csr_array((np.ones(2), np.arange(2, dtype=np.int32), offsets), shape=(rows, 2))
        del heard[:]
        assert engine.matmul(A, np.ones((2, columns))).sum() == 2 * columns
        assert ("hybrid_spmm_with" in heard) == long
        if columns == 1:
            assert engine.matmul(A, np.ones(2)).sum() == 2
            assert engine.matmul(A, sp.csr_array(np.eye(2))).nnz == 2
            assert ("hybrid_spgemm_with" in heard) == long


def test_an_interrupt_ends_a_copy(monkeypatch, interruptible):
    X = np.asfortranarray(np.arange(4e6).reshape(2, -1)[:, ::2])
    for piece in (1000, 10**6):
        monkeypatch.setattr(arrays, "PIECE", piece)
        for array in (X, X.T, X[0]):
            assert np.array_equal(arrays.copy_of(array, np.float32), array)
    monkeypatch.setattr(arrays, "PIECE", 8)  # copying pieces of 8 bytes takes a second
    timer = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        for _ in range(100):
            arrays.copy_of(X, np.float32)
    timer.join()


def test_progress_calls_a_function(engine, wide):
    told = []
    C = engine.matmul(wide[:4000], wide, progress=lambda done, rows: told.append((done, rows)))
    assert told[-1] == (4000, 4000) and C.shape[0] == 4000
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    del told[:]
    plan = engine.plan(wide, 2)
    plan(wide, np.ones((LONG, 2)), progress=lambda done, rows: told.append((done, rows)))
    assert told[-1] == (LONG, LONG)
    del told[:]
    engine.matmul(wide, np.ones(LONG))
    assert not told


def test_an_exception_of_the_progress_function_ends_the_call(engine, wide):
    class Enough(Exception):
        pass

    def stop(done, rows):
        raise Enough(rows)

    with pytest.raises(Enough, match=str(LONG)):
        engine.matmul(wide, wide, progress=stop)
    assert engine.matmul(sp.csr_array(sp.eye(5)), np.ones(5)).sum() == 5


def test_calls_from_inside_a_function_are_refused(engine, wide):
    refused = []

    def nested(done, rows):
        with pytest.raises(hs.StateError, match="inside"):
            engine.matmul(wide, np.ones(LONG))
        with pytest.raises(hs.StateError, match="inside"):
            engine.close()
        refused.append(done)

    engine.matmul(wide[:2000], wide, progress=nested)
    assert refused


def test_progress_shows_tqdm(engine, wide, capfd):
    pytest.importorskip("tqdm")
    engine.matmul(wide[:4000], wide, progress=True)
    assert "4.00k" in capfd.readouterr().err


def test_progress_without_tqdm(engine, wide, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert engine.matmul(wide[:200], wide, progress=True).shape[0] == 200


def test_trace_writes_chrome_s_format(engine, wide, tmp_path):
    with engine.trace(tmp_path / "run.json"):
        engine.matmul(wide[:4000], wide)
    found = json.loads((tmp_path / "run.json").read_text())
    slices = [event for event in found["traceEvents"] if event["ph"] == "X"]
    assert slices and all(event["dur"] >= 0 and event["ts"] >= 0 for event in slices)
    assert sum(event["args"]["rows"] for event in slices if event["args"]["variant"]) > 0
    for tid in {event["tid"] for event in slices}:
        open_ends = []
        for event in [event for event in slices if event["tid"] == tid]:
            end = event["ts"] + event["dur"]
            while open_ends and open_ends[-1] <= event["ts"]:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)
    size = (tmp_path / "run.json").stat().st_size
    engine.matmul(wide[:20], wide)
    assert (tmp_path / "run.json").stat().st_size == size
    with pytest.raises(OSError):
        engine.trace(tmp_path / "absent" / "run.json")


def test_traces_begin_and_end_in_any_order(rng, tmp_path):
    A = integers(rng, (60, 60))
    engine = hs.Engine(backend="host", threads=1)
    first = engine.trace(tmp_path / "first.json")
    engine.matmul(A, A)
    second = engine.trace(tmp_path / "second.json")  # opening the second trace closes the first
    engine.matmul(A, A)
    panels = engine.matmul_rows(A, A)
    next(panels)
    with pytest.raises(hs.StateError, match="matmul_rows"):
        second.close()
    panels.close()
    engine.matmul(A, A)
    engine.close()
    first.close()
    for name in ("first", "second"):
        assert json.loads((tmp_path / f"{name}.json").read_text())["traceEvents"]
    engine = hs.Engine(backend="host", threads=1)
    engine.trace(tmp_path / "third.json")
    del engine  # the engine ends with a trace that was not closed
    gc.collect()
    assert not (tmp_path / "third.json").exists()


def test_a_trace_that_cannot_be_written_is_an_error(engine, rng, tmp_path):
    A = integers(rng, (60, 60))
    (tmp_path / "folder").mkdir()
    trace = engine.trace(tmp_path / "folder" / "run.json")
    engine.matmul(A, A)
    (tmp_path / "folder").rmdir()
    with pytest.raises(hs.FileError, match="folder"):
        trace.close()
    trace.close()
    engine.matmul(A, A)


def test_a_trace_is_written_as_the_process_ends(tmp_path):
    code = (
        "import hybrid_spmm as hs, scipy.sparse as sp\n"
        f"hs.trace({str(tmp_path / 'run.json')!r})\n"
        "hs.matmul(sp.csr_array(sp.eye(50)), sp.csr_array(sp.eye(50)))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert json.loads((tmp_path / "run.json").read_text())["traceEvents"]


def test_reports_of_engines_and_plans(engine, rng):
    A = integers(rng, (50, 50))
    with pytest.raises(hs.ShapeError):
        engine.matmul(A, A[:3])
    with pytest.raises(hs.StateError, match="nothing was multiplied on this engine yet"):
        engine.last_report()
    C = engine.matmul(A, A)
    report = engine.last_report()
    products = int((A.astype(bool).astype(int) @ A.astype(bool).astype(int)).sum())
    assert (report.rows, report.nnz_out, report.flops) == (50, C.nnz, 2 * products)
    assert report.total_s > 0 and set(report.use) >= {"cores", "host memory", "device"}
    plan = engine.plan(A, A)
    plan(A, A)
    plan(A, A)
    assert plan.report().reused_pattern and not report.reused_pattern
    assert "flops" in report._repr_html_() and "<pre>" in plan._repr_html_()
    assert len(plan.explain()) > 100 and "spgemm" in plan.details()


def test_options_of_plans(engine, rng):
    A, X = integers(rng, (50, 50)), np.ones((50, 3))
    expected = A @ X
    for options in (
        {"deterministic": True},
        {"resident": True},
        {"variant": "spmm.host"},
        {"split": "host"},
        {"chunk_rows": 7, "depth": 2},
        {"explain": True},
    ):
        plan = engine.plan(A, X, **options)
        assert (plan(A, X) == expected).all()
    for options, error in (
        ({"variant": "spmm.cuda"}, hs.Error),
        ({"split": "both"}, ValueError),
        ({"split": "gpu"}, OSError),
    ):
        with pytest.raises(error):
            engine.plan(A, X, **options)
    with pytest.raises(ValueError, match="resident"):
        engine.plan(A, A, resident=True)
    with pytest.raises(TypeError):
        engine.plan(A, X, colour="red")


def test_plans_refuse_other_patterns(engine, rng):
    A, X = integers(rng, (50, 50)), np.ones((50, 3))
    B = A.copy()
    row = int(np.flatnonzero(np.diff(B.indptr) < 50)[0])
    free = np.setdiff1d(np.arange(50), B.indices[B.indptr[row] : B.indptr[row + 1]])
    B.indices = B.indices.copy()
    B.indices[B.indptr[row]] = free[0]
    B.sort_indices()
    for cls in (sp.csr_array, sp.csc_array):
        for left, right in ((cls(A), sp.csr_array(A)), (cls(A), sp.csc_array(A)), (cls(A), X)):
            plan = engine.plan(left, right)
            assert abs(plan(left, right) - left @ right).sum() == 0
            assert abs(plan(left * 2, right) - 2 * left @ right).sum() == 0
            with pytest.raises(hs.StateError):
                plan(cls(B), right)
            if right is not X:
                with pytest.raises(hs.StateError):
                    plan(left, type(right)(B))
    with pytest.raises(hs.StateError, match="columns"):
        engine.plan(A, X)(A, np.ones((50, 4)))
    with pytest.raises(hs.StateError, match="float32"):
        engine.plan(A, X)(A.astype(np.float32), X.astype(np.float32))


def test_resident_plans_notice_other_values(engine, rng):
    A, X = integers(rng, (50, 50)), np.ones((50, 3))
    plan = engine.plan(A, X, resident=True)
    assert (plan(A, X) == A @ X).all()
    assert (plan(A * 2, X) == 2 * (A @ X)).all()
    A.data *= 3
    plan.refresh()
    assert (plan(A, X) == A @ X).all()
