"""Transposes that accelerate() keeps for products of a CSC matrix and a dense one."""

import gc

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import integers, users

import hybrid_spmm as hs
from hybrid_spmm._products import turned


@pytest.fixture
def made(monkeypatch):
    """The operands that were transposed, in order."""
    told = []
    transposed = turned.transposed
    monkeypatch.setattr(
        turned, "transposed", lambda h, a, dtype: told.append(a) or transposed(h, a, dtype)
    )
    return told


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_a_transpose_is_made_twice_and_kept(engine, rng, made, dtype):
    A, X = integers(rng, (30, 40), dtype=dtype), rng.integers(0, 9, (30, 16)).astype(dtype)
    expected = A.T @ X
    with hs.accelerate(engine) as used:
        for _ in range(5):
            assert np.array_equal(A.T @ X, expected)
            assert (X.T @ A == expected.T).all()
    assert used.products == 10 and len(made) == 2


def test_changes_in_place_are_noticed(engine, rng, made):
    A, X = integers(rng, (30, 40)).tocsc(), rng.integers(0, 9, (40, 16)).astype(float)
    with hs.accelerate(engine) as used:

        def product():
            assert np.array_equal(A @ X, A.toarray() @ X)

        for _ in range(3):
            product()
        A.data[5] = 100
        product()
        product()
        rows = A.indices[A.indptr[3] : A.indptr[4]]
        rows[:] = np.sort(rng.permutation(30)[: len(rows)])
        product()
        product()
        A.indptr[7] = A.indptr[6]  # column 6 loses its entries to column 7
        A.sort_indices()
        A.has_canonical_format = False
        A.sum_duplicates()
        product()
        product()
    assert used.products == 9 and not used.fallbacks


def test_nan_and_signs_of_zero_are_values(engine, rng, made):
    A, X = integers(rng, (30, 40)).tocsc(), np.ones((40, 16))
    A.data[:2] = np.nan, 0.0
    with hs.accelerate(engine):
        for _ in range(4):
            found = A @ X
        assert len(made) == 2 and np.array_equal(found, A.toarray() @ X, equal_nan=True)
        A.data[1] = -0.0
        A @ X
    assert len(made) == 3


def test_nothing_outlives_its_matrix_or_the_block(engine, rng):
    X = np.ones((40, 16))
    with hs.accelerate(engine) as used:
        for _ in range(turned.MOST + 3):
            A = integers(rng, (30, 40)).tocsc()
            A @ X
            A @ X
            assert 1 <= len(used._transposes._kept) <= turned.MOST
        many = [integers(rng, (30, 40)).tocsc() for _ in range(turned.MOST + 3)]
        for A in many + many:
            A @ X
        assert len(used._transposes._kept) == turned.MOST
        del A, many
        gc.collect()
        assert not used._transposes._kept
        A = integers(rng, (30, 40)).tocsc()
        A @ X
        A @ X
        assert used._transposes._kept
    assert not used._transposes._kept
    gc.collect()
    assert not users(engine)


def test_large_matrices_are_not_kept(engine, rng, made, monkeypatch):
    A, X = integers(rng, (30, 40)).tocsc(), np.ones((40, 16))
    bytes_ = A.data.nbytes + A.indices.nbytes + A.indptr.nbytes
    for most, times in ((bytes_ - 1, 4), (bytes_, 2)):
        del made[:]
        monkeypatch.setattr(turned, "memory", lambda most=most: most * turned.SHARE)
        with hs.accelerate(engine):
            for _ in range(4):
                A @ X
        assert len(made) == times


def test_kept_transposes_give_way_when_memory_runs_out():
    """The memory of the engine holds the square of S or the transposes, but not both."""
    n, band = 100_000, range(10)
    S = sp.csr_array(sp.diags([1.0] * 10, band, shape=(n, n)))
    many = [sp.csc_array(S) for _ in range(turned.MOST)]
    X, expected = np.ones((n, 16)), S @ S
    with (
        hs.Engine(backend="host", threads=2, host_memory="60MB") as engine,
        hs.accelerate(engine) as used,
    ):
        for A in many + many:
            assert (A @ X).sum() == 16 * S.nnz
            C = S @ S
            assert (C - expected).count_nonzero() == 0
            del C
    assert used.products == 16 and not used.fallbacks
