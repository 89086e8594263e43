"""PageRank of a graph that CuPy holds in the memory of a GPU.

The products are computed where their operands are, and the results are CuPy's.
"""

import numpy as np
import scipy.sparse as sp

import hybrid_spmm as hs

try:
    import cupy
    import cupyx.scipy.sparse
except ImportError:
    raise SystemExit("skipped: this example needs CuPy") from None
if not cupy.cuda.is_available():
    raise SystemExit("skipped: this example needs a GPU")

# A random web: each page links to ten others, and a reader follows each link with the same
# probability. Column j of A holds where page j leads.
pages, links = 100_000, 10
rng = np.random.default_rng(4)
targets = rng.integers(0, pages, pages * links)
sources = np.repeat(np.arange(pages), links)
web = sp.coo_array((np.full(targets.size, 1 / links), (targets, sources)), shape=(pages, pages))
web = web.tocsr()

A = cupyx.scipy.sparse.csr_matrix(web)
start = cupy.full(pages, 1 / pages)
rank = start
for _ in range(50):
    # With probability 0.15 the reader stops and begins at any page.
    rank = hs.matmul(A, rank, out=start.copy(), alpha=0.85, beta=0.15)
best = cupy.argsort(-rank)[:5]
print("best pages:", best.tolist())
print(f"one product copied {hs.last_report().h2d_bytes} bytes to the GPU")

# SciPy computes the same ranks on the CPU.
expected = np.full(pages, 1 / pages)
for _ in range(50):
    expected = 0.85 * (web @ expected) + 0.15 / pages
assert isinstance(rank, cupy.ndarray)
assert np.allclose(rank.get(), expected, rtol=1e-10)
