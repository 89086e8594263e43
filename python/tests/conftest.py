"""What the tests share: matrices, and an oracle that adds products one by one."""

import signal
import sys
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import versions

import hybrid_spmm as hs
from hybrid_spmm._native import handle


def pytest_sessionfinish(session, exitstatus):
    """Let a run without failures add to the table of versions, or fail if that lacks them."""
    missing = "" if exitstatus else versions.finish()
    if missing:
        print(f"\n{missing}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def engine():
    with hs.Engine(backend="host", threads=2) as made:
        yield made


@pytest.fixture
def interruptible():
    """Let SIGINT raise KeyboardInterrupt; a shell's background jobs ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def ended(monkeypatch):
    """Addresses of the C engines that were destroyed."""
    addresses = []
    destroy = handle.lib.hybrid_engine_destroy

    def note(address):
        addresses.append(int(address))
        destroy(address)

    monkeypatch.setattr(handle.Pointer, "__del__", property(partial(partial, note)))
    return addresses


def users(engine):
    """Return how many results, plans, pinned arrays and traces keep the C engine."""
    return sys.getrefcount(engine._handle.pointer) - 2  # that of the handle, and the argument


def integers(rng, shape, density=0.3, dtype=np.float64):
    """Return a canonical csr array of small integers, whose products are exact in any order."""
    dense = rng.integers(1, 8, shape) * (rng.random(shape) < density)
    return sp.csr_array(dense.astype(dtype))


def oracle(A, B):
    """Return A @ B of two dense arrays of integers, in Python's integers."""
    A, B = np.asarray(A).astype(object), np.asarray(B).astype(object)
    return A.dot(B)
