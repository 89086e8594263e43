"""Products of PyTorch's sparse tensors with autograd, in host memory and on GPUs.

This module is imported when ``hybrid_spmm.torch`` is first used.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.weak import WeakTensorKeyDictionary

from ._engine import default_engine
from ._errors import MatrixError, OperandTypeError, ShapeError, UnsupportedError
from ._gpu.device_operands import Matrix
from ._gpu.device_plans import engine_for
from ._gpu.device_products import multiply_on_device, spmm, turned
from ._gpu.foreign import Torch, library_of
from ._operands.pattern import numbered
from ._operands.scipy_classes import assemble, sparse
from ._operands.sparse import Operand, arrays_of

if TYPE_CHECKING:
    from ._engine import Engine

__all__ = ["matmul"]

OTHER = {torch.sparse_csr: torch.sparse_csc, torch.sparse_csc: torch.sparse_csr}
LAYOUTS = (*OTHER, torch.sparse_coo)


def matmul(A: Any, X: Any, *, engine: Engine | None = None) -> Any:
    """Multiply tensors, of which at least one is sparse; gradients flow to dense ones.

    Parameters
    ----------
    A, X : torch.Tensor
        Shapes (m, k) and (k, n); a dense one may be a vector. Sparse tensors have the layout
        CSR, CSC or COO. CSR and CSC tensors are used without a copy in host memory, and so
        are dense tensors of both orders. All tensors are in host memory, or all on one GPU.
        A gradient needs the transpose of a CSR tensor, and a product that of a CSC tensor:
        its pattern is kept as long as the tensor lives and is not changed in place.
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


# The pattern of a transpose: indptr, indices, and the place of each value in the tensor.
Turned = tuple[Any, Any, Any]
_turned: Any = WeakTensorKeyDictionary()  # by tensor: versions of its arrays, and Turned


def turned_pattern(tensor: Any, make: Callable[[], Turned]) -> Turned:
    """Return the pattern of a tensor's transpose, made anew after changes in place."""
    _, _, (indptr, indices, _) = library().parts(tensor)
    stamp = [(array.data_ptr(), array._version) for array in (indptr, indices)]
    kept = _turned.get(tensor)
    if kept is None or kept[0] != stamp:
        kept = _turned[tensor] = stamp, make()
    found: Turned = kept[1]
    return found


class _Host:
    """A sparse operand in host memory: a matrix of SciPy over the arrays of a tensor.

    The tensor is CSR or CSC; the matrix holds it or its transpose.
    """

    def __init__(self, engine: Engine, tensor: Any, matrix: Any) -> None:
        self.engine, self.tensor, self.matrix = engine, tensor, matrix

    def multiply(self, X: Any) -> Any:
        matrix = self.matrix
        if matrix.format == "csc" and not self.tensor.is_inference():  # which have no versions
            with contextlib.suppress(MatrixError):  # if unsorted, the product repairs it
                matrix = self.rows()
        return torch.from_numpy(self.engine.matmul(matrix, X.detach().numpy()))

    def rows(self) -> Any:
        """Return a csc matrix as csr."""
        matrix = self.matrix
        indptr, indices, places = turned_pattern(self.tensor, self.turned)
        return assemble(sparse().csr_array, matrix.shape, matrix.data[places], indices, indptr)

    def turned(self) -> Turned:
        """Return the pattern of the transpose of the arrays."""
        operand = Operand(self.matrix, "csc", True)
        indptr, indices, numbers = arrays_of(numbered(self.engine._alive(), operand))
        return indptr.copy(), indices.copy(), numbers.astype(np.intp)

    def transpose(self) -> _Host:
        return _Host(self.engine, self.tensor, self.matrix.T)


class _Gpu:
    """A sparse operand in the memory of a GPU."""

    def __init__(self, engine: Engine, tensor: Any, matrix: Matrix) -> None:
        self.engine, self.tensor, self.matrix = engine, tensor, matrix

    def multiply(self, X: Any) -> Any:
        matrix = self.matrix
        if matrix.turned and not self.tensor.is_inference():
            matrix = self.rows()
        return spmm(self.engine, matrix, X.detach(), None, 1.0, 0.0, None)

    def rows(self) -> Matrix:
        """Return the operand held by rows."""
        held, (_, _, values) = self.matrix.original, self.matrix.arrays
        indptr, indices, places = turned_pattern(self.tensor, self.turned)
        layout = OTHER[held.layout]
        return self.matrix.over(
            compressed(layout, held.shape, indptr, indices, values[places]), False
        )

    def turned(self) -> Turned:
        """Return the pattern of the transpose of the arrays, as PyTorch finds it."""
        known, held = library(), self.matrix.original
        kind, _, (indptr, indices, values) = known.parts(held)
        numbers = torch.arange(len(values), dtype=torch.float64, device=values.device)
        counted = compressed(held.layout, held.shape, indptr, indices, numbers)
        _, _, (indptr, indices, numbers) = known.parts(
            known.convert(counted, "csc" if kind == "csr" else "csr")
        )
        return indptr, indices, numbers.long()

    def transpose(self) -> _Gpu:
        return _Gpu(self.engine, self.tensor, self.matrix.transpose())


def compressed(layout: Any, shape: Any, indptr: Any, indices: Any, values: Any) -> Any:
    """Return a sparse tensor in the layout CSR or CSC over arrays that are known to be right."""
    return torch.sparse_compressed_tensor(
        indptr, indices, values, size=shape, layout=layout, check_invariants=False
    )


def library() -> Torch:
    """Return what the package asks of PyTorch."""
    found = library_of(torch.empty(0))
    assert isinstance(found, Torch)
    return found


def operand_of(engine: Engine, tensor: Any) -> _Host | _Gpu:
    """Return a sparse tensor as an operand of products."""
    if tensor.is_cuda:
        matrix = Matrix(library(), tensor)
        owner = tensor if tensor.layout in OTHER else matrix.original
        return _Gpu(engine_for(engine, matrix.device), owner, matrix)
    known = library()
    held = known.convert(tensor, "csc" if known.format(tensor) == "csc" else "csr")
    kind, shape, arrays = known.parts(held)
    indptr, indices, data = (array.numpy() for array in arrays)
    cls = getattr(sparse(), f"{kind}_array")
    owner = tensor if tensor.layout in OTHER else held
    return _Host(engine, owner, assemble(cls, shape, data, indices, indptr))


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
    return compressed(layout, C.shape, *arrays)


class _Product(torch.autograd.Function):  # type: ignore[misc]
    """Y = A X for a constant sparse A."""

    @staticmethod
    def forward(ctx: Any, operand: _Host | _Gpu, X: Any) -> Any:
        ctx.operand, ctx.dtype = operand, X.dtype
        # PyTorch raises in backward() if saved values were changed in place.
        ctx.save_for_backward(operand.tensor.values())
        return operand.multiply(X)

    @staticmethod
    def backward(ctx: Any, dY: Any) -> tuple[None, Any]:
        ctx.saved_tensors  # noqa: B018
        return None, _Product.apply(ctx.operand.transpose(), dY).to(ctx.dtype)
