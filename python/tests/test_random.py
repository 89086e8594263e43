"""Random operands of all shapes, types, formats, orders and strides, against SciPy."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

import hybrid_spmm as hs

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

EXAMPLES = int(os.environ.get("HYBRID_EXAMPLES", "40"))
TYPES = [np.bool_, np.int8, np.uint8, np.int16, np.uint32, np.int64, np.float32, np.float64]
FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dia"]
sizes = st.integers(0, 12)

pytestmark = pytest.mark.filterwarnings(
    "ignore::hybrid_spmm.FormatWarning", "ignore::scipy.sparse.SparseEfficiencyWarning"
)
engine = hs.Engine(backend="host", threads=2)


@st.composite
def dense(draw, shape):
    """Draw a dense matrix: any order, with gaps or without, read-only or not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    whole = rng.integers(0, 4, [3 * n + 2 for n in shape]).astype(draw(st.sampled_from(TYPES)))
    whole = np.asarray(whole, order=draw(st.sampled_from("CF")))
    steps = [draw(st.sampled_from([1, 1, 2, 3, -1, -2])) for _ in shape]
    view = whole[tuple(np.s_[::step] for step in steps)]
    view = view[tuple(np.s_[:n] for n in shape)]
    if draw(st.booleans()):
        view = np.array(view, order=draw(st.sampled_from("CF")))
    view.flags.writeable = draw(st.booleans())
    return view


@st.composite
def sparse(draw, shape):
    """Draw a sparse matrix: any format and width of indices, sorted or not, repeated or not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nnz = draw(st.integers(0, 30)) if shape[0] and shape[1] else 0
    rows, columns = (rng.integers(0, max(n, 1), nnz) for n in shape)
    kind, dtype = draw(st.sampled_from(FORMATS)), draw(st.sampled_from(TYPES))
    suffix = draw(st.sampled_from(["array", "matrix"]))
    entries = rng.integers(0, 4, nnz).astype(dtype)
    small = np.dtype(dtype).itemsize == 1  # sums of repeated entries could exceed it
    if draw(st.booleans()) and kind in ("csr", "csc") and not small:
        A = sp.coo_array((entries, (rows, columns)), shape=shape)
    else:
        single = np.zeros(shape, dtype)
        single[rows, columns] = entries
        A = sp.coo_array(single)
    if kind in ("csr", "csc") and draw(st.booleans()):
        A = by_rows(A, rng, dtype) if kind == "csr" else by_rows(A.T, rng, dtype).T
        index = draw(st.sampled_from([np.int32, np.int64]))
        A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    if 0 in shape and kind in ("bsr", "dia"):
        kind = "csr"
    found = getattr(sp, f"{kind}_{suffix}")(A)
    if kind in ("csr", "csc"):
        found.data.flags.writeable = draw(st.booleans())
    return found


def by_rows(A, rng, dtype):
    """Return a COO matrix as CSR with its entries in random order inside each row."""
    order = rng.permutation(A.nnz)
    order = order[np.argsort(A.row[order], kind="stable")]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(A.row, minlength=A.shape[0]))])
    return sp.csr_array((A.data[order].astype(dtype), A.col[order], indptr), shape=A.shape)


@st.composite
def pairs(draw, left, right):
    """Draw two operands that fit together."""
    m, k, n = draw(sizes), draw(sizes), draw(sizes)
    return draw(left((m, k))), draw(right((k, n)))


def plain(operand):
    """Return an operand as a dense array of Python's integers."""
    array = operand.tocoo() if sp.issparse(operand) else operand
    if not sp.issparse(operand):
        return array.astype(object)
    result = np.zeros(array.shape, object)
    for i, j, value in zip(array.row, array.col, array.data.tolist(), strict=True):
        result[i, j] += int(value)
    return result


def dtype_of(A, B):
    return np.result_type(A.dtype, B.dtype)


def agrees(found, A, B):
    """Assert that a product has SciPy's kind and type, and the values of the definition."""
    expected = plain(A).dot(plain(B)) if A.shape[1] else np.zeros((A.shape[0], B.shape[1]), int)
    if dtype_of(A, B).kind == "b":
        expected = expected != 0
    assert found.dtype == dtype_of(A, B) and found.shape == expected.shape
    both = sp.issparse(A) and sp.issparse(B)
    assert sp.issparse(found) == both
    assert np.array_equal(found.toarray() if both else found, expected)


@settings(max_examples=EXAMPLES, deadline=None)
@given(pairs(sparse, sparse))
def test_sparse_times_sparse(operands):
    A, B = operands
    agrees(engine.matmul(A, B), A, B)
    plan = engine.plan(A, B)
    for _ in range(2):
        agrees(plan(A, B), A, B)


@settings(max_examples=EXAMPLES, deadline=None)
@given(pairs(sparse, dense))
def test_sparse_times_dense(operands):
    A, X = operands
    agrees(engine.matmul(A, X), A, X)
    agrees(engine.plan(A, X)(A, X), A, X)
    if X.shape[1]:
        y = engine.matmul(A, X[:, 0])
        assert np.array_equal(y, engine.matmul(A, X)[:, 0])


@settings(max_examples=EXAMPLES, deadline=None)
@given(pairs(dense, sparse))
def test_dense_times_sparse(operands):
    agrees(engine.matmul(*operands), *operands)


@settings(max_examples=EXAMPLES, deadline=None)
@given(pairs(sparse, dense), st.data())
def test_out_alpha_and_beta(operands, data):
    A, X = (operand.astype(np.float64) for operand in operands)
    out = data.draw(dense((A.shape[0], X.shape[1]))).astype(np.float64)
    alpha, beta = (data.draw(st.sampled_from([0.0, 1.0, -2.0])) for _ in range(2))
    expected = alpha * engine.matmul(A, X) + beta * out
    assert engine.matmul(A, X, out=out, alpha=alpha, beta=beta) is out
    assert np.array_equal(out, expected)


@settings(max_examples=EXAMPLES, deadline=None)
@given(pairs(sparse, sparse))
def test_accelerate(operands):
    A, B = operands
    # SciPy computes products of two DIA matrices, and 1.18 fails if the result is empty.
    hypothesis.assume(not A.format == B.format == "dia")
    expected = A @ B
    with hs.accelerate(engine):
        found = A @ B
    assert type(found) is type(expected) and found.dtype == expected.dtype
    assert np.array_equal(found.toarray(), expected.toarray())


@settings(max_examples=EXAMPLES, deadline=None)
@given(pairs(sparse, sparse))
def test_panels_of_rows(operands):
    A, B = operands
    panels = [rows for _, rows in engine.matmul_rows(A, B, chunk_rows=3)]
    if panels:
        agrees(sp.vstack(panels, format="csr").astype(dtype_of(A, B)), A, B)
    assert sum(rows.shape[0] for rows in panels) == A.shape[0]
