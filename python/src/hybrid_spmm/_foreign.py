"""What the package asks of CuPy and PyTorch: addresses, streams, and arrays for results.

Each library is a class with the same functions. CuPy's arrays are read through
``__cuda_array_interface__``, and PyTorch's through ``data_ptr()``, which tells the same in
less time. Arrays of other libraries come through that interface or through DLPack, by the
importers of CuPy and PyTorch.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from ._arrays import SUPPORTED
from ._errors import OperandTypeError


class View(NamedTuple):
    """An array on a device: address, shape, strides in elements, and type."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any


class Parts(NamedTuple):
    """The arrays of a sparse matrix; those of a csc one are the CSR of its transpose."""

    format: str
    shape: tuple[int, int]
    indptr: Any
    indices: Any
    data: Any


class Exported:
    """An array of the engine, which CuPy and PyTorch import without a copy and keep."""

    def __init__(self, pointer: int, length: int, dtype: Any, owner: object) -> None:
        self.owner = owner
        self.__cuda_array_interface__ = {
            "shape": (length,),
            "typestr": np.dtype(dtype).str,
            "data": (pointer, False),
            "version": 3,
            "strides": None,
            "stream": None,  # the call that made the array has returned
        }


TYPES = {np.dtype(name).str: np.dtype(name) for name in ("f4", "f8", "i4", "i8")}


def steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides in elements of an array in C order."""
    return (shape[1], 1) if len(shape) == 2 else (1,) * len(shape)


class CuPy:
    """CuPy's arrays, and the matrices of cupyx.scipy.sparse."""

    name = "cupy"

    def __init__(self) -> None:
        self.cupy = sys.modules["cupy"]

    def is_sparse(self, operand: Any) -> bool:
        """Return whether an operand is a sparse matrix."""
        return hasattr(operand, "nnz") and hasattr(operand, "format")

    def on_device(self, operand: Any) -> bool:
        """Return whether an operand is in the memory of a GPU."""
        return True

    def convert(self, matrix: Any, kind: str) -> Any:
        """Return a matrix in the format csr or csc."""
        return matrix if matrix.format == kind else matrix.asformat(kind)

    def parts(self, matrix: Any) -> Parts:
        """Return the arrays of a csr or csc matrix."""
        return Parts(matrix.format, matrix.shape, matrix.indptr, matrix.indices, matrix.data)

    def format(self, matrix: Any) -> str:
        """Return the format of a matrix: csr, csc or another one."""
        return str(matrix.format)

    def view(self, array: Any) -> View:
        """Return the address and the layout of an array."""
        told = array.__cuda_array_interface__
        shape, name = told["shape"], told["typestr"]
        dtype = TYPES.get(name) or np.dtype(name)
        strides = told.get("strides")
        if strides is None:
            return View(told["data"][0], shape, steps(shape), dtype)
        return View(told["data"][0], shape, tuple(s // dtype.itemsize for s in strides), dtype)

    def own(self, array: Any) -> Any:
        """Return an array of any library on a device as CuPy's, without a copy."""
        if isinstance(array, self.cupy.ndarray):
            return array
        if hasattr(array, "__cuda_array_interface__"):
            return self.cupy.asarray(array)
        return self.cupy.from_dlpack(array)

    def device(self, array: Any) -> int:
        """Return the number of the GPU that holds an array."""
        return int(array.device.id)

    def stream(self, device: int) -> int | None:
        """Return the address of the current stream; None is CUDA's default stream."""
        return self.cupy.cuda.get_current_stream().ptr or None

    def empty(self, shape: tuple[int, ...], dtype: Any, like: Any) -> Any:
        """Return an unset array in C order on the GPU of another one."""
        with self.cupy.cuda.Device(self.device(like)):
            return self.cupy.empty(shape, dtype)

    def cast(self, array: Any, dtype: Any) -> Any:
        """Return an array in C order with values of another type."""
        return self.cupy.ascontiguousarray(array, dtype)

    def same(self, a: Any, b: Any) -> bool:
        """Return whether two arrays are equal, which waits for the GPU."""
        return bool(self.cupy.array_equal(a, b))

    def matrix(self, parts: Parts, like: Any) -> Any:
        """Return a matrix over arrays that the engine exported."""
        sparse = sys.modules["cupyx.scipy.sparse"]
        with self.cupy.cuda.Device(self.device(like)):
            arrays = [self.cupy.asarray(array) for array in parts[2:]]
            cls = sparse.csr_matrix if parts.format == "csr" else sparse.csc_matrix
            result = cls((arrays[2], arrays[1], arrays[0]), shape=parts.shape)
        result.has_canonical_format = True
        return result

    def canonical(self, matrix: Any) -> Any:
        """Return a copy of a matrix with sorted entries and no repeated ones."""
        copy = matrix.copy()
        copy.has_canonical_format = False
        copy.sum_duplicates()
        return copy


class Torch:
    """PyTorch's tensors in CUDA memory, dense and sparse."""

    name = "torch"

    def __init__(self) -> None:
        self.torch = sys.modules["torch"]
        names = ("float32", "float64", "int32", "int64")
        self.dtypes = {getattr(self.torch, name): np.dtype(name) for name in names}
        self.reverse = {dtype: own for own, dtype in self.dtypes.items()}

    def is_sparse(self, operand: Any) -> bool:
        """Return whether an operand is a sparse tensor."""
        return bool(getattr(operand, "layout", self.torch.strided) != self.torch.strided)

    def on_device(self, operand: Any) -> bool:
        """Return whether an operand is in the memory of a GPU."""
        return bool(operand.is_cuda)

    def convert(self, matrix: Any, kind: str) -> Any:
        """Return a matrix in the layout CSR or CSC."""
        matrix = matrix.detach()
        return matrix.to_sparse_csr() if kind == "csr" else matrix.to_sparse_csc()

    def parts(self, matrix: Any) -> Parts:
        """Return the arrays of a matrix in the layout CSR or CSC."""
        kind = self.format(matrix)
        if kind == "csr":
            indptr, indices = matrix.crow_indices(), matrix.col_indices()
        else:
            indptr, indices = matrix.ccol_indices(), matrix.row_indices()
        return Parts(kind, tuple(matrix.shape), indptr, indices, matrix.values())

    def format(self, matrix: Any) -> str:
        """Return the format of a matrix: csr, csc or another one."""
        layouts = {self.torch.sparse_csr: "csr", self.torch.sparse_csc: "csc"}
        return layouts.get(matrix.layout, "another")

    def view(self, array: Any) -> View:
        """Return the address and the layout of a tensor."""
        dtype = self.dtypes.get(array.dtype)
        if dtype is None:
            raise OperandTypeError(f"tensors of {array.dtype} are not supported; {SUPPORTED} are")
        return View(array.data_ptr(), tuple(array.shape), array.stride(), dtype)

    def own(self, array: Any) -> Any:
        """Return an array of any library on a device as a tensor, without a copy."""
        if isinstance(array, self.torch.Tensor):
            return array.detach()
        if hasattr(array, "__cuda_array_interface__"):
            return self.torch.as_tensor(array, device="cuda")
        return self.torch.from_dlpack(array)

    def device(self, array: Any) -> int:
        """Return the number of the GPU that holds a tensor."""
        return int(array.device.index or 0)

    def stream(self, device: int) -> int | None:
        """Return the address of the current stream; None is CUDA's default stream."""
        return self.torch.cuda.current_stream(device).cuda_stream or None

    def empty(self, shape: tuple[int, ...], dtype: Any, like: Any) -> Any:
        """Return an unset tensor in C order on the GPU of another one."""
        return self.torch.empty(shape, dtype=self.reverse[dtype], device=like.device)

    def cast(self, array: Any, dtype: Any) -> Any:
        """Return a tensor in C order with values of another type."""
        return array.to(self.reverse[dtype]).contiguous()

    def same(self, a: Any, b: Any) -> bool:
        """Return whether two tensors are equal, which waits for the GPU."""
        return bool(self.torch.equal(a, b))

    def matrix(self, parts: Parts, like: Any) -> Any:
        """Return a matrix over arrays that the engine exported."""
        arrays = [self.torch.as_tensor(array, device=like.device) for array in parts[2:]]
        layout = self.torch.sparse_csr if parts.format == "csr" else self.torch.sparse_csc
        return self.torch.sparse_compressed_tensor(
            *arrays, size=parts.shape, layout=layout, check_invariants=False
        )

    def canonical(self, matrix: Any) -> Any:
        """Return a copy of a matrix with sorted entries and no repeated ones."""
        coo = matrix.to_sparse_coo()  # is taken for coalesced, whatever the matrix holds
        coo = self.torch.sparse_coo_tensor(
            coo.indices(), coo.values(), coo.shape, is_coalesced=False
        )
        return self.convert(coo.coalesce(), self.format(matrix))


Library = CuPy | Torch
MAKERS: dict[str, type[CuPy] | type[Torch]] = {"cupy": CuPy, "cupyx": CuPy, "torch": Torch}
_libraries: dict[Any, Library] = {}
_by_type: dict[type, Library | None] = {}


def library_of(operand: Any) -> Library | None:
    """Return the library of an operand, or None if it is neither CuPy's nor PyTorch's."""
    cls = type(operand)
    try:
        return _by_type[cls]
    except KeyError:
        pass
    # A class derived from a tensor, such as Parameter, may be of any module.
    roots = (base.__module__.partition(".")[0] for base in cls.__mro__)
    maker = next((MAKERS[root] for root in roots if root in MAKERS), None)
    found = None
    if maker is not None:
        found = _libraries.get(maker) or _libraries.setdefault(maker, maker())
    _by_type[cls] = found
    return found
