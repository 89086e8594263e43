"""Products of PyTorch's sparse tensors with autograd, in host memory and on GPUs.

This module is imported when ``hybrid_spmm.torch`` is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from ._device import Matrix
from ._device_plans import engine_for
from ._device_products import multiply_on_device, spmm, turned
from ._engine import default_engine
from ._errors import OperandTypeError, ShapeError, UnsupportedError
from ._foreign import Torch, library_of
from ._scipy import assemble, sparse

if TYPE_CHECKING:
    from ._engine import Engine

__all__ = ["matmul"]

LAYOUTS = (torch.sparse_csr, torch.sparse_csc, torch.sparse_coo)


def matmul(A: Any, X: Any, *, engine: Engine | None = None) -> Any:
    """Multiply tensors, of which at least one is sparse; gradients flow to dense ones.

    Parameters
    ----------
    A, X : torch.Tensor
        Shapes (m, k) and (k, n); a dense one may be a vector. Sparse tensors have the layout
        CSR, CSC or COO. CSR and CSC tensors are used without a copy in host memory, and so
        are dense tensors of both orders. All tensors are in host memory, or all on one GPU.
    engine : Engine, optional
        The engine to use; by default that of :func:`hybrid_spmm.matmul`.

    Returns
    -------
    torch.Tensor
        Dense if one operand is, else sparse in the layout CSR or CSC. The gradient for a
        dense X is ``A.T @ dY``, and that for a dense A is ``dY @ X.T``; both can be
        differentiated again. The values of a sparse operand get no gradient.

    Raises
    ------
    UnsupportedError
        If a sparse operand requires a gradient: pass its ``detach()``.
    ShapeError
        If the shapes do not fit together.
    OperandTypeError
        If neither operand is sparse, or values are of float16, bfloat16 or complex types.

    Examples
    --------
    >>> import hybrid_spmm as hs, torch
    >>> A = torch.tensor([[1.0, 0.0], [2.0, 3.0]]).to_sparse_csr()
    >>> X = torch.ones(2, 1, requires_grad=True)
    >>> hs.torch.matmul(A, X).sum().backward()
    >>> X.grad.flatten().tolist()
    [3.0, 3.0]
    """
    for operand in (A, X):
        check(operand)
    used = default_engine() if engine is None else engine
    if is_sparse(A) and is_sparse(X):
        return multiply_sparse(used, A, X)
    if is_sparse(A):
        return _Product.apply(operand_of(used, A), X)
    if is_sparse(X):
        # A X is the transpose of X^T A^T.
        return turned(_Product.apply(operand_of(used, X).transpose(), turned(A)))
    raise OperandTypeError("neither tensor is sparse")


def is_sparse(tensor: Any) -> bool:
    """Return whether a tensor has a sparse layout."""
    return bool(tensor.layout != torch.strided)


def check(tensor: Any) -> None:
    """Raise unless an operand is a tensor that can be multiplied."""
    if not isinstance(tensor, torch.Tensor):
        raise OperandTypeError(f"an operand is a {type(tensor).__name__}, not a tensor")
    if is_sparse(tensor):
        if tensor.layout not in LAYOUTS:
            raise OperandTypeError(
                f"the layout {tensor.layout} is not supported; CSR, CSC, COO are"
            )
        if tensor.requires_grad:
            raise UnsupportedError(
                "the values of a sparse tensor require a gradient, which is not computed: "
                "pass its detach() if they are constants"
            )
        if tensor.ndim != 2:
            raise ShapeError(f"a sparse tensor has {tensor.ndim} dimensions; 2 are supported")
    if tensor.dtype in (torch.float16, torch.bfloat16) or tensor.is_complex():
        raise OperandTypeError(
            f"tensors of {tensor.dtype} are not supported; float32, float64, integers and bool are"
        )


class _Host:
    """A sparse operand in host memory: a matrix of SciPy over the tensor's arrays."""

    def __init__(self, engine: Engine, matrix: Any, values: Any) -> None:
        self.engine, self.matrix, self.values = engine, matrix, values

    def multiply(self, X: Any) -> Any:
        return torch.from_numpy(self.engine.matmul(self.matrix, X.detach().numpy()))

    def transpose(self) -> _Host:
        return _Host(self.engine, self.matrix.T, self.values)


class _Gpu:
    """A sparse operand in the memory of a GPU."""

    def __init__(self, engine: Engine, matrix: Matrix) -> None:
        self.engine, self.matrix, self.values = engine, matrix, matrix.parts.data

    def multiply(self, X: Any) -> Any:
        return spmm(self.engine, self.matrix, X.detach(), None, 1.0, 0.0, None)

    def transpose(self) -> _Gpu:
        return _Gpu(self.engine, self.matrix.transpose())


def library() -> Torch:
    """Return what the package asks of PyTorch."""
    found = library_of(torch.empty(0))
    assert isinstance(found, Torch)
    return found


def operand_of(engine: Engine, tensor: Any) -> _Host | _Gpu:
    """Return a sparse tensor as an operand of products."""
    if tensor.is_cuda:
        matrix = Matrix(library(), tensor)
        return _Gpu(engine_for(engine, matrix.device), matrix)
    known = library()
    held = known.convert(tensor, "csc" if known.format(tensor) == "csc" else "csr")
    kind, shape, *arrays = known.parts(held)
    indptr, indices, data = (array.numpy() for array in arrays)
    cls = getattr(sparse(), f"{kind}_array")
    return _Host(engine, assemble(cls, shape, data, indices, indptr), arrays[2])


def multiply_sparse(engine: Engine, A: Any, B: Any) -> Any:
    """Return the product of two sparse tensors."""
    if A.is_cuda:
        return multiply_on_device(library(), engine, A, B, None, 1.0, 0.0, None)
    a = operand_of(engine, A)
    b = a if B is A else operand_of(engine, B)
    assert isinstance(a, _Host)
    assert isinstance(b, _Host)
    C = engine.matmul(a.matrix, b.matrix)
    layout = torch.sparse_csr if C.format == "csr" else torch.sparse_csc
    arrays = (torch.from_numpy(array) for array in (C.indptr, C.indices, C.data))
    return torch.sparse_compressed_tensor(
        *arrays, size=C.shape, layout=layout, check_invariants=False
    )


class _Product(torch.autograd.Function):  # type: ignore[misc]
    """Y = A X for a constant sparse A."""

    @staticmethod
    def forward(ctx: Any, operand: _Host | _Gpu, X: Any) -> Any:
        ctx.operand, ctx.dtype = operand, X.dtype
        ctx.save_for_backward(operand.values)  # whose changes in place PyTorch then notices
        return operand.multiply(X)

    @staticmethod
    def backward(ctx: Any, dY: Any) -> tuple[None, Any]:
        ctx.saved_tensors  # noqa: B018, raises if values of A were changed in place
        return None, _Product.apply(ctx.operand.transpose(), dY).to(ctx.dtype)
