"""LinearOperators with a resident matrix, against SciPy on the matrix itself."""

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import integers, oracle, users
from test_lifetime import in_child

import hybrid_spmm as hs
from hybrid_spmm._products import linear_operator


def stencil(n, dtype=np.float64):
    """Return a five-point Laplacian on n x n points, all of whose eigenvalues are simple."""
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    eye = sp.identity(n)
    return sp.csr_array(sp.kron(eye, line) + sp.kron(1.3 * line, eye)).astype(dtype)


@pytest.mark.parametrize("cls", [sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32])
def test_products_with_the_matrix_and_its_transpose(engine, rng, cls, kind):
    A = cls(integers(rng, (12, 8), dtype=kind))
    op, dense = engine.aslinearoperator(A), A.toarray().astype(float)
    X, Z = rng.integers(-9, 9, (8, 5)).astype(float), rng.integers(-9, 9, (12, 5)).astype(float)
    assert op.shape == (12, 8)
    assert op.dtype == (np.float64 if kind == np.int32 else kind)
    for _ in range(2):
        for x, z in ((X, Z), (X[:, 0], Z[:, 0]), (X[:, :1], Z[:, :1]), (X[:, ::2], Z[:, ::2])):
            assert (op @ x == oracle(dense, x)).all() and (op @ x).shape == (dense @ x).shape
            assert (op.T @ z == oracle(dense.T, z)).all()
            assert (op.H @ z == oracle(dense.T, z)).all()
    assert (op @ (X + 1j * X[:, ::-1]) == dense @ (X + 1j * X[:, ::-1])).all()
    assert (op.rmatvec(Z[:, 0] * 1j) == dense.T @ (Z[:, 0] * 1j)).all()
    assert (op @ X.astype(np.float32)).dtype == op.dtype
    assert ((2 * op + op) @ X == 3 * dense @ X).all()


def test_the_transpose_is_made_once_and_only_if_asked_for(engine, rng, monkeypatch):
    made = []
    make = linear_operator.transposed
    monkeypatch.setattr(linear_operator, "transposed", lambda *args: made.append(1) or make(*args))
    for cls in (sp.csr_array, sp.csc_array):
        del made[:]
        op = engine.aslinearoperator(cls(integers(rng, (12, 8))))
        first, second = (op.matvec, op.rmatvec) if cls is sp.csr_array else (op.rmatvec, op.matvec)
        lengths = (8, 12) if cls is sp.csr_array else (12, 8)
        first(np.ones(lengths[0]))
        assert not made
        second(np.ones(lengths[1]))
        second(np.ones(lengths[1]))
        assert len(made) == 1


def test_plans_are_made_once(engine, rng, monkeypatch):
    made = []
    make = linear_operator.DensePlan

    def counted(engine, matrix, columns, *rest, **options):
        made.append((columns, options["resident"]))
        return make(engine, matrix, columns, *rest, **options)

    monkeypatch.setattr(linear_operator, "DensePlan", counted)
    op = engine.aslinearoperator(integers(rng, (9, 9)))
    for width in (1, 3, 1, 3, 1):
        op @ np.ones((9, width))
    op @ np.ones(9)
    assert made == [(1, True), (3, True)]
    op @ np.ones((9, 4))
    op @ np.ones(9)
    assert len(made) == 3


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_eigsh(engine, rng, kind):
    A = stencil(12, kind)
    v0 = rng.standard_normal(144).astype(kind)
    found, vectors = sla.eigsh(engine.aslinearoperator(A), k=5, v0=v0)
    expected = sla.eigsh(A, k=5, v0=v0)[0]
    assert np.allclose(found, expected, rtol=1e-4 if kind == np.float32 else 1e-10)
    assert np.abs(A @ vectors - vectors * found).max() < (1e-3 if kind == np.float32 else 1e-9)


@pytest.mark.filterwarnings("ignore:Exited:UserWarning")
@pytest.mark.parametrize("solver", ["arpack", "lobpcg"])
def test_svds(engine, rng, solver):
    A = sp.csr_array(integers(rng, (60, 40)))
    v0 = np.ones(40)
    found = sla.svds(engine.aslinearoperator(A), k=3, solver=solver, v0=v0)
    expected = np.linalg.svd(A.toarray())[1][:3]
    assert np.allclose(np.sort(found[1])[::-1], expected, rtol=1e-4)
    assert np.allclose(A.T @ found[0], (found[1][:, None] * found[2]).T, atol=1e-1)


def test_lobpcg(engine, rng):
    A = stencil(10)
    X = rng.standard_normal((100, 4))
    found, vectors = sla.lobpcg(engine.aslinearoperator(A), X, largest=True, maxiter=300, tol=1e-8)
    expected, _ = sla.lobpcg(A, X, largest=True, maxiter=300, tol=1e-8)
    assert np.allclose(np.sort(found), np.sort(expected), rtol=1e-8)
    assert np.abs(A @ vectors - vectors * found).max() < 1e-5


@pytest.mark.parametrize("solver", ["cg", "bicg", "gmres", "lsqr"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_solvers(engine, solver):
    A, b = stencil(10), np.ones(100)
    x = getattr(sla, solver)(engine.aslinearoperator(A), b)[0]
    assert np.linalg.norm(A @ x - b) < 1e-3 * np.linalg.norm(b)
    x = getattr(sla, solver)(engine.aslinearoperator(A.astype(np.float32)), b)[0]
    assert np.linalg.norm(A @ x - b) < 1e-3 * np.linalg.norm(b)


def test_unsorted_matrices_are_repaired_once(engine):
    A = sp.csr_array((np.array([1.0, 2, 3]), np.array([2, 0, 1]), np.array([0, 3])), shape=(1, 3))
    with pytest.warns(hs.FormatWarning) as caught:
        op = engine.aslinearoperator(A)
        assert op @ np.array([1.0, 10, 100]) == 132
        assert (op.rmatvec(np.ones(1)) == [2, 3, 1]).all()
    assert len(caught) == 1 and caught[0].filename == __file__


def test_what_is_refused(engine, rng):
    A = integers(rng, (9, 9))
    for other in (np.eye(3), A * 1j, A.astype(np.longdouble)):
        with pytest.raises(TypeError):
            engine.aslinearoperator(other)
    with pytest.raises(ValueError):
        engine.aslinearoperator(A) @ np.ones(8)
    A.indices[0] = 99
    with pytest.raises(hs.MatrixError):
        engine.aslinearoperator(A)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_children_plan_anew(engine, rng):
    A = integers(rng, (9, 9))
    op, expected = engine.aslinearoperator(A), A.toarray().sum(axis=1)
    op @ np.ones(9)
    assert in_child(lambda: np.testing.assert_array_equal(op @ np.ones(9), expected))
    assert (op @ np.ones(9) == expected).all()


def test_the_arrays_of_an_operator_stay_where_they_are(engine, rng):
    """Products read them at the addresses of the first one."""
    A, x = integers(rng, (9, 9)), np.ones(9)
    op, expected = engine.aslinearoperator(A), A.toarray().sum(axis=1)
    assert (op @ x == expected).all()
    data = A.data
    with pytest.raises(ValueError, match="resize"):
        data.resize(10**6, refcheck=False)
    A.data, A.indices, A.indptr = np.empty(0), np.empty(0, np.int32), np.zeros(10, np.int32)
    del data
    gc.collect()
    assert (op @ x == expected).all()
    there = weakref.ref(op)
    del op
    gc.collect()
    assert there() is None and not users(engine)
