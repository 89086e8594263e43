"""The coarse operators R A P of multigrid for Poisson's equation on a square.

P interpolates linearly from every second point of a grid, and R is its transpose. Each level
of the hierarchy is the Galerkin product of the level above it.
"""

import numpy as np
import scipy.sparse as sp

import hybrid_spmm as hs


def poisson(n):
    """Return the five-point Laplacian of n x n points inside a square."""
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    return sp.csr_array(sp.kron(line, sp.eye(n)) + sp.kron(sp.eye(n), line))


def interpolation(n):
    """Return the matrix that interpolates from (n - 1) / 2 points of each side to n points."""
    coarse = (n - 1) // 2
    column = np.arange(coarse)
    rows = np.concatenate([2 * column, 2 * column + 1, 2 * column + 2])
    values = np.repeat([0.5, 1.0, 0.5], coarse)
    line = sp.coo_array((values, (rows, np.tile(column, 3))), shape=(n, coarse))
    return sp.csr_array(sp.kron(line, line))


n = 127
A = poisson(n)
rng = np.random.default_rng(0)
print("    grid    rows  entries")
while True:
    print(f"{n:4}^2 {A.shape[0]:9}{A.nnz:9}")
    if n < 7:
        break
    P = interpolation(n)
    coarse = hs.matmul(P.T, hs.matmul(A, P)).tocsr()

    # A coarse function has the same energy on both grids.
    u = rng.normal(size=P.shape[1])
    energy = (P @ u) @ (A @ (P @ u))
    assert np.isclose(u @ (coarse @ u), energy, rtol=1e-12)

    n, A = (n - 1) // 2, coarse

print("stencil of the coarsest grid:")
print(A.toarray()[4].reshape(3, 3).round(3))
