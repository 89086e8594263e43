"""bench/lib/library.py - calls libhybrid_spmm from Python, with NumPy arrays.

Structs are read from the public header, so that new fields are known here.
"""
import ctypes as C
import os
import re

import numpy as np

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include",
                      "hybrid_spmm.h")
ENGINES = {"auto": 0, "host": 1, "cuda": 2}  # hybrid_backend
TYPES = {np.dtype(np.float32): 1, np.dtype(np.float64): 2}
I32, ROW_MAJOR = 1, 1


# ---- structs -------------------------------------------------------------------------------

class Header:
    """The structs of the public header as ctypes structures."""

    SCALARS = {"double": C.c_double, "int": C.c_int, "unsigned": C.c_uint,
               "int64_t": C.c_int64, "size_t": C.c_size_t}

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        self.known = {}

    def struct(self, name):
        if name not in self.known:
            body = re.search(rf"typedef struct {name} {{(.*?)}} {name};", self.text, re.S)[1]
            fields = [field for part in body.split(";") for field in self.fields(part.strip())]
            self.known[name] = type(name, (C.Structure,), {"_fields_": fields})
        return self.known[name]

    def fields(self, text):
        """Returns the fields of a declaration such as `const char *a, *b` or `hybrid_use use[5]`."""
        call = re.search(r"\(\*(\w+)\)", text)
        if call:
            return [(call[1], C.c_void_p)]
        if not text:
            return []
        kind, names = re.fullmatch(r"(?:const )?(\w+)\s*(.*)", text, re.S).groups()
        return [self.field(kind, name.strip()) for name in names.split(",")]

    def field(self, kind, name):
        name, count = re.fullmatch(r"(\*?\s*\w+)(?:\[(\w+)\])?", name).groups()
        if name.startswith("*"):
            return name.strip("* "), C.c_void_p
        ctype = self.scalar(kind) or self.struct(kind)
        return name, ctype * self.constant(count) if count else ctype

    def scalar(self, kind):
        """Returns the ctypes type of a C type. Enums are int."""
        if re.search(rf"typedef enum {kind} ", self.text):
            return C.c_int
        return self.SCALARS.get(kind)

    def constant(self, text):
        return int(text if text.isdigit()
                   else re.search(rf"\b{text}\s*=\s*(\d+)", self.text)[1])


# ---- library -------------------------------------------------------------------------------

class Library:
    def __init__(self, path, header=HEADER):
        self.header, self.so = Header(header), C.CDLL(os.path.abspath(path))
        pointer, number = C.c_void_p, C.c_double
        for name, arguments in {
                "engine_create": [pointer] * 2, "engine_destroy": [pointer],
                "engine_message": [pointer], "engine_device": [pointer],
                "engine_backend": [pointer], "engine_threads": [pointer],
                "engine_trim": [pointer], "engine_report": [pointer] * 2,
                "engine_trace": [pointer] * 3, "csr_free": [pointer] * 2,
                "spgemm": [pointer] * 4, "spmv": [pointer, number, pointer, pointer, number,
                                                  pointer],
                "spmm": [pointer, number, pointer, pointer, number, pointer]}.items():
            getattr(self.so, "hybrid_" + name).argtypes = arguments
        for name in "engine_message", "engine_device":
            getattr(self.so, "hybrid_" + name).restype = C.c_char_p

    def struct(self, name, **fields):
        return self.header.struct("hybrid_" + name)(**fields)

    def version(self):
        number = self.so.hybrid_version()
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


class Product:
    """The C of a product. Its arrays are freed with the object."""

    def __init__(self, engine, matrix, dtype):
        self.engine, self.matrix, self.dtype = engine, matrix, dtype

    def __del__(self):
        self.engine.so.hybrid_csr_free(self.engine.handle, C.byref(self.matrix))

    def arrays(self):
        """Returns views of row_ptr, col and val, which are valid as long as this object."""
        C_, view = self.matrix, np.ctypeslib.as_array
        read = lambda address, ctype, count: view(
            C.cast(address, C.POINTER(ctype)), (count,)) if count else np.empty(0, ctype)
        return (read(C_.row_ptr, C.c_int64, C_.rows + 1), read(C_.col, C.c_int32, C_.nnz),
                read(C_.val, np.ctypeslib.as_ctypes_type(self.dtype), C_.nnz))


def address(array):
    """Returns array.ctypes.data in a third of its time."""
    return array.__array_interface__["data"][0]


class Engine:
    def __init__(self, library, backend="auto", threads=0, rates=None):
        self.library, self.so, self.handle = library, library.so, C.c_void_p()
        message = C.create_string_buffer(400)
        options = library.struct("engine_options", backend=ENGINES[backend], threads=threads,
                                 message=C.addressof(message), message_size=400)
        if rates is not None:
            self.rates = C.create_string_buffer(os.fsencode(rates))
            options.rates_path = C.addressof(self.rates)
        options.struct_size = C.sizeof(options)
        if self.so.hybrid_engine_create(C.byref(options), C.byref(self.handle)) != 0:
            raise RuntimeError(message.value.decode())
        self.device = self.so.hybrid_engine_device(self.handle).decode()
        self.threads = self.so.hybrid_engine_threads(self.handle)
        self.has_gpu = self.so.hybrid_engine_backend(self.handle) == ENGINES["cuda"]

    def close(self):
        self.so.hybrid_engine_destroy(self.handle)

    def trim(self):
        self.so.hybrid_engine_trim(self.handle)

    def succeed(self, status):
        if status != 0:
            raise RuntimeError(self.so.hybrid_engine_message(self.handle).decode())

    def csr(self, val, col, row_ptr, shape):
        """Returns a struct with these arrays, which the caller must keep."""
        return self.library.struct(
            "csr", rows=shape[0], cols=shape[1], nnz=val.size, offset_type=I32,
            row_ptr=row_ptr.ctypes.data, col=col.ctypes.data, val=val.ctypes.data,
            type=TYPES[val.dtype])

    def dense(self, array):
        return self.library.struct(
            "dense", rows=array.shape[0], cols=array.shape[1], ld=array.shape[1],
            order=ROW_MAJOR, data=array.ctypes.data, type=TYPES[array.dtype])

    def spgemm(self, A, B, dtype):
        result = self.library.struct("csr")
        self.succeed(self.so.hybrid_spgemm(self.handle, C.byref(A), C.byref(B),
                                           C.byref(result)))
        return Product(self, result, dtype)

    def spmm(self, A, X, dtype):
        """Returns a function that computes A*X into a new array. Arguments that do not change are
        made once."""
        shape, Y = (A.rows, X.cols), self.dense(np.empty((A.rows, X.cols), dtype))
        product, a, x, y = self.so.hybrid_spmm, C.byref(A), C.byref(X), C.byref(Y)

        def call():
            result = np.empty(shape, dtype)
            Y.data = address(result)
            self.succeed(product(self.handle, 1, a, x, 0, y))
            return result
        return call

    def spmv(self, A, x, dtype):
        """Returns a function that computes A*x for a vector."""
        product, a, at = self.so.hybrid_spmv, C.byref(A), x.ctypes.data

        def call():
            result = np.empty(A.rows, dtype)
            self.succeed(product(self.handle, 1, a, at, 0, address(result)))
            return result
        return call

    def report(self):
        """Returns the report of the last product."""
        report = self.library.struct("report")
        report.struct_size = C.sizeof(report)
        self.succeed(self.so.hybrid_engine_report(self.handle, C.byref(report)))
        return report

    def variants(self, call):
        """Returns the variants that `call` computes with, and its result."""
        event, names = self.library.header.struct("hybrid_event"), {}

        @C.CFUNCTYPE(None, C.c_void_p, C.POINTER(event))
        def note(_, seen):
            names[C.string_at(seen.contents.variant).decode()] = None

        self.so.hybrid_engine_trace(self.handle, note, None)
        try:
            result = call()
        finally:
            self.so.hybrid_engine_trace(self.handle, None, None)
        return list(names), result
