"""The declarations of the public headers for ctypes.

Structs have the fields of the header in its order; ``tests/test_capi.py`` compares their
sizes, the offsets of their fields and the enumerators with a C compiler's. Structs that
begin with ``struct_size`` grow at their end only, so a newer library works with them.
"""

from __future__ import annotations

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_size_t,
    c_uint,
    c_uint64,
    c_void_p,
)
from struct import Struct
from typing import Any

VERSION = 200  # HYBRID_VERSION of the header that is declared here

OK, BAD_ARGUMENT, BAD_MATRIX, BAD_SHAPE, BAD_STATE = 0, 1, 2, 3, 4
UNSUPPORTED, NO_MEMORY, NO_DEVICE_MEMORY, NO_DEVICE = 5, 6, 7, 8
DEVICE_FAILED, IO_FAILED, BAD_FILE, CANCELLED = 9, 10, 11, 12

F32, F64 = 1, 2
INDEX_DEFAULT, I32, I64, INDEX_AUTO = 0, 1, 2, 3
ROW_MAJOR, COL_MAJOR = 1, 2
SPACE_HOST, SPACE_DEVICE = 0, 1
AUTO, HOST, CUDA = 0, 1, 2

DETERMINISTIC, REUSE, EXPLAIN = 1 << 0, 1 << 1, 1 << 2
CHECK, RESIDENT, ALLOW_TF32 = 1 << 3, 1 << 4, 1 << 5
SPLIT_DEFAULT, SPLIT_AUTO, SPLIT_GPU, SPLIT_HOST, SPLIT_SHARE = 0, 1, 2, 3, 4

CORES, HOST_MEMORY, BUS_UP, BUS_DOWN, DEVICE, RESOURCES = 0, 1, 2, 3, 4, 5
BUILT_IN, MEASURED, OBSERVED = 0, 1, 2


class Csr(Structure):
    """hybrid_csr."""

    _fields_ = [
        ("rows", c_int64),
        ("cols", c_int64),
        ("nnz", c_int64),
        ("offset_type", c_int),
        ("row_ptr", c_void_p),
        ("col", c_void_p),
        ("val", c_void_p),
        ("type", c_int),
        ("col_type", c_int),
        ("space", c_int),
    ]


class Dense(Structure):
    """hybrid_dense."""

    _fields_ = [
        ("rows", c_int64),
        ("cols", c_int64),
        ("ld", c_int64),
        ("order", c_int),
        ("data", c_void_p),
        ("type", c_int),
        ("space", c_int),
    ]


def packing(cls: type[Structure]) -> Struct:
    """Return the format of a Structure as the module struct has it, padded at the end as in C."""
    fields: list[Any] = list(cls._fields_)
    return Struct("".join(kind._type_ for _, kind in fields) + "0P")


# Bytes that hold these structs. Functions that read operands take ``CSR.pack(rows, cols, ...)``,
# which is made faster than a Structure and passed faster than byref() of one.
# ``CSR.unpack_from(result)`` returns all fields at once. Addresses are numbers.
CSR, DENSE = packing(Csr), packing(Dense)


class Allocator(Structure):
    """hybrid_allocator."""

    _fields_ = [("alloc", c_void_p), ("free", c_void_p), ("user", c_void_p)]


class EngineOptions(Structure):
    """hybrid_engine_options."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("backend", c_int),
        ("threads", c_int),
        ("device", c_int),
        ("device_bytes", c_size_t),
        ("host_bytes", c_size_t),
        ("allocator", Allocator),
        ("message", c_void_p),
        ("message_size", c_size_t),
        ("rates_path", c_char_p),
        ("devices", POINTER(c_int)),
        ("device_count", c_int64),
        ("spill_path", c_char_p),
        ("devices_optional", c_int64),
    ]


class Machine(Structure):
    """hybrid_machine."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("processors", c_int),
        ("cores", c_int),
        ("memory_bytes", c_int64),
        ("group_bytes", c_int64),
        ("host_bytes", c_int64),
        ("host_bytes_used", c_int64),
        ("rates_path", c_char_p),
        ("rates_date", c_char_p),
        ("with_cuda", c_int),
        ("device_count", c_int),
        ("left_out", c_char_p),
        ("cuda_host_bytes", c_int64),
        ("cuda_device_bytes", c_int64),
        ("with_hdf5", c_int),
        ("with_zstd", c_int),
    ]


class PlanOptions(Structure):
    """hybrid_plan_options."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint),
        ("depth", c_int),
        ("chunk_rows", c_int64),
        ("variant", c_char_p),
        ("split", c_int),
        ("order", c_int),
        ("host_share", c_double),
        ("offsets", c_int),
        ("columns", c_int),
        ("x_space", c_int),
        ("result_space", c_int),
    ]


class FileOperand(Structure):
    """hybrid_operand."""

    _fields_ = [("csr", c_void_p), ("dense", c_void_p), ("file", c_void_p)]


class FileOptions(Structure):
    """hybrid_file_options."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("format", c_char_p),
        ("compression", c_int),
        ("shuffle", c_int),
        ("resume", c_int),
        ("type", c_int),
        ("offsets", c_int),
        ("columns", c_int),
        ("order", c_int),
        ("transpose", c_int),
        ("row_begin", c_int64),
        ("row_end", c_int64),
        ("part_rows", c_int64),
    ]


class Candidate(Structure):
    """hybrid_candidate."""

    _fields_ = [
        ("variant", c_char_p),
        ("refused", c_char_p),
        ("predicted_s", c_double),
        ("chosen", c_int),
    ]


class Use(Structure):
    """hybrid_use."""

    _fields_ = [("rate", c_double), ("utilisation", c_double), ("origin", c_int)]


class Report(Structure):
    """hybrid_report."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("total_s", c_double),
        ("predicted_s", c_double),
        ("plan_s", c_double),
        ("load_s", c_double),
        ("prepare_s", c_double),
        ("h2d_s", c_double),
        ("multiply_s", c_double),
        ("finish_s", c_double),
        ("d2h_s", c_double),
        ("place_s", c_double),
        ("overlap", c_double),
        ("bus_utilisation", c_double),
        ("reference_s", c_double),
        ("speedup_over_reference", c_double),
        ("chunks", c_int64),
        ("rows", c_int64),
        ("flops", c_int64),
        ("nnz_out", c_int64),
        ("h2d_bytes", c_int64),
        ("d2h_bytes", c_int64),
        ("host_bytes", c_int64),
        ("device_bytes", c_int64),
        ("peak_device_bytes", c_int64),
        ("peak_pinned_bytes", c_int64),
        ("peak_host_bytes", c_int64),
        ("predicted_h2d_bytes", c_int64),
        ("predicted_d2h_bytes", c_int64),
        ("other_h2d_bytes", c_int64),
        ("gathered", c_int),
        ("reused_pattern", c_int),
        ("resident_chunks", c_int64),
        ("resident_bytes", c_int64),
        ("host_chunks", c_int64),
        ("host_products", c_int64),
        ("host_s", c_double),
        ("use", Use * RESOURCES),
        ("bound", c_int),
        ("rates_measured", c_int),
        ("predicted_nnz_out", c_int64),
        ("predicted_result_bytes", c_int64),
        ("pattern_bytes", c_int64),
        ("pooled_bytes", c_int64),
        ("predicted_device_s", c_double),
        ("b_h2d_bytes", c_int64),
        ("least_b_h2d_bytes", c_int64),
        ("write_s", c_double),
        ("assemble_s", c_double),
        ("file_bytes", c_int64),
        ("resumed_rows", c_int64),
    ]


EACH_FN = CFUNCTYPE(c_int, c_void_p, c_int64, POINTER(Csr))
PROGRESS_FN = CFUNCTYPE(c_int, c_int64, c_int64, c_int64)  # user is a number here, always 0

# name: (type of the result, types of the arguments). Engines, plans and arrays are passed as
# addresses, structs of operands as bytes. A result is passed as the Structure itself: ctypes
# checks its type and takes its address.
PTR, INT, LONG, REAL = c_void_p, c_int, c_int64, c_double
CSR_PTR, DENSE_PTR, OPTIONS = POINTER(Csr), POINTER(Dense), POINTER(PlanOptions)
FUNCTIONS: dict[str, tuple[object, list[object]]] = {
    "hybrid_version": (INT, []),
    "hybrid_status_text": (c_char_p, [INT]),
    "hybrid_resource_text": (c_char_p, [INT]),
    "hybrid_origin_text": (c_char_p, [INT]),
    "hybrid_engine_create": (INT, [PTR, PTR]),
    "hybrid_engine_destroy": (None, [PTR]),
    "hybrid_engine_message": (c_char_p, [PTR]),
    "hybrid_engine_backend": (INT, [PTR]),
    "hybrid_engine_device": (c_char_p, [PTR]),
    "hybrid_engine_threads": (INT, [PTR]),
    "hybrid_engine_machine": (INT, [PTR, PTR]),
    "hybrid_engine_trim": (None, [PTR]),
    "hybrid_engine_stream": (None, [PTR, PTR]),
    "hybrid_engine_report": (INT, [PTR, PTR]),
    "hybrid_engine_trace": (None, [PTR, PTR, PTR]),
    "hybrid_trace_create": (INT, [PTR, PTR]),
    "hybrid_trace_destroy": (None, [PTR]),
    "hybrid_trace_add": (None, [PTR, PTR]),
    "hybrid_trace_write_json": (INT, [PTR, c_char_p]),
    "hybrid_engine_progress": (None, [PTR, PTR, PTR]),
    "hybrid_pin": (INT, [PTR, PTR, c_size_t]),
    "hybrid_unpin": (INT, [PTR, PTR]),
    "hybrid_spgemm_with": (INT, [PTR, OPTIONS, PTR, PTR, CSR_PTR]),
    "hybrid_spmm_with": (INT, [PTR, OPTIONS, REAL, PTR, PTR, REAL, PTR]),
    "hybrid_csr_free": (None, [PTR, CSR_PTR]),
    "hybrid_dense_create": (INT, [PTR, LONG, LONG, INT, INT, DENSE_PTR]),
    "hybrid_dense_free": (None, [PTR, DENSE_PTR]),
    "hybrid_spgemm_plan": (INT, [PTR, PTR, PTR, OPTIONS, PTR]),
    "hybrid_spmm_plan": (INT, [PTR, PTR, LONG, OPTIONS, PTR]),
    "hybrid_spgemm_run": (INT, [PTR, PTR, PTR, CSR_PTR]),
    "hybrid_spmm_run": (INT, [PTR, REAL, PTR, PTR, REAL, PTR]),
    "hybrid_spgemm_each": (INT, [PTR, PTR, PTR, PTR, PTR]),
    "hybrid_plan_destroy": (None, [PTR]),
    "hybrid_plan_refresh": (None, [PTR]),
    "hybrid_plan_explain": (c_size_t, [PTR, PTR, c_size_t]),
    "hybrid_plan_details": (c_size_t, [PTR, PTR, c_size_t]),
    "hybrid_plan_candidate": (INT, [PTR, INT, PTR]),
    "hybrid_plan_report": (INT, [PTR, PTR]),
    "hybrid_csr_check": (INT, [PTR, PTR]),
    "hybrid_csr_transpose": (INT, [PTR, PTR, CSR_PTR]),
    "hybrid_read_mtx": (INT, [PTR, c_char_p, INT, CSR_PTR]),
    "hybrid_write_mtx": (INT, [PTR, c_char_p, PTR]),
    "hybrid_read_dense": (INT, [PTR, c_char_p, INT, DENSE_PTR]),
    "hybrid_file_open": (INT, [PTR, c_char_p, PTR]),
    "hybrid_file_close": (None, [PTR]),
    "hybrid_file_csr": (Csr, [PTR]),
    "hybrid_file_dense": (Dense, [PTR]),
    "hybrid_spgemm_files": (INT, [PTR, PTR, PTR, OPTIONS, CSR_PTR]),
    "hybrid_spmm_files": (INT, [PTR, REAL, PTR, PTR, REAL, OPTIONS, PTR]),
    "hybrid_spgemm_to_file": (INT, [PTR, PTR, PTR, OPTIONS, c_char_p, PTR]),
    "hybrid_spmm_to_file": (INT, [PTR, REAL, PTR, PTR, OPTIONS, c_char_p, PTR]),
    "hybrid_spgemm_to_file_predict": (INT, [PTR, PTR, PTR, OPTIONS, c_char_p, PTR, PTR]),
    "hybrid_spmm_files_predict": (INT, [PTR, PTR, PTR, OPTIONS, PTR]),
    "hybrid_generate": (INT, [PTR, c_char_p, INT, c_uint64, CSR_PTR]),
}


def declare(library: ctypes.CDLL) -> None:
    """Give every function of the library that the package calls its types."""
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
