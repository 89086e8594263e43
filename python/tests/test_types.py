"""Types of values: what SciPy's rules give, exactly, or an error."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import integers, oracle

import hybrid_spmm as hs

KINDS = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
FLOATS = [np.float32, np.float64]


@pytest.mark.parametrize("left", KINDS + FLOATS)
@pytest.mark.parametrize("right", KINDS + FLOATS)
def test_result_types_are_scipy_s(engine, rng, left, right):
    A, B = integers(rng, (6, 5), 0.2).astype(left), integers(rng, (5, 4), 0.2).astype(right)
    for C, D in (
        (engine.matmul(A, B), A @ B),
        (engine.matmul(A, B.toarray()), A @ B.toarray()),
        (engine.matmul(A.toarray(), B), A.toarray() @ B),
        (engine.plan(A, B)(A, B), A @ B),
        (engine.plan(A, B.toarray())(A, B.toarray()), A @ B.toarray()),
    ):
        assert C.dtype == D.dtype
        assert (abs(C - D) if C.dtype != bool else C != D).sum() == 0


def test_big_endian_values(engine, rng):
    A = integers(rng, (6, 6))
    B = sp.csr_array((A.data.astype(">f8"), A.indices, A.indptr), shape=A.shape)
    assert (engine.matmul(B, A).toarray() == oracle(A.toarray(), A.toarray())).all()


@pytest.mark.parametrize("kind", [np.float16, np.complex64, np.complex128, np.longdouble, object])
def test_other_types_are_refused(engine, kind):
    A, X = sp.csr_array(np.eye(3)), np.eye(3).astype(kind)
    with pytest.raises(TypeError, match="float32, float64, integers and bool are"):
        engine.matmul(A, X)
    A.data = A.data.astype(kind)
    with pytest.raises(hs.OperandTypeError, match=f"{np.dtype(kind)} are not supported"):
        engine.matmul(A, A)
    with pytest.raises(TypeError):
        engine.plan(A, A)


def row_and_column(values, dtype):
    row = sp.csr_array(np.array([values], dtype))
    return row, sp.csr_array(np.ones((len(values), 1), dtype))


@pytest.mark.parametrize("use", ["sparse", "dense", "plan", "dense plan"])
def test_sums_beyond_the_type_raise(engine, use):
    def product(A, B):
        if use == "sparse":
            return engine.matmul(A, B)
        if use == "dense":
            return engine.matmul(A, B.toarray())
        B = B if use == "plan" else B.toarray()
        return engine.plan(A, B)(A, B)

    A, B = row_and_column([100, 27], np.int8)
    assert product(A, B)[0, 0] == 127
    A, B = row_and_column([100, 28], np.int8)
    with pytest.raises(OverflowError, match="128, beyond int8"):
        product(A, B)
    A, B = row_and_column([2**52, 2**52 - 1], np.int64)
    assert product(A, B)[0, 0] == 2**53 - 1
    A, B = row_and_column([2**52, 2**52], np.int64)
    with pytest.raises(OverflowError, match="2\\^53"):
        product(A, B)
    A, B = row_and_column([2**53 + 1, 1], np.int64)
    with pytest.raises(OverflowError, match="not below 2\\^53"):
        product(A, B)
    A, B = row_and_column([2**52, 2**52, -(2**52)], np.int64)
    with pytest.raises(hs.ExactnessError):
        product(A, B)


def test_large_factors_whose_sums_are_small_are_exact(engine):
    """The bound from the largest factors fails here, and magnitudes are multiplied."""
    A = sp.csr_array(np.array([[2**40, 0], [0, 3]], np.int64))
    B = sp.csr_array(np.array([[2, 0], [0, 2**40]], np.int64))
    assert (engine.matmul(A, B).toarray() == [[2**41, 0], [0, 3 * 2**40]]).all()


def test_repeated_integers_do_not_wrap(engine):
    A = sp.coo_array((np.array([100, 100], np.int8), ([0, 0], [0, 0])), shape=(1, 1))
    one = sp.csr_array(np.ones((1, 1), np.int8))
    with pytest.warns(hs.FormatWarning), pytest.raises(OverflowError, match="200"):
        engine.matmul(A, one)


def test_bools_are_true_or_false(engine):
    A = sp.csr_array(np.ones((3, 3), bool))
    C = engine.matmul(A, A)
    assert C.dtype == bool and C.toarray().all()


def test_integers_take_no_alpha(engine):
    A = sp.csr_array(np.ones((3, 3), int))
    with pytest.raises(TypeError, match="alpha"):
        engine.matmul(A, np.ones((3, 1), int), alpha=2)
    out = np.zeros((3, 1), int)
    assert engine.matmul(A, np.ones((3, 1), int), out=out) is out
    assert (out == 3).all()
