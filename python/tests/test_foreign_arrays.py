"""Arrays of CuPy's protocols, whose memory is the host's here: what the package makes of them."""

import gc

import fakes
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import integers, oracle

import hybrid_spmm as hs
from hybrid_spmm._gpu import device_operands, device_plans
from hybrid_spmm._native import capi, library


@pytest.fixture
def streams(monkeypatch):
    """The streams that the library is told, in order."""
    told = []
    tell = library.lib.hybrid_engine_stream
    monkeypatch.setattr(
        library.lib, "hybrid_engine_stream", lambda e, s: told.append(s) or tell(e, None)
    )
    return told


@pytest.fixture(autouse=True)
def cupy(monkeypatch, streams):
    fakes.install(monkeypatch, stream=77)


def move(A, kind="csr"):
    return (fakes.Csr if kind == "csr" else fakes.Csc)(A.asformat(kind))


@pytest.mark.parametrize("left", ["csr", "csc"])
@pytest.mark.parametrize("right", ["csr", "csc"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sparse_times_sparse(engine, rng, left, right, kind):
    A, B = integers(rng, (12, 8), dtype=kind), integers(rng, (8, 10), dtype=kind)
    C = engine.matmul(move(A, left), move(B, right))
    assert type(C) is (fakes.Csr if left == "csr" else fakes.Csc)
    assert C.data.dtype == kind and C.indices.dtype == C.indptr.dtype == np.int32
    assert C.has_canonical_format
    assert (C.scipy().toarray() == oracle(A.toarray(), B.toarray())).all()


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_operands(engine, rng, kind, order):
    A = integers(rng, (12, 8))
    X = np.array(rng.integers(-9, 9, (8, 5)), float, order=order)
    Z = np.array(rng.integers(-9, 9, (5, 12)), float, order=order)
    D = move(A, kind)
    for x in (X, X[:, ::2], X[:, 0], X[:, :1], X[:0].repeat(8, 0), X.astype(np.float32)):
        if x.shape[0] == 8:
            Y = engine.matmul(D, fakes.Array(x))
            assert type(Y) is fakes.Array and (Y.array == oracle(A.toarray(), x)).all()
    for z in (Z, Z[::2], Z[0]):
        Y = engine.matmul(fakes.Array(z), D)
        assert (Y.array == oracle(z, A.toarray())).all()


def test_nothing_is_copied_that_need_not_be(engine, rng, monkeypatch):
    seen = []
    run = library.lib.hybrid_spmm_with

    def look(engine, options, alpha, a, x, beta, y):
        seen.append((capi.CSR.unpack(a), capi.DENSE.unpack(x), capi.DENSE.unpack(y)))
        return run(engine, options, alpha, a, x, beta, y)

    monkeypatch.setattr(library.lib, "hybrid_spmm_with", look)
    A, X = integers(rng, (12, 8)), np.ones((8, 5), order="F")
    Y = engine.matmul(move(A), fakes.Array(X))
    a, x, y = seen[0]
    assert a[4:7] == tuple(array.ctypes.data for array in (A.indptr, A.indices, A.data))
    assert x[2:5] == (8, capi.COL_MAJOR, X.ctypes.data)
    assert y[3:5] == (capi.ROW_MAJOR, Y.array.ctypes.data)


def test_spaces_are_said(engine, rng, monkeypatch):
    """On a device all structs and options say so; an engine without a GPU refuses them."""
    monkeypatch.setattr(device_operands, "SPACE", capi.SPACE_DEVICE)
    A = move(integers(rng, (9, 9)))
    struct, _ = device_operands.Matrix(device_operands.library_for(A, A), A).bind(np.dtype(float))
    assert capi.CSR.unpack(struct)[-1] == capi.SPACE_DEVICE
    for B in (A, fakes.Array(np.ones((9, 2)))):
        with pytest.raises(hs.UnsupportedError):
            engine.matmul(A, B)
    plan = device_plans.DevicePlan(
        engine, device_operands.Matrix(device_operands.library_for(A, A), A)
    )
    assert plan._options.result_space == capi.SPACE_DEVICE
    assert plan._options.flags & capi.CHECK


def test_every_call_waits_for_the_current_stream(engine, rng, streams):
    A = move(integers(rng, (9, 9)))
    engine.matmul(A, A)
    assert streams == [77, None]
    del streams[:]
    plan = engine.plan(A, fakes.Array(np.ones((9, 2))))
    plan(A, fakes.Array(np.ones((9, 2))))
    assert streams == [77, None] * 2
    with pytest.raises(hs.ShapeError):
        engine.matmul(A, fakes.Array(np.ones((8, 2))))
    assert len(streams) == 4


def test_calls_tell_progress_and_can_be_ended(engine, rng):
    A, X, told = move(integers(rng, (12, 12))), fakes.Array(np.ones((12, 3))), []

    def end(done, rows):
        raise KeyboardInterrupt

    plan = engine.plan(A, X)
    for call in (lambda **p: engine.matmul(A, A, **p), lambda **p: plan(A, X, **p)):
        call(progress=lambda done, rows: told.append((done, rows)))
        assert told[-1] == (12, 12)
        told.clear()
        with pytest.raises(KeyboardInterrupt):
            call(progress=end)
        call()


def test_out_alpha_and_beta(engine, rng):
    A, X = integers(rng, (12, 8)), rng.integers(0, 9, (8, 5)).astype(float)
    for order in "CF":
        before = np.array(rng.integers(0, 9, (12, 5)), float, order=order)
        out = fakes.Array(before.copy(order))
        assert engine.matmul(move(A), fakes.Array(X), out=out, alpha=2, beta=3) is out
        assert (out.array == 2 * oracle(A.toarray(), X) + 3 * before).all()
    out = fakes.Array(np.zeros((5, 8)))
    Z = np.ones((5, 12))
    assert engine.matmul(fakes.Array(Z), move(A), out=out) is out
    assert (out.array == oracle(Z, A.toarray())).all()
    for bad, error in (
        (np.zeros((12, 4)), hs.ShapeError),
        (np.zeros((12, 5), np.float32), hs.ShapeError),
        (np.zeros((24, 10))[::2, ::2], hs.ArgumentError),
    ):
        with pytest.raises(error):
            engine.matmul(move(A), fakes.Array(X), out=fakes.Array(bad))
    with pytest.raises(hs.ArgumentError, match="out"):
        engine.matmul(move(A), fakes.Array(X), beta=1)
    with pytest.raises(hs.ArgumentError, match="dense"):
        engine.matmul(move(A), move(A.T), alpha=2)


def test_results_keep_the_engine_s_pages(rng, ended):
    A = integers(rng, (12, 12))
    engine = hs.Engine(backend="host", threads=1)
    C = engine.matmul(move(A), move(A))
    address = int(engine._handle.pointer)
    engine.close()
    values, expected = C.data.array, oracle(A.toarray(), A.toarray())
    assert (C.scipy().toarray() == expected).all() and address not in ended
    copy = values.copy()
    del C
    gc.collect()
    assert (values == copy).all() and address not in ended
    del values
    gc.collect()
    assert ended.count(address) == 1


def test_plans_take_one_pattern(engine, rng):
    A, B = integers(rng, (12, 12)), integers(rng, (12, 12))
    D, X = move(A), fakes.Array(np.ones((12, 3)))
    for plan, right in ((engine.plan(D, D), D), (engine.plan(D, X), X), (engine.plan(D, 3), X)):
        plan(D, right)
        equal = move(A * 2)
        found = plan(equal, right if right is X else equal)
        expected = 2 * A @ X.array if right is X else (4 * A @ A).toarray()
        got = found.array if right is X else found.scipy().toarray()
        assert (got == expected).all()
        with pytest.raises(hs.StateError, match="pattern"):
            plan(move(B), right)


def test_unsorted_matrices_are_repaired_and_damaged_ones_refused(engine):
    A = sp.csr_array(
        (np.array([1.0, 2, 3, 4]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3)
    )
    B = sp.csr_array(np.arange(9.0).reshape(3, 3))
    expected = oracle(A.toarray(), B.toarray())
    with pytest.warns(hs.FormatWarning, match="unsorted") as caught:
        C = engine.matmul(fakes.Csr(A), move(B))
    assert (C.scipy().toarray() == expected).all() and caught[0].filename == __file__
    with pytest.warns(hs.FormatWarning):
        Y = engine.matmul(fakes.Csr(A), fakes.Array(B.toarray()))
    assert (Y.array == expected).all()
    A.indices[0] = 3
    for right in (move(B), fakes.Array(B.toarray())):
        with pytest.raises(hs.MatrixError):
            engine.matmul(fakes.Csr(A), right)


def test_arrays_of_other_libraries(engine, rng):
    A, X = integers(rng, (12, 8)), np.ones((8, 5))
    for x in (fakes.Other(X), fakes.Exported(X)):
        Y = engine.matmul(move(A), x)
        assert type(Y) is fakes.Array and (Y.array == oracle(A.toarray(), X)).all()


def test_results_are_made_without_a_copy_to_the_host_where_cupy_can(engine, rng, monkeypatch):
    A, made = move(integers(rng, (12, 12))), []

    def from_parts(cls, data, indices, indptr, shape, has_canonical_format=None):
        made.append(has_canonical_format)
        if indices.shape == (0,):
            raise ValueError
        result = cls((data, indices, indptr), shape=shape)
        result.has_canonical_format = has_canonical_format
        return result

    monkeypatch.setattr(fakes.Csr, "_from_parts", classmethod(from_parts), raising=False)
    C = engine.matmul(A, A)
    assert made == [True]
    expected = oracle(A.scipy().toarray(), A.scipy().toarray())
    assert (C.scipy().toarray() == expected).all()
    empty = move(sp.csr_array((12, 12)))
    assert engine.matmul(empty, empty).has_canonical_format and made == [True] * 2


def test_functions_of_cupy_with_other_arguments_are_not_called(engine, rng, monkeypatch):
    A = move(integers(rng, (12, 12)))
    monkeypatch.setattr(fakes.Csr, "_from_parts", lambda shape, arrays: None, raising=False)
    assert engine.matmul(A, A).has_canonical_format


def test_indices_of_other_types_are_refused(engine, rng):
    A = integers(rng, (9, 9))
    D = move(A)
    D.indices = fakes.Array(A.indices.astype(np.uint32))
    with pytest.raises(hs.OperandTypeError, match="uint32"):
        engine.matmul(D, fakes.Array(np.ones((9, 2))))


@pytest.mark.parametrize("kind", [np.int32, np.float16, np.complex64])
def test_other_types_are_refused(engine, rng, kind):
    A, X = integers(rng, (9, 9)), fakes.Array(np.ones((9, 2)))
    D = move(A)
    D.data = fakes.Array(A.data.astype(kind))
    with pytest.raises(hs.OperandTypeError, match=np.dtype(kind).name):
        engine.matmul(D, X)
    with pytest.raises(hs.OperandTypeError, match=np.dtype(kind).name):
        engine.matmul(move(A), fakes.Array(X.array.astype(kind)))
    with pytest.raises(hs.OperandTypeError, match="sparse"):
        engine.matmul(X, X)


@pytest.mark.parametrize("shape", [(0, 0, 0), (0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1)])
def test_empty_operands(engine, shape):
    m, k, n = shape
    A, B = move(sp.csr_array((m, k))), move(sp.csr_array((k, n)))
    C = engine.matmul(A, B)
    assert C.shape == (m, n) and C.nnz == 0 and C.indptr.shape == (m + 1,)
    Y = engine.matmul(A, fakes.Array(np.ones((k, n))))
    assert Y.shape == (m, n) and not Y.array.any()


def test_addresses_are_read_once(engine, rng):
    """What the package reads of arrays is a large part of what a call costs."""
    A, X = move(integers(rng, (9, 9))), fakes.Array(np.ones((9, 2)))
    plan, out = engine.plan(A, X), fakes.Array(np.empty((9, 2)))
    fakes.Array.asked = 0
    plan(A, X, out=out)
    assert fakes.Array.asked == 5
