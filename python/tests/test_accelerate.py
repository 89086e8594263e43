"""SciPy's own operators under accelerate(): SciPy's results, by the library."""

import operator
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import integers

import hybrid_spmm as hs
from hybrid_spmm._products import accelerate

FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]
TYPES = [np.bool_, np.int8, np.int64, np.float32, np.float64]


def same(found, expected):
    """Assert that two results are equal, of one class and of one type."""
    assert type(found) is type(expected) and found.dtype == expected.dtype
    if sp.issparse(expected):
        assert found.format == expected.format
        found, expected = found.toarray(), expected.toarray()
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("suffix", ["array", "matrix"])
@pytest.mark.parametrize("left", FORMATS)
@pytest.mark.parametrize("right", FORMATS)
def test_sparse_times_sparse_is_scipy_s(rng, left, right, suffix):
    A = getattr(sp, f"{left}_{suffix}")(integers(rng, (12, 8)))
    B = getattr(sp, f"{right}_{suffix}")(integers(rng, (8, 10)))
    expected = [A @ B, A.dot(B)] + ([A * B] if suffix == "matrix" else [])
    with hs.accelerate() as used:
        found = [A @ B, A.dot(B)] + ([A * B] if suffix == "matrix" else [])
    for one, other in zip(found, expected, strict=True):
        same(one, other)
    if left == right == "dia" and used.fallbacks:  # SciPy 1.11 converts to CSR here too
        assert not used.products
    else:
        assert used.products == len(found) and not used.fallbacks


@pytest.mark.parametrize("suffix", ["array", "matrix"])
@pytest.mark.parametrize("kind", FORMATS)
def test_dense_operands_are_scipy_s(rng, kind, suffix):
    A = getattr(sp, f"{kind}_{suffix}")(integers(rng, (12, 8)))
    X, Z = rng.integers(-9, 9, (8, 5)).astype(float), rng.integers(-9, 9, (5, 12)).astype(float)
    calls = [
        lambda: A @ X,
        lambda: A @ X[:, 0],
        lambda: A @ X[:, :1],
        lambda: A @ X.tolist(),
        lambda: A @ np.asmatrix(X),
        lambda: A @ np.asmatrix(X[:, :1]),
        lambda: A.dot(X.astype(np.int8)),
        lambda: A @ np.asfortranarray(X)[:, ::2],
        lambda: Z @ A,
        lambda: Z[0] @ A,
        lambda: np.asmatrix(Z) @ A,
        lambda: A.T @ Z.T,
        lambda: A @ np.tile(X, (1, 4)),
        lambda: np.tile(Z, (4, 1)) @ A,
        lambda: A @ np.empty((8, 0)),
    ]
    expected = [call() for call in calls]
    with hs.accelerate() as used:
        found = [call() for call in calls]
    for one, other in zip(found, expected, strict=True):
        same(one, other)
    assert used.products or kind in ("dia", "dok")
    few = [reason for reason in used.fallbacks if "csc" in reason]
    assert all("less than 16 columns" in reason for reason in few)
    assert all(f"{kind} format" in reason for reason in set(used.fallbacks) - set(few))


@pytest.mark.parametrize("left", TYPES)
@pytest.mark.parametrize("right", TYPES)
def test_types_are_scipy_s_and_integers_wrap(rng, left, right):
    A = sp.csr_array(rng.integers(0, 100, (9, 9)).astype(left))
    B = sp.csr_array(rng.integers(0, 100, (9, 9)).astype(right))
    expected = A @ B, A @ B.toarray()
    with hs.accelerate() as used:
        found = A @ B, A @ B.toarray()
    for one, other in zip(found, expected, strict=True):
        same(one, other)
    assert bool(used.fallbacks) == (expected[0].dtype == np.int8)
    assert all("beyond int8" in reason for reason in used.fallbacks)


def widen(A):
    """Return a copy of a matrix with 64-bit indices, unless it is in COO."""
    if A.format == "coo":  # of which versions of SciPy make different widths
        return A
    A = A.copy()
    A.indptr, A.indices = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    return A


@pytest.mark.parametrize("left", ["csr", "csc", "bsr", "coo"])
@pytest.mark.parametrize("right", ["csr", "csc", "bsr", "coo"])
def test_indices_are_as_wide_as_scipy_s(rng, left, right):
    for suffix in ("array", "matrix"):
        A = getattr(sp, f"{left}_{suffix}")(integers(rng, (8, 8)))
        B = getattr(sp, f"{right}_{suffix}")(integers(rng, (8, 8)))
        for one, other in ((A, B), (widen(A), B), (A, widen(B)), (widen(A), widen(B))):
            expected = one @ other
            with hs.accelerate() as used:
                found = one @ other
            same(found, expected)
            assert found.indices.dtype == expected.indices.dtype
            assert found.indptr.dtype == expected.indptr.dtype
        assert not used.fallbacks


def test_stored_zeros_are_dropped_as_scipy_does():
    A = sp.csr_array(np.array([[1.0, 1.0], [0.0, 1.0]]))
    B = sp.csr_array(np.array([[1.0, 0.0], [-1.0, 1.0]]))
    expected = A @ B
    for left, right in ((A, B), (sp.csc_array(A), sp.csc_array(B))):
        with hs.accelerate():
            C = left @ right
        assert C.nnz == expected.nnz == 3 and len(C.data) == 3
    assert hs.matmul(A, B).nnz == 4


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda A: A * 1j, "values of complex128"),
        (lambda A: A.astype(np.longdouble), f"values of {np.dtype(np.longdouble)}"),
        (lambda A: sp.dia_array(A), "dia format"),
    ],
)
def test_unsupported_operands_fall_back_and_are_counted(rng, make, reason):
    A = integers(rng, (6, 6))
    other = make(A)
    x = A.toarray()[0]
    expected = [other @ x, other @ x]
    with hs.accelerate() as used:
        found = [other @ x, other @ x]
    for one, two in zip(found, expected, strict=True):
        same(one, two)
    assert used.products == 0 and sum(used.fallbacks.values()) == 2
    assert all(reason in key for key in used.fallbacks)
    assert f"2 {next(iter(used.fallbacks))}" in repr(used)


def dimensions():
    """Return the largest number of dimensions of SciPy's sparse arrays, and those of csr."""
    try:
        csr = sp.csr_array(np.arange(3.0)).ndim
    except ValueError:
        csr = 2
    if not hasattr(sp.coo_array([[1]]), "coords"):
        return 2, csr
    return (3 if len(sp.coo_array(np.ones((1, 1, 1))).shape) == 3 else 2), csr


@pytest.mark.skipif(dimensions()[1] != 1, reason="a SciPy whose CSR arrays have two dimensions")
@pytest.mark.parametrize("kind", ["csr", "coo", "dok"])
def test_sparse_arrays_of_one_dimension(rng, kind):
    v = getattr(sp, f"{kind}_array")(np.array([0.0, 2, 0, 3, 1, 0]))
    none = getattr(sp, f"{kind}_array")((6,))
    A, X = integers(rng, (6, 6)), rng.integers(0, 9, (6, 20)).astype(float)
    calls = [lambda: A.tocsc() @ v]  # for which SciPy fails if there are no entries
    calls += [
        call
        for w in (v, none)
        for call in (
            lambda w=w: w @ A,
            lambda w=w: A @ w,
            lambda w=w: w @ A.tocsc(),
            lambda w=w: v @ w,
            lambda w=w: sp.csr_array(w) @ X,
            lambda w=w: sp.csr_array(w) @ X[:, 0],
            lambda w=w: X.T @ sp.csr_array(w),
        )
    ]
    expected = [call() for call in calls]
    with hs.accelerate() as used:
        found = [call() for call in calls]
    for one, other in zip(found, expected, strict=True):
        assert np.shape(one) == np.shape(other)
        same(one, other)
    assert used.products and not used.fallbacks


@pytest.mark.skipif(dimensions()[0] != 3, reason="a SciPy without three dimensions")
def test_three_dimensions_fall_back(rng):
    A, x = integers(rng, (6, 6)), sp.coo_array(np.arange(6.0))
    calls = [lambda: x @ np.ones((2, 6, 3)), lambda: sp.coo_array(A) @ np.ones((2, 6, 3))]
    expected = [call() for call in calls]
    with hs.accelerate() as used:
        found = [call() for call in calls]
    assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))
    assert all("more than two dimensions" in key for key in used.fallbacks) and used.fallbacks


def test_integers_that_need_much_memory_fall_back(rng, monkeypatch):
    A, X = integers(rng, (6, 6), dtype=np.int8), np.ones((6, 4), np.int8)
    expected = A @ X, A @ A
    monkeypatch.setattr(accelerate, "memory", lambda: 2 * 8 * (A.nnz + 2 * X.size) - 1)
    with hs.accelerate() as used:
        same(A @ X, expected[0])
        same(A.astype(np.float32) @ X, expected[0].astype(np.float32))
        assert (used.products, sum(used.fallbacks.values())) == (1, 1)
    monkeypatch.setattr(accelerate, "memory", lambda: 2 * 8 * 2 * A.nnz)
    with hs.accelerate() as used:
        same(A @ A, expected[1])
    assert used.products == 1


def test_errors_are_scipy_s(rng):
    A = integers(rng, (6, 4))
    for call in (lambda: A @ A, lambda: A @ np.ones(6), lambda: A @ 3, lambda: A.dot(np.ones(9))):
        with pytest.raises(ValueError) as expected:
            call()
        with hs.accelerate(), pytest.raises(ValueError) as found:
            call()
        assert str(found.value) == str(expected.value)
    A.indices[0] = 99
    with hs.accelerate(), pytest.raises(hs.MatrixError):
        A @ np.ones(4)


def test_unsorted_operands_do_not_warn():
    A = sp.csr_array((np.array([1.0, 2, 3]), np.array([2, 0, 1]), np.array([0, 3])), shape=(1, 3))
    B, expected = sp.csr_array(np.eye(3)), A.toarray()
    with hs.accelerate() as used, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ((A @ B).toarray() == expected).all()
        assert (sp.coo_array(A) @ np.eye(3) == expected).all()
    assert used.products == 2


def test_classes_of_other_packages_are_kept(rng):
    class Mine(sp.csr_array):
        pass

    A = Mine(integers(rng, (6, 6)))
    expected = A @ A
    with hs.accelerate() as used:
        same(A @ A, expected)
    assert used.products == 1


def snapshot():
    return [(cls, name, vars(cls)[name]) for cls, name, _ in accelerate.methods()]


def test_blocks_nest_and_restore_scipy(rng):
    A, before = integers(rng, (6, 6)), snapshot()
    with hs.accelerate() as outer:
        A @ A
        with hs.Engine(backend="host", threads=1) as engine:
            with hs.accelerate(engine) as inner:
                A @ A
                A @ A
            assert engine.last_report().rows == 6
        A @ A
    assert (outer.products, inner.products) == (2, 2)
    with pytest.raises(RuntimeError, match="mine"), hs.accelerate():
        raise RuntimeError("mine")
    assert set(snapshot()) == set(before)
    A @ A
    assert outer.products == 2


def test_blocks_belong_to_their_threads(rng):
    A, before = integers(rng, (40, 40)), snapshot()
    expected, failures, others = A @ A, [], []
    start = threading.Barrier(9)

    def work(number):
        start.wait()
        for _ in range(20):
            with hs.accelerate() as used:
                products = [A @ A for _ in range(number)]
            if used.products != number or any(abs(C - expected).sum() for C in products):
                failures.append(number)

    def watch():
        start.wait()
        for _ in range(200):
            others.append(accelerate._current.get())
            if abs(A @ A - expected).sum():
                failures.append("watch")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    threads.append(threading.Thread(target=watch))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and set(others) == {None}
    assert set(snapshot()) == set(before)


def test_a_busy_engine_falls_back(rng):
    A = integers(rng, (50, 50))
    expected = A @ A
    with hs.Engine(backend="host", threads=1) as engine, hs.accelerate(engine) as used:
        panels = engine.matmul_rows(A, A, chunk_rows=3)
        next(panels)
        same(A @ A, expected)
        panels.close()
        same(A @ A, expected)
    assert used.products == 1
    assert [key.partition(": ")[2] for key in used.fallbacks] == [accelerate.BUSY]


@pytest.mark.parametrize("function", [operator.matmul, sla.cg])
def test_what_scipy_builds_on_its_operators(rng, function):
    A = sp.csr_array(sp.diags([-1, 4, -1], [-1, 0, 1], shape=(50, 50)))
    with hs.accelerate() as used:
        function(A, np.ones(50))
    assert used.products > 0 and not used.fallbacks


def test_another_object_than_an_engine_is_refused():
    refused = pytest.raises(hs.ArgumentError, match=r"^engine is 3; it is an Engine or None$")
    with refused, hs.accelerate(3):
        pass
