"""The 30 most similar items of each item: the largest entries in the rows of A A^T.

The product has over ten times as many entries as A, and 30 of each row are kept. Panels of
rows arrive while later ones are computed, and the product is never stored as a whole.
"""

import numpy as np
import scipy.sparse as sp

import hybrid_spmm as hs

KEPT = 30


def largest(rows, count):
    """Return the columns and the values of the largest entries of each row of a csr array."""
    for begin, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        columns, values = rows.indices[begin:end], rows.data[begin:end]
        order = np.argsort(-values, kind="stable")[:count]
        yield columns[order], values[order]


# Rows of unit length, so that entries of A A^T are cosines.
A = sp.csr_array(sp.random(3000, 5000, density=0.004, random_state=2))
A.data /= np.repeat(np.sqrt(A.power(2).sum(axis=1)), np.diff(A.indptr))

found = {}
for first, rows in hs.matmul_rows(A, A.T):
    for i, (columns, values) in enumerate(largest(rows, KEPT), start=first):
        found[i] = columns, values

columns, values = (array[:4] for array in found[0])
print(f"the product has {hs.last_report().nnz_out} entries, and {KEPT} of each row are kept")
print("item 0 is most like items", columns, "with cosines", values.round(2))

# The dense product has the same entries in this order.
dense = A.toarray()
for i in range(0, 3000, 100):
    similar = dense @ dense[i]
    columns, values = found[i]
    assert columns[0] == i
    assert np.allclose(values, similar[columns])
    assert np.allclose(values, np.sort(similar)[::-1][:KEPT])
assert len(found) == 3000
