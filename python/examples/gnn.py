"""A graph neural network of two layers tells which club each member of a karate club joins.

The network of Kipf and Welling (2017) knows the choice of two members only, the instructor
and the president, and the friendships of all: Y = N relu(N W1) W2, with the graph N.
"""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

import hybrid_spmm as hs

try:
    import torch
except ImportError:
    raise SystemExit("skipped: this example needs PyTorch") from None

friends = hs.read_mtx(Path(__file__).with_name("karate.mtx"), dtype=np.float32)
members = friends.shape[0]

# N = D^-1/2 (A + I) D^-1/2 averages over each member and its friends.
N = sp.csr_array(friends + sp.eye(members, dtype=np.float32))
scale = (1 / np.sqrt(N.sum(axis=1))).astype(np.float32)
N.data *= np.repeat(scale, np.diff(N.indptr)) * scale[N.indices]
arrays = map(torch.from_numpy, (N.indptr, N.indices, N.data))
N = torch.sparse_csr_tensor(*arrays, size=N.shape)

# Members who joined the instructor's club, by Zachary's Table 3. The others joined the
# president's.
joined = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 17, 18, 20, 22]
truth = torch.ones(members, dtype=torch.int64)
truth[torch.tensor(joined) - 1] = 0
known = torch.tensor([0, members - 1])

torch.manual_seed(0)
W1 = torch.nn.Parameter(torch.randn(members, 16) / 4)  # every member has a feature of its own
W2 = torch.nn.Parameter(torch.randn(16, 2) / 4)


def network():
    """Return two scores for each member: of the instructor's club and of the president's."""
    hidden = torch.relu(hs.torch.matmul(N, W1))
    return hs.torch.matmul(N, hidden @ W2)


optimizer = torch.optim.Adam([W1, W2], lr=0.01, weight_decay=5e-4)
for epoch in range(201):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(network()[known], truth[known])
    loss.backward()
    optimizer.step()
    if epoch % 50 == 0:
        right = (network().argmax(dim=1) == truth).sum().item()
        print(f"epoch {epoch:3}: loss {loss.item():.3f}, {right} of {members} members are right")
assert right >= 30

# PyTorch computes the same gradient with a dense N.
optimizer.zero_grad()
scores = N.to_dense() @ torch.relu(N.to_dense() @ W1) @ W2
torch.nn.functional.cross_entropy(scores[known], truth[known]).backward()
gradient = W1.grad.clone()
optimizer.zero_grad()
torch.nn.functional.cross_entropy(network()[known], truth[known]).backward()
assert torch.allclose(W1.grad, gradient, atol=1e-6)
