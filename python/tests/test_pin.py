"""Pinned arrays and finalizers: nothing is freed while the library takes it for pinned."""

import gc
import itertools
import weakref

import numpy as np
import pytest
from conftest import integers, users

import hybrid_spmm as hs
from hybrid_spmm import _pin
from hybrid_spmm._native import handle

ORDERS = list(itertools.permutations(["engine", "pin", "array", "plan", "result"]))


@pytest.fixture
def pinned(monkeypatch):
    """Ranges that the library has pinned, by their addresses."""
    ranges = {}
    pin, unpin = handle.lib.hybrid_pin, handle.lib.hybrid_unpin

    def note_pin(engine, address, size):
        status = pin(engine, address, size)
        if status == 0:
            ranges[address.value] = size
        return status

    def note_unpin(engine, address):
        assert unpin(engine, address) == 0
        del ranges[address.value]
        return 0

    monkeypatch.setattr(handle.lib, "hybrid_pin", note_pin)
    monkeypatch.setattr(handle.lib, "hybrid_unpin", note_unpin)
    return ranges


@pytest.mark.parametrize("order", ORDERS)
def test_objects_may_die_in_every_order(rng, pinned, order):
    A = integers(rng, (40, 40))
    array = np.ones((40, 50))
    alive = {
        "engine": hs.Engine(backend="host", threads=1),
        "array": array,
    }
    alive["pin"] = alive["engine"].pin(array)
    alive["plan"] = alive["engine"].plan(A, array)
    alive["result"] = alive["plan"](A, array)
    there = weakref.ref(array)
    del array
    for name in order:
        del alive[name]
        assert there() is not None or not pinned, "freed while pinned"
    gc.collect()
    assert there() is None and not pinned


def test_finalizers_wait_for_the_end_of_a_run(engine, rng, pinned):
    A, X = integers(rng, (3000, 300)), np.ones((300, 20))
    there, dead = weakref.ref(X), []
    alive = {"pin": engine.pin(X), "plan": engine.plan(A, 3), "result": engine.matmul(A, A[:300])}
    del X

    def drop(done, rows):
        alive.clear()
        gc.collect()
        dead.append((there() is None, bool(pinned)))

    engine.matmul(A, np.ones((300, 3)), progress=drop)
    assert dead[0] == (False, True)
    assert there() is None and not pinned


def test_finalizers_run_after_a_call_that_fails(engine, rng, pinned):
    A, X = integers(rng, (3000, 300)), np.ones((300, 20))
    pins = [engine.pin(X)]

    def drop(done, rows):
        pins.clear()
        raise KeyError

    with pytest.raises(KeyError):
        engine.matmul(A, np.ones((300, 3)), progress=drop)
    assert not pinned


def test_unpin_and_with(engine, pinned):
    X = np.ones((40, 50), order="F")
    pin = engine.pin(X)
    assert list(pinned.values()) == [X.nbytes]
    pin.unpin()
    pin.unpin()
    assert not pinned
    with engine.pin(X):
        assert pinned
    assert not pinned


def test_matrices_are_pinned_whole(engine, rng, pinned):
    A = integers(rng, (40, 40))
    with engine.pin(A):
        assert sorted(pinned) == sorted(a.ctypes.data for a in (A.data, A.indices, A.indptr))
        with pytest.raises(hs.ArgumentError):
            engine.pin(A)
        assert len(pinned) == 3
    assert not pinned


def test_a_pinned_array_cannot_be_resized(engine):
    X = np.ones(1000)
    pin = engine.pin(X)
    with pytest.raises(ValueError, match="resize"):
        X.resize(10**6, refcheck=False)
    pin.unpin()
    X.resize(10**6, refcheck=False)


def test_what_cannot_be_pinned(engine):
    with pytest.raises(hs.ArgumentError, match="gaps"):
        engine.pin(np.ones((9, 9))[:, ::2])
    for other in ([1.0], 3):
        with pytest.raises(TypeError):
            engine.pin(other)


def test_an_interrupt_leaves_nothing_pinned(engine, monkeypatch):
    X, pin = np.ones((100, 10)), _pin.lib.hybrid_pin

    def interrupted(*arguments):
        assert not pin(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_pin.lib, "hybrid_pin", interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.pin(X)
    assert not users(engine)
    with engine.pin(X):
        with pytest.raises(hs.ArgumentError):
            engine.pin(X)
        assert users(engine) == 1
    assert not users(engine)


def test_arrays_of_any_number_of_dimensions_are_pinned(engine, pinned):
    for array in (np.array(1.0), np.ones(3), np.ones((2, 3, 4))):
        with engine.pin(array):
            assert list(pinned.values()) == [array.nbytes]
    unaligned = np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float64)
    for array in (np.ones((4, 4))[:, ::2], unaligned):
        with pytest.raises(hs.ArgumentError, match="aligned arrays without gaps"):
            engine.pin(array)
