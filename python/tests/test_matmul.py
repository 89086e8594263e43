"""One-shot products of all formats, types and layouts against an oracle of integers."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import integers, oracle

import hybrid_spmm as hs

FORMATS = ["csr", "csc", "coo", "bsr"]
CLASSES = [f"{kind}_{suffix}" for kind in FORMATS for suffix in ("array", "matrix")]


def make(cls, matrix):
    return getattr(sp, cls)(matrix)


def dense_of(result):
    return result.toarray() if sp.issparse(result) else np.asarray(result)


@pytest.mark.filterwarnings("ignore::hybrid_spmm.FormatWarning")
@pytest.mark.parametrize("left", CLASSES)
@pytest.mark.parametrize("right", CLASSES)
def test_sparse_times_sparse(engine, rng, left, right):
    A, B = make(left, integers(rng, (12, 8))), make(right, integers(rng, (8, 10)))
    C = engine.matmul(A, B)
    assert (C.toarray() == oracle(A.toarray(), B.toarray())).all()
    assert type(C) is type(A @ B)
    C.check_format(full_check=True)
    assert C.format in ("bsr", "coo") or C.has_canonical_format


@pytest.mark.filterwarnings("ignore::hybrid_spmm.FormatWarning")
@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_sparse_times_dense_and_dense_times_sparse(engine, rng, cls, order):
    A = make(cls, integers(rng, (12, 8)))
    X = np.array(rng.integers(-9, 9, (8, 5)), float, order=order)
    Z = np.array(rng.integers(-9, 9, (5, 12)), float, order=order)
    assert (engine.matmul(A, X) == oracle(A.toarray(), X)).all()
    assert (engine.matmul(Z, A) == oracle(Z, A.toarray())).all()
    assert (engine.matmul(A, X[:, 0]) == oracle(A.toarray(), X[:, 0])).all()
    assert (engine.matmul(Z[0], A) == oracle(Z[0], A.toarray())).all()


@pytest.mark.parametrize("shape", [(0, 0, 0), (0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1)])
def test_empty_operands(engine, shape):
    m, k, n = shape
    A, B = sp.csr_array((m, k)), sp.csr_array((k, n))
    assert engine.matmul(A, B).shape == (m, n)
    assert (engine.matmul(A, np.ones((k, n))) == np.zeros((m, n))).all()
    assert (engine.matmul(np.ones(m), A) == np.zeros(k)).all()
    assert engine.matmul(np.ones((n, m)), A).shape == (n, k)


def test_dense_times_a_column(engine, rng):
    A, Z = integers(rng, (7, 1)), rng.integers(0, 9, (4, 7)).astype(float)
    assert (engine.matmul(Z, A) == oracle(Z, A.toarray())).all()
    assert engine.matmul(Z, A).shape == (4, 1)


@pytest.mark.parametrize("offsets", [np.int32, np.int64])
@pytest.mark.parametrize("columns", [np.int32, np.int64])
def test_indices_of_either_width(engine, rng, offsets, columns):
    A = integers(rng, (12, 12))
    expected = oracle(A.toarray(), A.toarray())
    A.indptr, A.indices = A.indptr.astype(offsets), A.indices.astype(columns)
    C = engine.matmul(A, A)
    assert (C.toarray() == expected).all()
    assert C.indices.dtype == C.indptr.dtype == np.int32
    assert (engine.matmul(A, A.toarray()) == expected).all()


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint32, np.uint64, ">i4", ">i8"])
def test_other_indices_are_converted(engine, rng, kind):
    A = integers(rng, (12, 12))
    expected = oracle(A.toarray(), A.toarray())
    A.indptr, A.indices = A.indptr.astype(kind), A.indices.astype(kind)
    assert (engine.matmul(A, A).toarray() == expected).all()


def test_no_operand_is_copied(engine, rng, monkeypatch):
    from hybrid_spmm._native import capi
    from hybrid_spmm._operands import sparse

    kept = []
    bind = sparse.Operand.bind
    monkeypatch.setattr(
        sparse.Operand, "bind", lambda self, dtype: kept.append(bind(self, dtype)) or kept[-1]
    )
    A = integers(rng, (12, 12))
    A.indptr = A.indptr.astype(np.int64)
    engine.matmul(A, A)
    engine.matmul(A, np.ones((12, 2)))
    for struct, *_ in kept:
        found = capi.CSR.unpack(struct)[4:7]
        assert found == tuple(a.ctypes.data for a in (A.indptr, A.indices, A.data))


def test_read_only_and_unaligned_arrays(engine, rng):
    A = integers(rng, (12, 12))
    X = rng.integers(0, 9, (12, 3)).astype(float)
    expected = oracle(A.toarray(), X)
    for array in (A.indptr, A.indices, A.data, X):
        array.flags.writeable = False
    assert (engine.matmul(A, X) == expected).all()

    def shifted(array):
        raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
        moved = raw.view(array.dtype).reshape(array.shape)
        moved[...] = array
        return moved

    A.indptr, A.indices, A.data, X = map(shifted, (A.indptr, A.indices, A.data, X))
    assert not (A.data.flags.aligned or X.flags.aligned)
    assert (engine.matmul(A, X) == expected).all()
    out = shifted(np.zeros((12, 3)))
    assert engine.matmul(A, X, out=out) is out
    assert (out == expected).all()


@pytest.mark.parametrize(
    "view", [np.s_[::2, ::2], np.s_[::-1, :7], np.s_[:14:2, 2:9], np.s_[7:, ::-1]]
)
def test_strides_of_dense_operands(engine, rng, view):
    X = rng.integers(0, 9, (14, 14)).astype(float)
    for whole in (X, np.asfortranarray(X)):
        part = whole[view]
        A = integers(rng, (5, part.shape[0]))
        assert (engine.matmul(A, part) == oracle(A.toarray(), part)).all()
        out = np.full_like(whole, -1)[:5][:, : part.shape[1]]
        engine.matmul(A, part, out=out)
        assert (out == oracle(A.toarray(), part)).all()


def test_padded_rows_are_not_copied(rng):
    from hybrid_spmm._operands.dense import dense

    X = np.zeros((9, 16))
    for part in (X[:, :5], X[2:, 3:7], X.T[:, 1:4], X[::3], np.asfortranarray(X)):
        _, used = dense(part, X.dtype)
        assert used is part


def test_unsorted_and_repeated_entries(engine):
    A = sp.csr_array(
        (np.array([1.0, 2, 3, 4]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3)
    )
    B = sp.csr_array(np.arange(9.0).reshape(3, 3))
    before = [array.copy() for array in (A.indptr, A.indices, A.data)]
    expected = oracle(A.toarray(), B.toarray())
    for run in (engine.matmul, lambda A, B: engine.plan(A, B)(A, B)):
        for operand in (B, B.toarray()):
            with pytest.warns(hs.FormatWarning, match="unsorted") as caught:
                C = run(A, operand)
            assert len(caught) == 1 and caught[0].filename == __file__
            assert (dense_of(C) == expected).all()
    assert all((a == b).all() for a, b in zip(before, (A.indptr, A.indices, A.data), strict=True))


def test_canonical_operands_do_not_warn(engine, rng):
    A = integers(rng, (9, 9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine.matmul(A, A)
        engine.matmul(A.T, A)
        engine.matmul(A.T, np.ones(9))


def test_arrays_longer_than_the_matrix(engine, rng):
    A = integers(rng, (9, 9))
    expected = oracle(A.toarray(), A.toarray())
    A.data, A.indices = np.append(A.data, [np.nan] * 5), np.append(A.indices, [99] * 5)
    assert (engine.matmul(A, A).toarray() == expected).all()
    assert (engine.matmul(A.T, A.toarray()) == oracle(A.toarray().T, A.toarray())).all()
    plan = engine.plan(A.T, 9)
    assert (plan(A.T, np.eye(9)) == A.toarray().T).all()


def test_errors_name_the_damaged_operand(engine, rng):
    good, bad = integers(rng, (6, 5), 0.9), integers(rng, (5, 7), 0.9)
    bad.indices[0] = 7
    with pytest.raises(hs.MatrixError, match=r"^CSR matrix of shape \(5, 7\): row 0, entry 0"):
        engine.matmul(good, bad)
    turned = bad.T  # CSC, over the same arrays
    with pytest.raises(hs.MatrixError, match=r"^CSC .* \(7, 5\): row 0, .* of the transpose$"):
        engine.matmul(turned, np.ones((5, 2)))
    turned.indptr = turned.indptr[:-1]
    with pytest.raises(hs.MatrixError, match="a matrix of 5 columns needs 6"):
        engine.matmul(turned, np.ones((5, 2)))


@pytest.mark.parametrize("damage", ["column", "negative", "falls", "end", "short", "start"])
@pytest.mark.parametrize("width", [np.int32, np.int64])
def test_damaged_matrices_are_refused(engine, rng, damage, width):
    A, good = integers(rng, (9, 9), 0.9), integers(rng, (9, 9))
    A.indptr, A.indices = A.indptr.astype(width), A.indices.astype(width)
    if damage == "column":
        A.indices[5] = 9
    if damage == "negative":
        A.indices[5] = -1
    if damage == "falls":
        A.indptr[3] = A.indptr[5]
        A.indptr[4] = 0
    if damage == "end":
        A.indptr[-1] += 100
    if damage == "short":
        A.indptr = A.indptr[:-1]
    if damage == "start":
        A.indptr[0] = 1
    dense = np.ones((9, 9))
    for left, right in ((A, good), (good, A), (A, dense), (dense, A), (A, dense[0])):
        with pytest.raises(hs.MatrixError):
            engine.matmul(left, right)
    with pytest.raises(ValueError):
        engine.plan(A, good)
    with pytest.raises(ValueError):
        engine.plan(A, 2)


def test_alpha_beta_and_out(engine, rng):
    A, X = integers(rng, (12, 8)), rng.integers(0, 9, (8, 5)).astype(float)
    for cls in (sp.csr_array, sp.csc_array):
        for order in "CF":
            out = np.array(rng.integers(0, 9, (12, 5)), float, order=order)
            expected = 2 * oracle(A.toarray(), X) + 3 * out
            assert engine.matmul(cls(A), X, out=out, alpha=2, beta=3) is out
            assert (out == expected).all()
    out = np.full((12, 5), np.nan)
    assert (engine.matmul(A, X, out=out) == oracle(A.toarray(), X)).all()
    out = np.ones((5, 8))
    Z = rng.integers(0, 9, (5, 12)).astype(float)
    expected = oracle(Z, A.toarray()) + 1
    assert engine.matmul(Z, A, out=out, beta=1) is out
    assert (out == expected).all()


def test_bad_out_is_refused(engine, rng):
    A, X = integers(rng, (8, 8)), np.ones((8, 5))
    frozen = np.zeros((8, 5))
    frozen.flags.writeable = False
    for out, error in (
        (np.zeros((8, 4)), hs.ShapeError),
        (np.zeros((8, 5), np.float32), hs.ShapeError),
        ([[0.0] * 5] * 8, hs.OperandTypeError),
        (frozen, hs.ArgumentError),
        (X, hs.ArgumentError),
    ):
        with pytest.raises(error):
            engine.matmul(A, X, out=out)
    with pytest.raises(hs.ArgumentError, match="out"):
        engine.matmul(A, X, beta=1)
    with pytest.raises(hs.ArgumentError, match="dense"):
        engine.matmul(A, A, alpha=2)


@pytest.mark.parametrize("factor", ["2", 2j, None])
def test_factors_are_real_numbers(engine, factor, tmp_path):
    A, X = sp.csr_array(np.eye(4)), np.ones((4, 2))
    plan = engine.plan(A, X)
    for product in (engine.matmul, plan):
        with pytest.raises(hs.OperandTypeError, match="alpha must be a real number, not"):
            product(A, X, alpha=factor)
        with pytest.raises(hs.OperandTypeError, match="beta must be a real number, not"):
            product(A, X, out=np.ones((4, 2)), beta=factor)
    with pytest.raises(hs.OperandTypeError, match="alpha must be a real number, not"):
        engine.matmul(A, X, out=tmp_path / "Y.npy", alpha=factor)
    assert (engine.matmul(A, X, alpha=np.float32(2)) == 2).all()


def test_an_operand_that_must_be_sparse_is_named(engine, tmp_path):
    A, X = sp.csr_array(np.eye(4)), np.ones((4, 2))
    for call in (
        lambda: engine.write_mtx(tmp_path / "X.mtx", X),
        lambda: engine.aslinearoperator(X),
        lambda: list(engine.matmul_rows(A, X)),
        lambda: engine.plan(X, A),
    ):
        with pytest.raises(hs.OperandTypeError, match="^a sparse .* is needed, not ndarray$"):
            call()


def test_shapes_that_do_not_fit(engine):
    A = sp.csr_array((3, 4))
    for left, right in ((A, A), (A, np.ones(3)), (np.ones((2, 4)), A), (A.T, A.T)):
        with pytest.raises(ValueError, match="columns meet"):
            engine.matmul(left, right)
    for right in (np.ones((4, 2, 2)), 3.0):
        with pytest.raises(hs.ShapeError, match="dimensions"):
            engine.matmul(A, right)
    with pytest.raises(TypeError, match="neither operand is sparse"):
        engine.matmul(np.eye(2), np.eye(2))


def test_zeros_are_kept(engine):
    A = sp.csr_array(np.array([[1.0, 1.0], [0.0, 1.0]]))
    B = sp.csr_array(np.array([[1.0, 0.0], [-1.0, 1.0]]))
    C = engine.matmul(A, B)
    assert C.nnz == 4 and C[0, 0] == 0
    C.eliminate_zeros()
    assert C.nnz == 3


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.int64])
def test_integers_in_blocks(engine, rng, kind):
    A = sp.bsr_array(integers(rng, (12, 12), dtype=kind), blocksize=(3, 2))
    B = sp.bsr_array(integers(rng, (12, 8), dtype=kind), blocksize=(2, 4))
    with pytest.warns(hs.FormatWarning):
        C = engine.matmul(A, B)
    expected = A @ B
    assert (C.format, C.dtype, C.blocksize) == ("bsr", kind, expected.blocksize)
    assert (C.toarray() == expected.toarray()).all()


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_damaged_matrices_are_refused_whatever_the_factor(engine, alpha):
    A = sp.csr_array(np.eye(5))
    A.indices[2] = 5
    for x in (np.ones(5), np.ones((5, 3))):
        out = np.ones_like(x)
        with pytest.raises(hs.MatrixError):
            engine.matmul(A, x, out=out, alpha=alpha, beta=2)
        assert (out == 1).all()


def test_calls_notice_what_changed_since_the_last_one(engine, rng):
    A, x = integers(rng, (12, 12)), np.ones(12)
    plan = engine.plan(A, x)

    def agree():
        expected = oracle(A.toarray(), x)
        assert (engine.matmul(A, x) == expected).all() and (plan(A, x) == expected).all()
        assert (engine.matmul(A, A).toarray() == oracle(A.toarray(), A.toarray())).all()

    agree()
    A.data = A.data * 2  # the values are in another array than before
    agree()
    A.data = np.repeat(A.data, 2)[::2]  # the values have gaps between them
    agree()
    A.data = A.data.copy()
    agree()
    A.data.flags.writeable = False
    agree()
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    agree()
    A.data = A.data.astype(">f8")
    agree()
    longer = np.arange(1.0, A.nnz + 1)
    A.data = longer
    agree()
    longer.resize(A.nnz + 100_000, refcheck=False)  # the same array object, at another address
    agree()
    longer.resize(A.nnz - 1, refcheck=False)
    with pytest.raises(hs.MatrixError):
        engine.matmul(A, x)
    with pytest.raises(hs.MatrixError):
        plan(A, x)
