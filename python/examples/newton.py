"""Two Newton steps of a logistic regression, whose Hessians come from one plan.

The Hessian is H = X^T (W X) + I with a diagonal W. Each step changes the values of W X and
leaves its pattern as it is, so the pattern of H is computed once.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

import hybrid_spmm as hs

rng = np.random.default_rng(1)
samples, features = 5000, 400
X = sp.csr_array(sp.random(samples, features, density=0.01, random_state=1))
truth = rng.normal(scale=0.5, size=features)
labels = (rng.random(samples) < 1 / (1 + np.exp(-X @ truth))).astype(float)


def gradient(beta):
    """Return the gradient of the loss plus |beta|^2 / 2, and the probabilities."""
    probability = 1 / (1 + np.exp(-hs.matmul(X, beta)))
    return hs.matmul(X.T, probability - labels) + beta, probability


def hessian(probability):
    """Return the Hessian, whose pattern the plan knows."""
    WX = X.copy()
    WX.data *= np.repeat(probability * (1 - probability), np.diff(X.indptr))
    return plan(X.T, WX) + identity


plan = hs.plan(X.T, X)
identity = sp.csc_array(sp.eye(features))
beta = np.zeros(features)
g, probability = gradient(beta)
norms = [np.linalg.norm(g)]
for _ in range(2):
    beta -= spsolve(hessian(probability), g)
    g, probability = gradient(beta)
    norms.append(np.linalg.norm(g))
print("norms of the gradient:", ", ".join(f"{norm:.1e}" for norm in norms))
print("the second Hessian reused the pattern:", plan.report().reused_pattern)

# The Hessian is the derivative of the gradient, which a difference quotient approximates.
direction = rng.normal(size=features)
ahead, behind = (gradient(beta + t * direction)[0] for t in (1e-5, -1e-5))
slope = hs.matmul(hessian(probability), direction)
assert np.allclose(slope, (ahead - behind) / 2e-5, rtol=1e-6, atol=1e-6)
assert norms[2] < norms[0] / 100
