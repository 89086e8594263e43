"""Stand-ins for CuPy, whose arrays lie in host memory and speak the protocols of devices.

The package takes the host's memory for the GPU's while these are in use, so the library
computes real products from the structs that the package makes of them.
"""

import ctypes
import sys
import types

import numpy as np
import scipy.sparse as sp


class Place:
    """Where an array lies."""

    device_id = 0

    def __init__(self, array):
        self.array = array

    @property
    def ptr(self):
        Array.asked += 1
        return self.array.ctypes.data


class Array:
    """A NumPy array with the attributes of CuPy's arrays."""

    __module__ = "cupy"
    asked = 0  # number of times that an address was read

    def __init__(self, array, dtype=None, place=None):
        """Wrap an array, or take a shape and a type, and memory as CuPy's class does."""
        if place is not None and place.size:
            array = np.frombuffer(place, dtype).reshape(array)
        elif not isinstance(array, np.ndarray):
            array = np.full(array, np.nan if dtype.kind == "f" else 0, dtype)
        self.array = array
        self.shape, self.strides, self.dtype = array.shape, array.strides, array.dtype
        self.size = array.size

    @property
    def data(self):
        return Place(self.array)

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


class Exported:
    """An array behind ``__cuda_array_interface__`` alone."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.array.shape,
            "typestr": self.array.dtype.str,
            "data": (self.array.ctypes.data, False),
            "version": 3,
        }


def memory(pointer, size, owner, device):
    """Return memory that a program owns."""
    buffer = (ctypes.c_char * size).from_address(pointer) if size else (ctypes.c_char * 0)()
    buffer.owner, buffer.size = owner, size
    return buffer


def asarray(exported):
    """Return an array over memory that an object exports."""
    return Array(exported.array)


def modules(stream):
    """Return fake modules cupy and cupyx.scipy.sparse whose current stream is `stream`."""
    cupy = types.ModuleType("cupy")
    cupy.ndarray = Array
    cupy.asarray = asarray
    cupy.from_dlpack = lambda other: Array(other.__dlpack__())
    cupy.ascontiguousarray = lambda a, dtype: Array(np.ascontiguousarray(a.array, dtype))
    cupy.array_equal = lambda a, b: np.array_equal(a.array, b.array)
    cupy.cuda = types.SimpleNamespace(
        Device=lambda number: Nothing(),
        MemoryPointer=lambda memory, offset: memory,
        UnownedMemory=memory,
        get_current_stream=lambda device: types.SimpleNamespace(ptr=stream),
        runtime=types.SimpleNamespace(getDevice=lambda: 0),
    )
    sparse = types.ModuleType("cupyx.scipy.sparse")
    sparse.csr_matrix, sparse.csc_matrix = Csr, Csc
    return {"cupy": cupy, "cupyx.scipy.sparse": sparse}


def install(monkeypatch, stream=0):
    """Put the fakes in place of CuPy, and host memory in place of the GPU's."""
    from hybrid_spmm._gpu import device_operands, foreign
    from hybrid_spmm._native import capi

    for name, module in modules(stream).items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(device_operands, "SPACE", capi.SPACE_HOST)
    monkeypatch.setattr(foreign, "_libraries", {})
    monkeypatch.setattr(foreign, "_by_type", {})
