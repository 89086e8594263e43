"""hybrid_spmm.torch in host memory, and the marshalling of tensors for GPUs."""

import gc

import numpy as np
import pytest
from conftest import integers, oracle

import hybrid_spmm as hs

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
LAYOUTS = ["csr", "csc", "coo"]


def tensor(A, layout, index=torch.int64):
    """Return a SciPy matrix as a sparse tensor."""
    if layout == "coo":
        return torch.from_numpy(A.toarray()).to_sparse_coo()
    held = A.asformat(layout)
    make = torch.sparse_csr_tensor if layout == "csr" else torch.sparse_csc_tensor
    indptr, indices = (torch.from_numpy(a).to(index) for a in (held.indptr, held.indices))
    return make(indptr, indices, torch.from_numpy(held.data), size=A.shape)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32])
def test_products(rng, layout, kind):
    A = integers(rng, (12, 8), dtype=kind)
    X, Z = rng.integers(-9, 9, (8, 5)).astype(kind), rng.integers(-9, 9, (5, 12)).astype(kind)
    D = tensor(A, layout)
    for x in (X, np.asfortranarray(X), X[:, 0], X[:, ::2]):
        Y = hs.torch.matmul(D, torch.from_numpy(x))
        assert Y.dtype == torch.from_numpy(x).dtype
        assert (Y.numpy() == oracle(A.toarray(), x)).all()
    for z in (Z, Z[0]):
        assert (hs.torch.matmul(torch.from_numpy(z), D).numpy() == oracle(z, A.toarray())).all()


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_sparse_times_sparse(rng, left, right):
    A, B = integers(rng, (12, 8)), integers(rng, (8, 10))
    C = hs.torch.matmul(tensor(A, left), tensor(B, right))
    assert C.layout == (torch.sparse_csc if left == "csc" else torch.sparse_csr)
    assert (C.to_dense().numpy() == oracle(A.toarray(), B.toarray())).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("index", [torch.int32, torch.int64])
def test_gradients(rng, layout, index):
    A = tensor(integers(rng, (6, 4)), layout, index)
    X = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    Z = torch.randn(3, 6, dtype=torch.float64, requires_grad=True)
    for function, operand in (
        (lambda X: hs.torch.matmul(A, X), X),
        (lambda x: hs.torch.matmul(A, x), x),
        (lambda Z: hs.torch.matmul(Z, A), Z),
    ):
        assert torch.autograd.gradcheck(function, operand)
        assert torch.autograd.gradgradcheck(function, operand)


def test_the_gradient_is_that_of_pytorch(rng):
    A = integers(rng, (60, 40), dtype=np.float32)
    X = torch.ones(40, 3, requires_grad=True)
    (hs.torch.matmul(tensor(A, "csr"), X) ** 2).sum().backward()
    found, X.grad = X.grad, None
    ((torch.from_numpy(A.toarray()) @ X) ** 2).sum().backward()
    assert torch.equal(found, X.grad)


def test_the_gradient_has_the_type_of_its_operand(rng):
    A = tensor(integers(rng, (6, 4)), "csr")
    X = torch.ones(4, 3, dtype=torch.float32, requires_grad=True)
    Y = hs.torch.matmul(A, X)
    assert Y.dtype == torch.float64
    Y.sum().backward()
    assert X.grad.dtype == torch.float32


def test_a_layer_learns(rng):
    A = tensor(integers(rng, (20, 20), dtype=np.float32), "csr")
    X, target = torch.randn(20, 5), torch.randn(20, 2)
    layer = torch.nn.Linear(5, 2)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = ((hs.torch.matmul(A, layer(X)) - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_values_that_require_a_gradient_are_refused(rng):
    A = tensor(integers(rng, (6, 4)), "csr").requires_grad_()
    with pytest.raises(NotImplementedError, match="detach"):
        hs.torch.matmul(A, torch.ones(4, 2, dtype=torch.float64))
    assert hs.torch.matmul(A.detach(), torch.ones(4, 2, dtype=torch.float64)).shape == (6, 2)


def test_values_changed_before_backward_are_noticed(rng):
    A = tensor(integers(rng, (6, 4)), "csr")
    X = torch.ones(4, 2, dtype=torch.float64, requires_grad=True)
    Y = hs.torch.matmul(A, X)
    A.values().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        Y.sum().backward()


@pytest.fixture
def made(monkeypatch):
    """The patterns that were transposed, in order."""
    told = []
    numbered = hs.torch.numbered
    monkeypatch.setattr(hs.torch, "numbered", lambda *a: told.append(a) or numbered(*a))
    return told


def both_ways(A, X):
    """Return the product and the gradient of the sum of its squares."""
    X = torch.from_numpy(X).requires_grad_()
    Y = hs.torch.matmul(A, X)
    (Y * Y).sum().backward()
    return Y.detach().numpy(), X.grad.numpy()


def agree(found, A, X):
    """Assert that a product and a gradient are those of the dense matrix."""
    dense = A.to_dense().numpy()
    assert (found[0] == dense @ X).all() and (found[1] == 2 * dense.T @ (dense @ X)).all()


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_a_pattern_is_transposed_once(rng, made, layout):
    A, X = tensor(integers(rng, (12, 8)), layout), rng.integers(-9, 9, (8, 5)).astype(float)
    for _ in range(3):
        agree(both_ways(A, X), A, X)
        agree(both_ways(A, X[:, :1]), A, X[:, :1])
    assert len(made) == 1


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_the_transpose_follows_changes_in_place(rng, layout):
    A, X = tensor(integers(rng, (12, 8)), layout), rng.integers(-9, 9, (8, 5)).astype(float)
    agree(both_ways(A, X), A, X)
    A.values().mul_(3)
    agree(both_ways(A, X), A, X)
    A.values().numpy()[1] = 50  # changes a value without PyTorch noticing it
    agree(both_ways(A, X), A, X)
    indptr = A.crow_indices() if layout == "csr" else A.ccol_indices()
    indices = A.col_indices() if layout == "csr" else A.row_indices()
    part = indices[indptr[2] : indptr[3]]
    part.copy_(torch.from_numpy(np.sort(rng.permutation(8)[: len(part)])))
    agree(both_ways(A, X), A, X)


def test_the_transpose_of_an_unsorted_tensor(rng, made):
    indptr, indices = torch.tensor([0, 2, 4]), torch.tensor([2, 0, 1, 1])
    A = torch.sparse_csr_tensor(indptr, indices, torch.tensor([1.0, 2, 3, 4]).double(), (2, 3))
    X = np.arange(6.0).reshape(3, 2)
    for _ in range(2):
        with pytest.warns(hs.FormatWarning):
            Y, gradient = both_ways(A, X)
        dense = np.array([[2.0, 0, 1], [0, 7, 0]])
        assert np.array_equal(Y, dense @ X)
        assert np.array_equal(gradient, 2 * dense.T @ (dense @ X))


def test_a_kept_pattern_dies_with_its_tensor(rng):
    A, X = tensor(integers(rng, (12, 8)), "csr"), np.ones((8, 2))
    before = len(hs.torch._turned)
    both_ways(A, X)
    assert len(hs.torch._turned) == before + 1
    del A
    gc.collect()
    assert len(hs.torch._turned) == before


def test_tensors_of_inference_mode(rng):
    A, X = integers(rng, (12, 8)), np.ones((8, 2))
    with torch.inference_mode():
        Y = hs.torch.matmul(tensor(A, "csc"), torch.from_numpy(X))
    assert (Y.numpy() == A @ X).all()


def test_tensors_are_not_copied(rng, monkeypatch):
    from hybrid_spmm import _engine

    seen = []
    multiply = _engine.multiply
    monkeypatch.setattr(_engine, "multiply", lambda *a: seen.append(a) or multiply(*a))
    A, X = tensor(integers(rng, (12, 8)), "csr", torch.int32), torch.ones(8, 3).double()
    hs.torch.matmul(A, X)
    _, matrix, dense, *_ = seen[0]
    for array, own in (
        (matrix.indptr, A.crow_indices()),
        (matrix.indices, A.col_indices()),
        (matrix.data, A.values()),
        (dense, X),
    ):
        assert array.ctypes.data == own.data_ptr()


def test_what_is_refused(rng):
    A = tensor(integers(rng, (6, 4)), "csr")
    for other, error in (
        (np.ones((4, 2)), TypeError),
        (torch.ones(4, 2).half(), TypeError),
        (torch.ones(4, 2).bfloat16(), TypeError),
        (torch.ones(4, 2) * 1j, TypeError),
        (torch.ones(5, 2).double(), ValueError),
        (torch.ones(4, 2, 2).double(), ValueError),
    ):
        with pytest.raises(error):
            hs.torch.matmul(A, other)
    with pytest.raises(hs.OperandTypeError, match="sparse"):
        hs.torch.matmul(torch.ones(2, 2), torch.ones(2, 2))


@pytest.fixture
def pretended(monkeypatch):
    """Host memory in place of the GPU's: tensors take the way of tensors on a GPU."""
    from hybrid_spmm._gpu import device_operands, foreign
    from hybrid_spmm._native import capi, library

    told = []
    tell = library.lib.hybrid_engine_stream
    monkeypatch.setattr(
        library.lib, "hybrid_engine_stream", lambda e, s: told.append(s) or tell(e, None)
    )
    monkeypatch.setattr(device_operands, "SPACE", capi.SPACE_HOST)
    monkeypatch.setattr(foreign.Torch, "on_device", lambda self, operand: True)
    monkeypatch.setattr(foreign.Torch, "stream", lambda self, device: 77)
    return told


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tensors_on_a_gpu_are_read_where_they_are(engine, rng, pretended, layout):
    A, X = integers(rng, (12, 8)), rng.integers(0, 9, (8, 5)).astype(float)
    D = tensor(A, layout)
    for x in (X, np.asfortranarray(X), X[:, ::2], X[:, 0], X.astype(np.float32)):
        Y = engine.matmul(D, torch.from_numpy(x))
        assert isinstance(Y, torch.Tensor) and (Y.numpy() == oracle(A.toarray(), x)).all()
    Z = np.ones((5, 12))
    assert (engine.matmul(torch.from_numpy(Z), D).numpy() == oracle(Z, A.toarray())).all()
    assert set(pretended) == {77, None}
    plan = engine.plan(D, torch.from_numpy(X))
    assert (plan(D, torch.from_numpy(X)).numpy() == oracle(A.toarray(), X)).all()
    with pytest.raises(hs.OperandTypeError, match="bfloat16"):
        engine.matmul(D, torch.from_numpy(X).bfloat16())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_of_tensors_on_a_gpu(engine, rng, pretended, monkeypatch, layout):
    from hybrid_spmm._gpu.device_operands import Matrix

    def operand_of(engine, tensor):
        matrix = Matrix(hs.torch.library(), tensor)
        owner = tensor if tensor.layout in hs.torch.OTHER else matrix.original
        return hs.torch._Gpu(engine, owner, matrix)

    monkeypatch.setattr(hs.torch, "operand_of", operand_of)
    A, X = tensor(integers(rng, (12, 8)), layout), rng.integers(-9, 9, (8, 5)).astype(float)
    for _ in range(2):
        agree(both_ways(A, X), A, X)
        if layout != "coo":
            A.values().mul_(3)
    agree(both_ways(A, X), A, X)
