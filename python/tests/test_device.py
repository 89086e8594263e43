"""CuPy's and PyTorch's arrays in the memory of a GPU: results, streams, and bytes moved.

Runs on a machine with a GPU, and for each library where that is installed.
"""

import gc
import importlib
import os

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import integers, oracle

import hybrid_spmm as hs


class WithCuPy:
    def __init__(self):
        self.module = pytest.importorskip("cupy")
        self.sparse = importlib.import_module("cupyx.scipy.sparse")
        if not self.module.cuda.is_available():
            pytest.skip("needs a GPU")

    def dense(self, array):
        return self.module.asarray(array, order="K")

    def matrix(self, A):
        cls = self.sparse.csr_matrix if A.format == "csr" else self.sparse.csc_matrix
        arrays = (self.module.asarray(a) for a in (A.data, A.indices, A.indptr))
        return cls(tuple(arrays), shape=A.shape)

    def numpy(self, array):
        return array.get()

    def scipy(self, matrix):
        return matrix.get()

    def stream(self):
        return self.module.cuda.Stream(non_blocking=True)  # a context manager itself

    def owns(self, result):
        return isinstance(result, (self.module.ndarray, self.sparse.spmatrix))

    def busy(self, array):
        """Enqueue work of some milliseconds that ends with adding 1 to an array."""
        noise = self.module.ones((4096, 4096), np.float32)
        for _ in range(10):
            noise = noise @ noise * 0
        array += 1 + noise[0, 0].astype(array.dtype)

    def used(self):
        return self.module.cuda.runtime.memGetInfo()[0]


class WithTorch:
    def __init__(self):
        self.module = pytest.importorskip("torch")
        if not self.module.cuda.is_available():
            pytest.skip("needs a GPU")

    def dense(self, array):
        tensor = self.module.empty_strided(
            array.shape,
            [s // array.itemsize for s in array.strides],
            dtype=self.module.from_numpy(array[:0].copy()).dtype,
            device="cuda",
        )
        return tensor.copy_(self.module.from_numpy(array))

    def matrix(self, A):
        torch = self.module
        make = torch.sparse_csr_tensor if A.format == "csr" else torch.sparse_csc_tensor
        arrays = [torch.from_numpy(a).cuda() for a in (A.indptr, A.indices, A.data)]
        return make(*arrays, size=A.shape)

    def numpy(self, array):
        return array.cpu().numpy()

    def scipy(self, matrix):
        matrix = matrix.cpu()
        if matrix.layout == self.module.sparse_csr:
            cls, indptr, indices = sp.csr_array, matrix.crow_indices(), matrix.col_indices()
        else:
            cls, indptr, indices = sp.csc_array, matrix.ccol_indices(), matrix.row_indices()
        return cls(tuple(a.numpy() for a in (matrix.values(), indices, indptr)), matrix.shape)

    def stream(self):
        return self.module.cuda.stream(self.module.cuda.Stream())

    def owns(self, result):
        return isinstance(result, self.module.Tensor) and result.is_cuda

    def busy(self, array):
        noise = self.module.ones((4096, 4096), device="cuda")
        for _ in range(10):
            noise = noise @ noise * 0
        array += 1 + noise[0, 0]

    def used(self):
        return self.module.cuda.mem_get_info()[0]


@pytest.fixture(params=[WithCuPy, WithTorch])
def library(request):
    return request.param()


@pytest.fixture
def cuda():
    try:
        engine = hs.Engine(backend="cuda")
    except hs.DeviceNotFoundError as error:
        if os.environ.get("HYBRID_REQUIRE_GPU"):
            raise
        pytest.skip(str(error))
    with engine:
        yield engine


@pytest.mark.parametrize("left", ["csr", "csc"])
@pytest.mark.parametrize("right", ["csr", "csc"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sparse_times_sparse(library, cuda, rng, left, right, kind):
    A, B = integers(rng, (300, 200), dtype=kind), integers(rng, (200, 250), dtype=kind)
    C = cuda.matmul(library.matrix(A.asformat(left)), library.matrix(B.asformat(right)))
    assert library.owns(C)
    found = library.scipy(C)
    assert found.format == left and found.dtype == kind
    assert (found.toarray() == oracle(A.toarray(), B.toarray())).all()


@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_dense_operands(library, cuda, rng, layout, order, kind):
    A = integers(rng, (300, 200), dtype=kind)
    X = np.array(rng.integers(-9, 9, (200, 5)), kind, order=order)
    Z = np.array(rng.integers(-9, 9, (5, 300)), kind, order=order)
    D = library.matrix(A.asformat(layout))
    for x in (X, X[:, 0].copy(), X[:, :1].copy(order)):
        Y = cuda.matmul(D, library.dense(x))
        assert library.owns(Y) and (library.numpy(Y) == oracle(A.toarray(), x)).all()
    assert (library.numpy(cuda.matmul(library.dense(Z), D)) == oracle(Z, A.toarray())).all()
    out = library.dense(np.ones((300, 5), kind))
    assert cuda.matmul(D, library.dense(X), out=out, alpha=2, beta=3) is out
    assert (library.numpy(out) == 2 * oracle(A.toarray(), X) + 3).all()


def test_calls_wait_for_the_current_stream(library, cuda, rng):
    A, X = integers(rng, (3000, 200)), np.zeros((200, 5))
    D, x = library.matrix(A), library.dense(X)
    for _ in range(5):
        with library.stream():
            x *= 0
            library.busy(x)
            Y = cuda.matmul(D, x)
            assert (library.numpy(Y) == oracle(A.toarray(), X + 1)).all()


def most_table_bytes(A):
    """Return a bound on what a run of a plan sends of A, which is on the device.

    These are offsets of 64 bits, and the cuts of spmm.cuda.merge: A's entries and ends of rows
    are divided into tiles of at least 256 (HY_MERGE_LEAST_ITEMS), and each tile has a cut of 24
    bytes (hy_merge_cut) and at most one piece of 16 (hy_merge_piece). Each of the three arrays
    is aligned to 256 bytes.
    """
    offsets = 8 * (A.shape[0] + 1)
    tiles = (A.shape[0] + A.nnz) // 256 + 2
    return offsets + 24 * (tiles + 1) + 16 * tiles + 3 * 256


def test_values_and_dense_operands_do_not_cross_the_bus(library, cuda, rng):
    A = integers(rng, (2000, 2000), 0.1, np.float32)
    D, X = library.matrix(A), library.dense(np.ones((2000, 64), np.float32))
    cuda.matmul(D, X)
    report = cuda.last_report()
    pattern = A.indptr.nbytes + A.indices.nbytes
    assert report.h2d_bytes + report.d2h_bytes < pattern
    assert report.pattern_bytes in (0, pattern)  # 0 where the GPU planned
    plan = cuda.plan(D, X)
    plan(D, X)
    moved = plan.report()
    assert moved.h2d_bytes + moved.d2h_bytes <= most_table_bytes(A)
    assert moved.pattern_bytes == pattern
    C = cuda.matmul(D, D)
    report = cuda.last_report()
    assert report.nnz_out == library.scipy(C).nnz
    assert report.h2d_bytes + report.d2h_bytes < A.data.nbytes


def test_plans(library, cuda, rng):
    A, X = integers(rng, (300, 300)), np.ones((300, 4))
    D, x = library.matrix(A), library.dense(X)
    square, image = cuda.plan(D, D), cuda.plan(D, x)
    for factor in (1, 2):
        scaled = library.matrix(A * factor)
        expected = oracle(A.toarray(), A.toarray()) * factor**2
        assert (library.scipy(square(scaled, scaled)).toarray() == expected).all()
        assert (library.numpy(image(scaled, x)) == factor * oracle(A.toarray(), X)).all()
    other = library.matrix(integers(rng, (300, 300)))
    with pytest.raises(hs.StateError):
        image(other, x)


def test_unsorted_matrices_are_repaired_and_damaged_ones_refused(library, cuda):
    A = sp.csr_array(
        (np.array([1.0, 2, 3, 4]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3)
    )
    X = np.arange(9.0).reshape(3, 3)
    with pytest.warns(hs.FormatWarning):
        Y = cuda.matmul(library.matrix(A), library.dense(X))
    assert (library.numpy(Y) == oracle(A.toarray(), X)).all()


def test_results_outlive_the_engine_and_give_memory_back(library, rng):
    A = integers(rng, (500, 500))
    D = library.matrix(A)
    engine = hs.Engine(backend="cuda")
    C = engine.matmul(D, D)
    engine.close()
    assert (library.scipy(C).toarray() == oracle(A.toarray(), A.toarray())).all()
    del C
    gc.collect()
    with hs.Engine(backend="cuda") as engine:
        engine.matmul(D, D)
        before = library.used()
        for _ in range(200):
            engine.matmul(D, D)
        gc.collect()
        assert library.used() > before - (64 << 20)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_gradients_on_a_gpu(cuda, rng, layout):
    library = WithTorch()
    torch, A = library.module, integers(rng, (60, 40))
    D = library.matrix(A if layout == "coo" else A.asformat(layout))
    D = D.to_sparse_coo() if layout == "coo" else D
    X = torch.randn(40, 3, dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(lambda X: hs.torch.matmul(D, X, engine=cuda), X)


def test_two_libraries_meet_through_dlpack_or_the_array_interface(cuda, rng):
    one, other = WithCuPy(), WithTorch()
    A, X = integers(rng, (60, 40)), np.ones((40, 3))
    Y = cuda.matmul(one.matrix(A), other.dense(X))
    assert one.owns(Y) and (one.numpy(Y) == oracle(A.toarray(), X)).all()
    Y = cuda.matmul(other.matrix(A), one.dense(X))
    assert other.owns(Y) and (other.numpy(Y) == oracle(A.toarray(), X)).all()
