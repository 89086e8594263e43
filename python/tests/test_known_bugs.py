"""Cases in which other libraries for sparse products were wrong, crashed or refused."""

import os
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import integers, oracle
from test_lifetime import in_child

import hybrid_spmm as hs


def test_dense_times_a_sparse_column(engine, rng):
    A, Z = integers(rng, (7, 1)), rng.integers(0, 9, (4, 7)).astype(float)
    for cls in (sp.csr_array, sp.csc_array, sp.csr_matrix):
        for X in (Z, np.asfortranarray(Z)):
            C = engine.matmul(X, cls(A))
            assert C.shape == (4, 1) and (oracle(Z, A.toarray()) == C).all()


@pytest.mark.parametrize("cls", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_vector_times_an_empty_matrix(engine, cls, kind):
    for m, n in ((5, 3), (0, 3), (5, 0), (0, 0)):
        A = cls((m, n), dtype=kind)
        for x, y in ((np.ones(m, kind), np.zeros(n)), (np.ones((1, m), kind), np.zeros((1, n)))):
            found = engine.matmul(x, A)
            assert found.shape == y.shape and found.dtype == kind and not found.any()
        assert engine.matmul(A, np.ones(n, kind)).tolist() == [0.0] * m


@pytest.mark.parametrize("cls", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix])
def test_transposes(engine, rng, cls):
    A, B = cls(integers(rng, (9, 7))), cls(integers(rng, (9, 5)))
    dense = A.toarray()
    assert (engine.matmul(A.T, B).toarray() == oracle(dense.T, B.toarray())).all()
    assert (engine.matmul(A.T, A).toarray() == oracle(dense.T, dense)).all()
    assert (engine.matmul(A, A.T).toarray() == oracle(dense, dense.T)).all()
    assert (engine.matmul(B.T, A).toarray() == oracle(B.toarray().T, dense)).all()
    assert (engine.matmul(A.T, np.eye(9)) == dense.T).all()
    assert (engine.matmul(np.eye(7), A.T) == dense.T).all()


def test_coo_is_taken(engine, rng):
    A = sp.coo_array(integers(rng, (9, 9)))
    expected = oracle(A.toarray(), A.toarray())
    with pytest.warns(hs.FormatWarning, match="COO"):
        assert (engine.matmul(A, A).toarray() == expected).all()
    with pytest.warns(hs.FormatWarning, match="COO"):
        assert (engine.matmul(A, A.toarray()) == expected).all()
    with pytest.warns(hs.FormatWarning, match="COO"):
        assert (engine.matmul(A.toarray(), A) == expected).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_nan_in_out_does_not_spread(engine, rng, order):
    A, X = integers(rng, (12, 8)), rng.integers(0, 9, (8, 5)).astype(float)
    for left in (A, sp.csc_array(A)):
        out = np.full((12, 5), np.nan, order=order)
        out[0, 0] = np.inf
        engine.matmul(left, X, out=out, alpha=2, beta=0)
        assert (out == 2 * oracle(A.toarray(), X)).all()
    out = np.full((3, 8), np.nan, order=order)
    engine.matmul(np.ones((3, 12)), A, out=out)
    assert (out == oracle(np.ones((3, 12)), A.toarray())).all()
    y = np.full(12, np.nan)
    assert (engine.plan(A, X[:, 0])(A, X[:, 0], out=y) == oracle(A.toarray(), X[:, 0])).all()


def unsorted():
    """Return a matrix whose columns descend, and copies of its arrays."""
    A = sp.csr_array(
        (np.arange(1.0, 5), np.array([3, 1, 2, 0], np.int32), np.array([0, 2, 4], np.int32)),
        shape=(2, 4),
    )
    return A, [array.copy() for array in (A.data, A.indices, A.indptr)]


@pytest.mark.filterwarnings("ignore::hybrid_spmm.FormatWarning")
def test_operands_are_not_sorted_behind_the_caller_s_back(engine):
    X = np.eye(4)
    uses = [
        lambda A: engine.matmul(A, X),
        lambda A: engine.matmul(A, sp.csr_array(X)),
        lambda A: engine.matmul(np.ones((1, 2)), A),
        lambda A: engine.plan(A, X)(A, X),
        lambda A: list(engine.matmul_rows(A, sp.csr_array(X))),
        lambda A: engine.aslinearoperator(A).matvec(X[0]),
    ]
    for use in uses:
        A, before = unsorted()
        arrays = A.data, A.indices, A.indptr
        use(A)
        assert A.data is arrays[0] and A.indices is arrays[1] and A.indptr is arrays[2]
        assert all((a == b).all() for a, b in zip(arrays, before, strict=True))
        with hs.accelerate(engine):
            assert (A.toarray() == (A @ X)).all()
        assert all((a == b).all() for a, b in zip(arrays, before, strict=True))


def test_read_only_operands(engine, rng):
    A, X = integers(rng, (12, 12)), rng.integers(0, 9, (12, 3)).astype(float)
    for array in (A.indptr, A.indices, A.data, X):
        array.flags.writeable = False
    expected = oracle(A.toarray(), A.toarray())
    plan = engine.plan(A, A)
    for C in (engine.matmul(A, A), plan(A, A), engine.matmul(sp.csc_array(A), sp.csc_array(A))):
        assert (C.toarray() == expected).all()
    assert (engine.matmul(A.T, X) == oracle(A.toarray().T, X)).all()
    assert (engine.plan(A, X)(A, X) == oracle(A.toarray(), X)).all()


@pytest.mark.parametrize("own", [False, True])
def test_eight_threads_share_one_operand(engine, rng, own):
    A = integers(rng, (80, 80))
    square, image = oracle(A.toarray(), A.toarray()), oracle(A.toarray(), np.ones(80))
    failures = []

    def work():
        mine = hs.Engine(backend="host", threads=1) if own else engine
        for _ in range(10):
            right = (mine.matmul(A, A).toarray() == square).all()
            if not right or not (mine.matmul(A, np.ones(80)) == image).all():
                failures.append(threading.get_ident())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_children_multiply_after_a_product_of_the_parent(engine, rng):
    A = integers(rng, (60, 60))
    expected = engine.matmul(A, A).toarray()

    def work():
        assert (engine.matmul(A, A).toarray() == expected).all()
        assert in_child(lambda: np.testing.assert_array_equal(hs.matmul(A, A).toarray(), expected))

    assert in_child(work)


def test_arrays_longer_than_the_last_offset(engine, rng):
    A = integers(rng, (9, 9))
    expected = oracle(A.toarray(), A.toarray())
    A.data, A.indices = np.append(A.data, [np.nan] * 5), np.append(A.indices, [99] * 5)
    for left in (A, sp.csc_array((A.data, A.indices, A.indptr), shape=(9, 9)).T):
        assert (engine.matmul(left, left).toarray() == expected).all()
    assert (engine.plan(A, A)(A, A).toarray() == expected).all()
    with hs.accelerate(engine) as used:
        assert ((A @ A).toarray() == expected).all()
    assert used.products == 1


@pytest.mark.skipif(
    os.environ.get("HYBRID_LONG") != "1", reason="needs 60 GB of memory; HYBRID_LONG=1 runs it"
)
def test_results_beyond_32_bits():
    """The product of a column and a row has 2^32 entries."""
    n = 1 << 16
    ones, index = np.ones(n, np.float32), np.arange(n + 1)
    column = sp.csr_array((ones, np.zeros(n, np.int32), index), shape=(n, 1))
    row = sp.csr_array((ones, index[:-1].astype(np.int32), np.array([0, n])), shape=(1, n))
    C = hs.matmul(column, row)
    assert C.nnz == 1 << 32 and C.indptr.dtype == C.indices.dtype == np.int64
    assert C.indptr[-1] == 1 << 32
    for i in (0, n // 2 + 1, n - 1):
        part = slice(C.indptr[i], C.indptr[i + 1])
        assert (C.indices[part] == np.arange(n)).all() and (C.data[part] == 1).all()
