"""Finalizers lose no signal: the exception of its handler is raised by the code that follows."""

import ctypes
import gc
import os
import signal
import sys
from collections import deque
from functools import partial
from operator import methodcaller

import numpy as np
import pytest
from conftest import integers, users

import hybrid_spmm as hs
from hybrid_spmm._operands import sparse
from hybrid_spmm._products import turned

LIBC = ctypes.CDLL(None)
LIBC.kill.argtypes = [ctypes.c_int, ctypes.c_int]
KEPT = []  # the transposes that are kept


def kept_transpose(engine, A, path):
    """Return a csc matrix whose transpose is kept until it is collected."""
    matrix, transposes = A.tocsc(), turned.Transposes()
    for _ in range(2):
        transposes.turn(engine._alive(), sparse.Operand(matrix, "csc", True), A.dtype)
    KEPT[:] = [transposes]
    return matrix


def panels(engine, A, path):
    """Return a generator that has begun; its thread waits for room."""
    found = engine.matmul_rows(A, A, chunk_rows=1)
    next(found)
    return found


def closed_with_result(engine, A, path):
    """Return the last result of a closed engine, which ends with it."""
    other = hs.Engine(backend="host", threads=1)
    result = other.matmul(A, A)
    other.close()
    return result


MAKERS = {
    "sparse result": lambda engine, A, path: engine.matmul(A, A),
    "dense result": lambda engine, A, path: engine.matmul(A, np.ones((A.shape[1], 2000))),
    "sparse plan": lambda engine, A, path: engine.plan(A, A),
    "dense plan": lambda engine, A, path: engine.plan(A, 3),
    "operator": lambda engine, A, path: engine.aslinearoperator(A),
    "pin": lambda engine, A, path: engine.pin(np.ones(1000)),
    "trace": lambda engine, A, path: engine.trace(path),
    "engine": lambda engine, A, path: hs.Engine(backend="host", threads=1),
    "result of a closed engine": closed_with_result,
    "kept transpose": kept_transpose,
    "panels": panels,
}


@pytest.fixture
def dropped(monkeypatch):
    """Exceptions that Python drops because a finalizer raised them."""
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda dropping: found.append(repr(dropping)))
    callbacks = gc.callbacks[:]  # Python code, which hypothesis installs
    gc.callbacks.clear()
    yield found
    gc.callbacks.extend(callbacks)


def drop_with_signal_pending(holder):
    """Send SIGINT to this process and drop what `holder` has before Python handles the signal.

    No Python code runs between these calls, so the signal is pending as the finalizer begins.
    """
    kill = partial(LIBC.kill, os.getpid(), signal.SIGINT)
    deque(map(methodcaller("__call__"), (kill, holder.clear, gc.collect)), 0)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("cycle", [False, True])
def test_a_signal_that_is_pending_as_a_finalizer_begins_is_not_lost(
    engine, rng, tmp_path, interruptible, dropped, kind, cycle
):
    gc.collect()
    del dropped[:]
    A = integers(rng, (40, 40))
    holder = [MAKERS[kind](engine, A, tmp_path / "run.json")]
    if kind == "trace":
        engine._trace = None
    if cycle:
        holder = [[*holder]]
        holder[0].append(holder[0])
    with pytest.raises(KeyboardInterrupt):
        drop_with_signal_pending(holder)
    gc.collect()
    assert not holder and not dropped
    assert engine.matmul(A, np.ones(40)).shape == (40,)
    assert not users(engine) and not any(transposes._kept for transposes in KEPT)


def test_a_finalizer_in_python_loses_the_signal(interruptible, dropped):
    """The test above would notice: this is what happens to a finalizer in Python code."""

    class Python:
        def __del__(self):
            len("")

    drop_with_signal_pending([Python()])
    assert len(dropped) == 1 and "KeyboardInterrupt" in dropped[0]
