"""Results, engines and plans: who keeps what alive, on which thread it ends."""

import copy
import gc
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import integers, oracle

import hybrid_spmm as hs
from hybrid_spmm import _engine
from hybrid_spmm._gpu import device_plans
from hybrid_spmm._products import accelerate, rows


def test_arrays_share_the_engine_s_pages_and_outlive_everything(rng):
    A = integers(rng, (40, 40))
    engine = hs.Engine(backend="host", threads=2)
    C = engine.matmul(A, A)
    expected = oracle(A.toarray(), A.toarray())
    handle = weakref.ref(C.data.base)
    part = C.data[3:9][::2]
    indptr = C.indptr
    values = part.copy()
    engine.close()
    assert (C.toarray() == expected).all()
    del C, engine
    gc.collect()
    assert handle() is not None and (part == values).all()
    del part
    assert handle() is not None and indptr[-1] == (expected != 0).sum()
    del indptr
    assert handle() is None


def test_the_engine_ends_with_the_last_result(rng, ended):
    A = integers(rng, (9, 9))
    engine = hs.Engine(backend="host", threads=1)
    C, D = engine.matmul(A, A), engine.matmul(A, np.ones((9, 2000)))
    plan = engine.plan(A, A)
    address = int(engine._handle.pointer)
    engine.close()
    del C
    assert address not in ended
    with pytest.raises(hs.StateError, match="closed"):
        plan(A, A)
    del plan
    assert address not in ended
    del D
    assert ended.count(address) == 1
    with pytest.raises(hs.StateError, match="closed"):
        engine.matmul(A, A)
    engine.close()
    other = hs.Engine(backend="host", threads=1)
    address, count = int(other._handle.pointer), len(ended)
    plan = other.plan(A, A)
    del other
    assert address not in ended[count:]
    assert (plan(A, A).toarray() == oracle(A.toarray(), A.toarray())).all()
    del plan
    assert address in ended[count:]


def test_cycles_are_collected_in_any_order(rng):
    A = integers(rng, (9, 9))
    for _ in range(20):
        engine = hs.Engine(backend="host", threads=1)
        knot = [
            engine,
            engine.plan(A, A),
            engine.matmul(A, A),
            engine.matmul(A, np.ones((9, 2000))),
        ]
        knot.append(knot)
        del engine, knot
        gc.collect()


def test_results_die_on_other_threads_while_the_engine_computes(engine, rng):
    A = integers(rng, (300, 300))
    expected = (A @ A).sum()
    results, failures = [], []

    def consume():
        while True:
            try:
                C = results.pop()
            except IndexError:
                time.sleep(0.001)
                continue
            if C is None:
                return
            if C.sum() != expected:
                failures.append(C)

    threads = [threading.Thread(target=consume) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(60):
        results.append(engine.matmul(A, A))
    results[:0] = [None] * 3
    for thread in threads:
        thread.join()
    assert not failures


def test_threads_share_an_engine_and_an_operand(engine, rng):
    A = integers(rng, (60, 60))
    expected = A @ A
    plan = engine.plan(A, A)
    failures = []

    def work():
        for _ in range(30):
            for C in (engine.matmul(A, A), plan(A, A), engine.matmul(A, A.toarray())):
                if abs(C - expected).sum() != 0:
                    failures.append(C)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_default_engine_starts_with_the_first_product():
    code = (
        "import hybrid_spmm as hs, hybrid_spmm._engine as e, threading, scipy.sparse as sp\n"
        "assert e._default is None\n"
        "A = sp.csr_array(sp.eye(50))\n"
        "t = [threading.Thread(target=hs.matmul, args=(A, A)) for _ in range(8)]\n"
        "[x.start() for x in t], [x.join() for x in t]\n"
        "assert e._all() == [e._default]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def in_child(work):
    """Run `work` in a forked child and return whether it succeeded."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.alarm(60)
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_children_make_engines_of_their_own(engine, rng):
    A = integers(rng, (60, 60))
    C, plan = engine.matmul(A, A), engine.plan(A, A)
    hs.matmul(A, A)
    expected = C.toarray()
    parent = engine._handle

    def work():
        assert (C.toarray() == expected).all()
        assert (hs.matmul(A, A).toarray() == expected).all()
        assert (engine.matmul(A, A).toarray() == expected).all()
        assert engine._handle is not parent
        with pytest.raises(hs.StateError, match="process"):
            plan(A, A)

    parent.lock.acquire()  # as if another thread of the parent were in a call
    try:
        assert in_child(work)
    finally:
        parent.lock.release()
    assert (plan(A, A).toarray() == expected).all()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_finds_locks_free(rng):
    A = integers(rng, (60, 60))
    held, done = threading.Event(), threading.Event()

    def hold():
        with _engine._lock, _engine._default_lock, device_plans._lock, accelerate._lock:
            held.set()
            done.wait()

    def work():
        with hs.accelerate(hs.Engine(backend="host")) as block:
            A @ A
        assert block.products == 1
        hs.default_engine()
        with device_plans._lock:
            pass

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        assert in_child(work)
    finally:
        done.set()
        thread.join()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_has_no_thread_that_computes_panels(engine, rng):
    panels = engine.matmul_rows(*[integers(rng, (60, 60))] * 2, chunk_rows=3)
    next(panels)

    def work():
        with pytest.raises(hs.StateError, match="process"):
            list(panels)
        assert list(panels) == []

    assert in_child(work)
    assert len(list(panels)) == 19


def test_a_child_of_a_parent_with_cuda_says_so_once(rng, caplog):
    """The engine is told that its parent used CUDA, which this machine need not have."""
    A = integers(rng, (6, 6))
    with hs.Engine(threads=1) as engine:
        if engine.backend == "cuda":
            pytest.skip("the CPU is taken in the child only")
        engine._handle.leave()
        engine._handle, engine._after_fork = None, True
        with caplog.at_level(logging.WARNING, "hybrid_spmm"):
            engine.matmul(A, A)
            engine.matmul(A, A)
    assert [r.message[:12] for r in caplog.records] == ["after a fork"]


def test_multiprocessing_after_a_product_of_the_parent():
    code = (
        "import multiprocessing as mp, hybrid_spmm as hs, scipy.sparse as sp\n"
        "A = sp.csr_array(sp.eye(50))\n"
        "def work(i): return hs.matmul(A, A * i).sum()\n"
        "if __name__ == '__main__':\n"
        "    hs.matmul(A, A)\n"
        "    with mp.get_context('fork').Pool(3) as pool:\n"
        "        assert pool.map(work, range(6)) == [50.0 * i for i in range(6)]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("size", [-1, 2**63, "8388608TiB", "9" * 400])
def test_sizes_that_no_memory_has(size):
    with pytest.raises(hs.ArgumentError, match="a size is "):
        hs.Engine(backend="host", host_memory=size)


def test_sizes_and_options(rng):
    A = integers(rng, (6, 6))
    with hs.Engine(backend="host", threads=2, host_memory="1GiB", device_memory=10**9) as engine:
        assert (engine.backend, engine.threads) == ("host", 2)
        assert "host, 2 threads" in repr(engine)
        engine.matmul(A, A)
        engine.trim()
    assert repr(engine) == "<hybrid_spmm.Engine, closed>"
    with (
        pytest.raises(hs.HostMemoryError),
        hs.Engine(backend="host", host_memory="20MiB") as engine,
    ):
        big = sp.csr_array(sp.eye(1 << 20))
        engine.matmul(big, big)
    for bad in (
        {"backend": "tpu"},
        {"host_memory": "8 bananas"},
        {"host_memory": -1},
        {"threads": -1},
    ):
        with pytest.raises(ValueError):
            hs.Engine(**bad)


def test_errors_are_also_those_of_python():
    for error, builtin in (
        (hs.ArgumentError, ValueError),
        (hs.MatrixError, ValueError),
        (hs.ShapeError, ValueError),
        (hs.FormatError, ValueError),
        (hs.HostMemoryError, MemoryError),
        (hs.DeviceMemoryError, MemoryError),
        (hs.FileError, OSError),
        (hs.DeviceNotFoundError, OSError),
        (hs.ExactnessError, OverflowError),
        (hs.OperandTypeError, TypeError),
    ):
        assert issubclass(error, builtin) and issubclass(error, hs.Error)
        assert str(error("a sentence")) == "a sentence"


# ---- devices that do not open --------------------------------------------------------


def test_devices_that_do_not_open():
    """Every GPU of the list must open, unless they are optional."""
    with pytest.raises(hs.DeviceNotFoundError):
        hs.Engine(devices=[65535])
    with hs.Engine(devices=[65535], devices_optional=True) as engine:
        assert engine.backend == "host"
        assert engine.left_out == engine.device != ""
    with hs.Engine(backend="host") as engine:
        assert engine.left_out == ""


@pytest.mark.parametrize("devices", [0, ["a"], [0.5]])
def test_devices_are_a_sequence_of_numbers(devices):
    with pytest.raises(hs.ArgumentError, match="it is a sequence of numbers, such as"):
        hs.Engine(devices=devices)


class Enough(Exception):
    pass


def enough(*_):
    raise Enough


def damaged():
    return sp.csr_array((np.ones(2), np.array([0, 7]), np.array([0, 1, 2])), shape=(2, 2))


def failing_panels(engine, A, monkeypatch):
    monkeypatch.setattr(rows, "copies", enough)
    list(engine.matmul_rows(A, A))


FAILING = {
    "sparse": lambda engine, A, _: engine.matmul(A, A, progress=enough),
    "dense": lambda engine, A, _: engine.matmul(A, np.ones((9, 2)), progress=enough),
    "plan": lambda engine, A, _: engine.plan(A, A)(A, A, progress=enough),
    "panels": failing_panels,
    "damaged times sparse": lambda engine, A, _: engine.matmul(damaged(), damaged()),
    "damaged times dense": lambda engine, A, _: engine.matmul(damaged(), np.ones((2, 2))),
    "damaged csc": lambda engine, A, _: engine.matmul(damaged().T, np.ones((2, 2))),
}


@pytest.fixture
def no_gc():
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("kind", FAILING)
def test_an_error_keeps_nothing_when_it_is_dropped(engine, rng, monkeypatch, no_gc, kind):
    """Its traceback has the operands and the result, which no cycle of references keeps."""
    A = integers(rng, (9, 9))
    try:
        FAILING[kind](engine, A, monkeypatch)
    except (Enough, hs.MatrixError) as error:
        dropped = weakref.ref(error)
    for thread in threading.enumerate():
        if thread.name == "hybrid_spmm rows":
            thread.join()
    assert dropped() is None


def opened(engine, A, folder):
    hs.write_mtx(folder / "A.npz", A)
    return engine.open(folder / "A.npz")


OWNERS = {
    "sparse plan": lambda engine, A, folder: engine.plan(A, A),
    "dense plan": lambda engine, A, folder: engine.plan(A, 3),
    "file": opened,
    "pin": lambda engine, A, folder: engine.pin(np.ones(1000)),
    "trace": lambda engine, A, folder: engine.trace(folder / "run.json"),
    "panels": lambda engine, A, folder: engine.matmul_rows(A, A, chunk_rows=1),
}


@pytest.mark.parametrize(("kind", "end"), [("file", "close"), ("pin", "unpin")])
def test_ending_twice_while_another_thread_calls_leaves_it_the_engine(
    engine, rng, tmp_path, kind, end
):
    A = integers(rng, (9, 9))
    owner = OWNERS[kind](engine, A, tmp_path)
    handle = engine._handle
    with handle.lock:  # as a call of another thread holds it
        getattr(owner, end)()
        getattr(owner, end)()
        del owner
        assert handle.lock.locked() and handle.waiting
    engine.matmul(A, A)
    assert not handle.lock.locked() and not handle.waiting


@pytest.mark.parametrize("kind", OWNERS)
@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_ends_something_when_it_is_collected_is_not_copied(engine, rng, tmp_path, kind, make):
    owner = OWNERS[kind](engine, integers(rng, (9, 9)), tmp_path)
    name = type(owner).__name__
    with pytest.raises(TypeError, match=f"a {name} can be neither copied nor pickled"):
        make(owner)
    if kind == "trace":
        owner.close()
