"""The topics of documents, from a truncated SVD of a matrix of documents and words.

The operator keeps the matrix and its transpose ready for the many products of svds, on the
GPU if there is one.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

import hybrid_spmm as hs

# Each of 600 documents is about one of four topics. Half of its 60 words are among the 50 of
# that topic, and the others are any of 1000.
rng = np.random.default_rng(5)
topic = rng.integers(0, 4, 600)
own = 50 * topic[:, None] + rng.integers(0, 50, (600, 30))
words = np.concatenate([own, rng.integers(0, 1000, (600, 30))], axis=1)
documents = np.repeat(np.arange(600), 60)
counts = sp.coo_array((np.ones(words.size), (documents, words.ravel())), shape=(600, 1000)).tocsr()

U, S, Vt = svds(hs.aslinearoperator(counts), k=4)
print("singular values:", np.sort(S)[::-1].round(1))

# Documents of one topic have similar coordinates: the nearest other one shares its topic.
coordinates = U * S
distance = np.linalg.norm(coordinates[:, None] - coordinates, axis=2)
np.fill_diagonal(distance, np.inf)
share = np.mean(topic[distance.argmin(axis=1)] == topic)
print(f"{share:.0%} of the documents are nearest to one of their own topic")

assert np.allclose(np.sort(S)[::-1], np.linalg.svd(counts.toarray(), compute_uv=False)[:4])
assert share > 0.95
