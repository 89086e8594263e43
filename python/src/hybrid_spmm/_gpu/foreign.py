"""What the package asks of CuPy and PyTorch: addresses, streams, and arrays for results.

Each library is a class with the same functions. Every call of the package passes through
several of them, so they read the attributes that each library answers fastest. Arrays of other
libraries come through ``__cuda_array_interface__`` or DLPack, by the importers of CuPy and
PyTorch.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._errors import OperandTypeError
from .._operands.arrays import DTYPES, INDEX_DTYPES, SUPPORTED

# An array on a device: its address, shape, strides in elements, and type.
View = tuple[int, tuple[int, ...], tuple[int, ...], Any]

# An array of a sparse matrix on a device: its address, length, whether it has no gaps, and type.
Flat = tuple[int, int, bool, Any]

# A sparse matrix: its format, shape, and the arrays indptr, indices and data. The arrays of a csc
# matrix are the CSR of its transpose.
Arrays = tuple[Any, Any, Any]
Parts = tuple[str, tuple[int, int], Arrays]

# An array of the engine's: its address, length and type.
Made = tuple[int, int, Any]


TYPESTR: dict[Any, str] = {dtype: dtype.str for dtype in (*DTYPES.values(), *INDEX_DTYPES.values())}


class Exported:
    """An array of the engine, which PyTorch imports without a copy and keeps."""

    __slots__ = ("__cuda_array_interface__", "owner")

    def __init__(self, made: Made, owner: object) -> None:
        pointer, length, dtype = made
        self.owner = owner
        self.__cuda_array_interface__ = {
            "shape": (length,),
            "typestr": TYPESTR[dtype],
            "data": (pointer, False),
            "version": 3,  # without a stream: the call that made the array has returned
        }


class CuPy:
    """CuPy's arrays, and the matrices of cupyx.scipy.sparse."""

    name = "cupy"

    def __init__(self) -> None:
        self.cupy = sys.modules["cupy"]
        cuda = self.cupy.cuda
        self.current_device, self.current_stream = cuda.runtime.getDevice, cuda.get_current_stream
        self.memory, self.place = cuda.UnownedMemory, cuda.MemoryPointer
        self.array = self.cupy.ndarray
        self.makers: dict[str, Callable[..., Any]] = {}

    def is_sparse(self, operand: Any) -> bool:
        """Return whether an operand is a sparse matrix."""
        return hasattr(operand, "format") and hasattr(operand, "nnz")

    def on_device(self, operand: Any) -> bool:
        """Return whether an operand is in the memory of a GPU."""
        return True

    def convert(self, matrix: Any, kind: str) -> Any:
        """Return a matrix in the format csr or csc."""
        return matrix if matrix.format == kind else matrix.asformat(kind)

    def compressed(self, matrix: Any) -> Any:
        """Return a matrix in the format csr or csc, itself if it is in one of them."""
        return matrix if matrix.format in ("csr", "csc") else matrix.asformat("csr")

    def parts(self, matrix: Any) -> Parts:
        """Return the arrays of a csr or csc matrix."""
        return matrix.format, matrix.shape, (matrix.indptr, matrix.indices, matrix.data)

    def format(self, matrix: Any) -> str:
        """Return the format of a matrix: csr, csc or another one."""
        return str(matrix.format)

    def pointer(self, array: Any) -> int:
        """Return the address of an array."""
        found: int = array.data.ptr
        return found

    def flat(self, array: Any) -> Flat:
        """Return what the library reads of an array of one dimension."""
        dtype = array.dtype
        return array.data.ptr, array.size, array.strides == (dtype.itemsize,), dtype

    def view(self, array: Any) -> View:
        """Return the address and the layout of an array."""
        dtype, strides = array.dtype, array.strides
        size = dtype.itemsize
        if len(strides) == 1:
            return array.data.ptr, (array.size,), (strides[0] // size,), dtype
        return array.data.ptr, array.shape, tuple([s // size for s in strides]), dtype

    def own(self, array: Any) -> Any:
        """Return an array of any library on a device as CuPy's, without a copy."""
        if isinstance(array, self.array):
            return array
        if hasattr(array, "__cuda_array_interface__"):
            return self.cupy.asarray(array)
        return self.cupy.from_dlpack(array)

    def device(self, array: Any) -> int:
        """Return the number of the GPU that holds an array."""
        found: int = array.data.device_id
        return found

    def stream(self, device: int) -> int | None:
        """Return the address of the current stream; None is CUDA's default stream."""
        return self.current_stream(device).ptr or None

    def empty(self, shape: tuple[int, ...], dtype: Any, like: Any) -> Any:
        """Return an unset array in C order on the GPU of another one."""
        device = like.data.device_id
        if device == self.current_device():
            return self.array(shape, dtype)
        with self.cupy.cuda.Device(device):
            return self.array(shape, dtype)

    def cast(self, array: Any, dtype: Any) -> Any:
        """Return an array in C order with values of another type."""
        return self.cupy.ascontiguousarray(array, dtype)

    def same(self, a: Any, b: Any) -> bool:
        """Return whether two arrays are equal, which waits for the GPU."""
        return bool(self.cupy.array_equal(a, b))

    def matrix(
        self, kind: str, shape: tuple[int, int], made: list[Made], owner: object, like: Any
    ) -> Any:
        """Return a matrix on the GPU of an array, over arrays that keep `owner` alive."""
        device, memory, place, array = like.data.device_id, self.memory, self.place, self.array
        arrays = []
        for pointer, length, dtype in made:
            kept = memory(pointer, length * dtype.itemsize, owner, device)
            arrays.append(array((length,), dtype, place(kept, 0)))
        if device == self.current_device():
            return self.assemble(kind, shape, *arrays)
        with self.cupy.cuda.Device(device):
            return self.assemble(kind, shape, *arrays)

    def assemble(
        self, kind: str, shape: tuple[int, int], indptr: Any, indices: Any, data: Any
    ) -> Any:
        """Return a matrix over arrays that are known to be right."""
        make = self.makers.get(kind)
        if make is None:
            cls = getattr(sys.modules["cupyx.scipy.sparse"], f"{kind}_matrix")
            make = self.makers[kind] = maker(cls)
        return make(data, indices, indptr, shape)

    def canonical(self, matrix: Any) -> Any:
        """Return a copy of a matrix with sorted entries and no repeated ones."""
        copy = matrix.copy()
        copy.has_canonical_format = False
        copy.sum_duplicates()
        return copy


def maker(cls: Any) -> Callable[..., Any]:
    """Return a function that makes a canonical matrix of a class of CuPy from its arrays.

    The constructor copies two offsets to the host, which takes some 80 us. CuPy 14 has a
    function for arrays that are known to be right. That function is not public, so it is used
    only if its arguments are known here.
    """

    def construct(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
        result = cls((data, indices, indptr), shape=shape)
        result.has_canonical_format = True
        return result

    assemble = getattr(cls, "_from_parts", None)
    known = ["data", "indices", "indptr", "shape", "has_canonical_format"]
    if assemble is None or list(inspect.signature(assemble).parameters)[:5] != known:
        return construct

    def make(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
        try:
            return assemble(data, indices, indptr, shape, True)
        except ValueError:  # the indices are of two types, or of one that the constructor widens
            return construct(data, indices, indptr, shape)

    return make


class Torch:
    """PyTorch's tensors in CUDA memory, dense and sparse."""

    name = "torch"

    def __init__(self) -> None:
        torch = self.torch = sys.modules["torch"]
        names = ("float32", "float64", "int32", "int64")
        self.dtypes = {getattr(torch, name): np.dtype(name) for name in names}
        self.reverse = {dtype: own for own, dtype in self.dtypes.items()}
        self.layouts = {torch.sparse_csr: "csr", torch.sparse_csc: "csc"}
        self.strided = torch.strided
        # Compilers of PyTorch's graphs use this function in the code that they generate.
        self.raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def is_sparse(self, operand: Any) -> bool:
        """Return whether an operand is a sparse tensor."""
        return getattr(operand, "layout", self.strided) is not self.strided

    def on_device(self, operand: Any) -> bool:
        """Return whether an operand is in the memory of a GPU."""
        return bool(operand.is_cuda)

    def convert(self, matrix: Any, kind: str) -> Any:
        """Return a matrix in the layout CSR or CSC."""
        matrix = self.own(matrix)
        if self.layouts.get(matrix.layout) == kind:
            return matrix
        return matrix.to_sparse_csr() if kind == "csr" else matrix.to_sparse_csc()

    def compressed(self, matrix: Any) -> Any:
        """Return a matrix in the layout CSR or CSC, itself if it has one of them."""
        if matrix.requires_grad:
            matrix = matrix.detach()
        return matrix if matrix.layout in self.layouts else matrix.to_sparse_csr()

    def parts(self, matrix: Any) -> Parts:
        """Return the arrays of a matrix in the layout CSR or CSC."""
        kind = self.layouts[matrix.layout]
        if kind == "csr":
            arrays = matrix.crow_indices(), matrix.col_indices(), matrix.values()
        else:
            arrays = matrix.ccol_indices(), matrix.row_indices(), matrix.values()
        return kind, tuple(matrix.shape), arrays

    def format(self, matrix: Any) -> str:
        """Return the format of a matrix: csr, csc or another one."""
        return self.layouts.get(matrix.layout, "another")

    def pointer(self, array: Any) -> int:
        """Return the address of a tensor."""
        found: int = array.data_ptr()
        return found

    def flat(self, array: Any) -> Flat:
        """Return what the library reads of a tensor of one dimension."""
        dtype = self.dtypes.get(array.dtype) or self.refused(array)
        return array.data_ptr(), array.numel(), array.is_contiguous(), dtype

    def view(self, array: Any) -> View:
        """Return the address and the layout of a tensor."""
        dtype = self.dtypes.get(array.dtype) or self.refused(array)
        return array.data_ptr(), tuple(array.shape), array.stride(), dtype

    def refused(self, array: Any) -> Any:
        """Raise the error for a tensor of a type that is not supported."""
        raise OperandTypeError(f"tensors of {array.dtype} are not supported; {SUPPORTED} are")

    def own(self, array: Any) -> Any:
        """Return an array of any library on a device as a tensor, without a copy."""
        if isinstance(array, self.torch.Tensor):
            return array.detach() if array.requires_grad else array
        if hasattr(array, "__cuda_array_interface__"):
            return self.torch.as_tensor(array, device="cuda")
        return self.torch.from_dlpack(array)

    def device(self, array: Any) -> int:
        """Return the number of the GPU that holds a tensor."""
        return int(array.device.index or 0)

    def stream(self, device: int) -> int | None:
        """Return the address of the current stream; None is CUDA's default stream."""
        if self.raw_stream is not None:
            return self.raw_stream(device) or None
        return self.torch.cuda.current_stream(device).cuda_stream or None

    def empty(self, shape: tuple[int, ...], dtype: Any, like: Any) -> Any:
        """Return an unset tensor in C order on the GPU of another one."""
        own = self.reverse[dtype]
        return like.new_empty(shape) if like.dtype == own else like.new_empty(shape, dtype=own)

    def cast(self, array: Any, dtype: Any) -> Any:
        """Return a tensor in C order with values of another type."""
        return array.to(self.reverse[dtype]).contiguous()

    def same(self, a: Any, b: Any) -> bool:
        """Return whether two tensors are equal, which waits for the GPU."""
        return bool(self.torch.equal(a, b))

    def matrix(
        self, kind: str, shape: tuple[int, int], made: list[Made], owner: object, like: Any
    ) -> Any:
        """Return a matrix on the GPU of a tensor, over arrays that keep `owner` alive."""
        tensor, device = self.torch.as_tensor, like.device
        return self.assemble(
            kind, shape, *[tensor(Exported(each, owner), device=device) for each in made]
        )

    def assemble(
        self, kind: str, shape: tuple[int, int], indptr: Any, indices: Any, data: Any
    ) -> Any:
        """Return a matrix over arrays that are known to be right."""
        torch = self.torch
        layout = torch.sparse_csr if kind == "csr" else torch.sparse_csc
        return torch.sparse_compressed_tensor(
            indptr, indices, data, size=shape, layout=layout, check_invariants=False
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
