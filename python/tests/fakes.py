"""Stand-ins for CuPy, whose arrays lie in host memory and speak the protocols of devices.

The package takes the host's memory for the GPU's while these are in use, so the library
computes real products from the structs that the package makes of them.
"""

import ctypes
import sys
import types

import numpy as np
import scipy.sparse as sp


class Array:
    """A NumPy array behind ``__cuda_array_interface__``."""

    __module__ = "cupy"
    asked = 0  # how often an address was read

    def __init__(self, array):
        self.array = array
        self.device = types.SimpleNamespace(id=0)
        self.shape, self.dtype = array.shape, array.dtype

    @property
    def __cuda_array_interface__(self):
        Array.asked += 1
        contiguous = self.array.flags.c_contiguous
        return {
            "shape": self.array.shape,
            "typestr": self.array.dtype.str,
            "data": (self.array.ctypes.data, False),
            "version": 3,
            "strides": None if contiguous else self.array.strides,
            "stream": 1,
        }

    @property
    def T(self):
        return Array(self.array.T)

    def __getitem__(self, key):
        found = self.array[key]
        return Array(found) if isinstance(found, np.ndarray) else found

    def __and__(self, other):
        return Array(self.array & other.array)

    def __ge__(self, other):
        return Array(self.array >= getattr(other, "array", other))

    def __lt__(self, other):
        return Array(self.array < getattr(other, "array", other))

    def all(self):
        return self.array.all()


class Matrix:
    """A csr or csc matrix of SciPy over fake arrays."""

    __module__ = "cupyx.scipy.sparse"
    kind = None

    def __init__(self, arg, shape=None):
        if sp.issparse(arg):
            arg, shape = tuple(map(Array, (arg.data, arg.indices, arg.indptr))), arg.shape
        self.data, self.indices, self.indptr = arg
        self.shape, self.format, self.nnz = shape, self.kind, self.indices.shape[0]

    def scipy(self):
        cls = sp.csr_array if self.kind == "csr" else sp.csc_array
        arrays = tuple(a.array for a in (self.data, self.indices, self.indptr))
        return cls(arrays, shape=self.shape)

    def asformat(self, kind):
        return (Csr if kind == "csr" else Csc)(self.scipy().asformat(kind))

    def copy(self):
        return type(self)(self.scipy().copy())

    def sum_duplicates(self):
        found = self.scipy().copy()
        found.sum_duplicates()
        self.__init__(found)


class Csr(Matrix):
    __module__ = "cupyx.scipy.sparse"
    kind = "csr"


class Csc(Matrix):
    __module__ = "cupyx.scipy.sparse"
    kind = "csc"


class Other:
    """An array of a library that the package does not know, behind DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array

    def __dlpack_device__(self):
        return 2, 0


class Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def asarray(exported):
    """Return an array over memory that an object exports, which it keeps alive."""
    told = exported.__cuda_array_interface__
    if not told["shape"][0]:
        return Array(np.empty(0, told["typestr"]))
    dtype = np.dtype(told["typestr"])
    buffer = (ctypes.c_char * (told["shape"][0] * dtype.itemsize)).from_address(told["data"][0])
    buffer.owner = exported
    return Array(np.frombuffer(buffer, dtype))


def modules(stream):
    """Return fake modules cupy and cupyx.scipy.sparse whose current stream is `stream`."""
    cupy = types.ModuleType("cupy")
    cupy.ndarray = Array
    cupy.asarray = asarray
    cupy.from_dlpack = lambda other: Array(other.__dlpack__())
    cupy.empty = lambda shape, dtype: Array(np.full(shape, np.nan, dtype))
    cupy.ascontiguousarray = lambda a, dtype: Array(np.ascontiguousarray(a.array, dtype))
    cupy.array_equal = lambda a, b: np.array_equal(a.array, b.array)
    cupy.cuda = types.SimpleNamespace(
        Device=lambda number: Nothing(),
        get_current_stream=lambda: types.SimpleNamespace(ptr=stream),
    )
    sparse = types.ModuleType("cupyx.scipy.sparse")
    sparse.csr_matrix, sparse.csc_matrix = Csr, Csc
    return {"cupy": cupy, "cupyx.scipy.sparse": sparse}


def install(monkeypatch, stream=0):
    """Put the fakes in place of CuPy, and host memory in place of the GPU's."""
    from hybrid_spmm import _capi, _device, _foreign

    for name, module in modules(stream).items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(_device, "SPACE", _capi.SPACE_HOST)
    monkeypatch.setattr(_foreign, "_libraries", {})
    monkeypatch.setattr(_foreign, "_by_type", {})
