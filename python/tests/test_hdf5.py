"""HDF5 files: those of anndata, h5py and binsparse are read by the library."""

import ctypes
import json
import os

import numpy as np
import pytest
import scipy.sparse as sp

import hybrid_spmm as hs
from hybrid_spmm._native import capi
from hybrid_spmm._native.handle import lib, sparse_pages
from hybrid_spmm._operands.sparse import to_scipy

h5py = pytest.importorskip("h5py")

FLOAT32, FLOAT64 = 1, 2


class Operand(ctypes.Structure):
    """hybrid_operand."""

    _fields_ = [("csr", ctypes.c_void_p), ("dense", ctypes.c_void_p), ("file", ctypes.c_void_p)]


@pytest.fixture(autouse=True, scope="module")
def _needs_hdf5(tmp_path_factory):
    """Skip the module if the library was built without libhdf5."""
    path = tmp_path_factory.mktemp("probe") / "probe.h5"
    h5py.File(path, "w").close()
    with hs.Engine(backend="host", threads=1) as engine:
        try:
            read(engine, path)
        except hs.FormatError as error:
            if "no HDF5" in str(error):
                pytest.skip("the library was built without libhdf5")


def read(engine, path):
    """Return the sparse matrix in a file, read as a whole."""
    handle = engine._handle
    pages = sparse_pages(handle)
    function = lib.hybrid_read_csr
    function.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    handle.call(function, handle.pointer, os.fsencode(os.fspath(path)), ctypes.byref(pages.struct))
    return to_scipy(sp.csr_array, (pages.struct.rows, pages.struct.cols), pages)


def read_dense(engine, path):
    """Return the dense matrix in a file, as the product with an identity in memory."""
    handle, file = engine._handle, ctypes.c_void_p()
    lib.hybrid_file_dense.restype = capi.Dense
    lib.hybrid_file_dense.argtypes = lib.hybrid_file_close.argtypes = [ctypes.c_void_p]
    lib.hybrid_spmm_files.argtypes = [
        *(ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p),
        *(ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p),
    ]
    lib.hybrid_file_open.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    name = os.fsencode(os.fspath(path))
    handle.call(lib.hybrid_file_open, handle.pointer, name, ctypes.byref(file))
    X = lib.hybrid_file_dense(file)
    kind = np.float32 if X.type == FLOAT32 else np.float64
    ptr, col = np.arange(X.rows + 1), np.arange(X.rows, dtype=np.int32)
    val, Y = np.ones(X.rows, kind), np.full((X.rows, X.cols), 7, kind)
    eye = capi.Csr(
        *(X.rows, X.rows, X.rows, 2, ptr.ctypes.data, col.ctypes.data, val.ctypes.data),
        *(X.type, 1, 0),
    )
    out = capi.Dense(X.rows, X.cols, X.cols, 1, Y.ctypes.data, X.type, 0)
    A = Operand(csr=ctypes.addressof(eye))
    B = Operand(file=file)
    try:
        handle.call(
            lib.hybrid_spmm_files,
            *(handle.pointer, 1.0, ctypes.byref(A), ctypes.byref(B), 0.0, None),
            ctypes.byref(out),
        )
    finally:
        lib.hybrid_file_close(file)
    return Y


def matrix(rng, rows=300, cols=200, dtype=np.float32):
    """Return a matrix of small integers with some rows that are empty."""
    A = sp.random_array((rows, cols), density=0.1, rng=rng, format="csr")
    A.data = rng.integers(1, 100, A.nnz).astype(dtype)
    lengths = np.diff(A.indptr)
    lengths[rows // 3] = 0
    kept = np.repeat(np.arange(rows) != rows // 3, np.diff(A.indptr))
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return sp.csr_array((A.data[kept], A.indices[kept], indptr), shape=A.shape)


def same(A, B):
    """Check that all bits of two sparse matrices agree."""
    assert A.shape == B.shape and A.nnz == B.nnz
    assert (A.indptr == B.indptr).all() and (A.indices == B.indices).all()
    assert (A.data == B.data).all()


# ---- AnnData ------------------------------------------------------------------------


@pytest.mark.parametrize("compression", [None, "gzip", "lzf"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8, bool])
def test_anndata(engine, rng, tmp_path, compression, dtype):
    anndata = pytest.importorskip("anndata")
    A, B, C = (matrix(rng, dtype=dtype) for _ in range(3))
    cells = anndata.AnnData(X=A, layers={"counts": B}, obsp={"near": matrix(rng, 300, 300)})
    cells.raw = anndata.AnnData(X=C)
    cells.write_h5ad(tmp_path / "a.h5ad", compression=compression)
    for member, wanted in [("", A), ("::X", A), ("::layers/counts", B), ("::raw/X", C)]:
        found = read(engine, f"{tmp_path / 'a.h5ad'}{member}")
        assert found.dtype == (dtype if np.dtype(dtype).kind == "f" else np.float64)
        same(found, wanted)
    same(read(engine, f"{tmp_path / 'a.h5ad'}::obsp/near"), cells.obsp["near"])


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_columns_of_anndata(engine, rng, tmp_path, compression):
    anndata = pytest.importorskip("anndata")
    A = matrix(rng)
    anndata.AnnData(X=A.tocsc()).write_h5ad(tmp_path / "a.h5ad", compression=compression)
    same(read(engine, tmp_path / "a.h5ad"), A)


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_rows_of_anndata_in_any_order(engine, rng, tmp_path, compression):
    anndata = pytest.importorskip("anndata")
    A = matrix(rng)
    B = sp.csr_matrix(A, copy=True)
    for i in range(B.shape[0]):
        row = slice(B.indptr[i], B.indptr[i + 1])
        B.indices[row], B.data[row] = B.indices[row][::-1].copy(), B.data[row][::-1].copy()
    B.has_sorted_indices = False
    anndata.AnnData(X=B).write_h5ad(tmp_path / "a.h5ad", compression=compression)
    with h5py.File(tmp_path / "a.h5ad") as file:
        assert (file["X/indices"][:] == B.indices).all()
    same(read(engine, tmp_path / "a.h5ad"), A)


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_dense_anndata(engine, rng, tmp_path, compression, dtype):
    anndata = pytest.importorskip("anndata")
    X = rng.integers(-9, 9, (500, 90)).astype(dtype)
    anndata.AnnData(X=X).write_h5ad(tmp_path / "a.h5ad", compression=compression)
    assert (read_dense(engine, tmp_path / "a.h5ad") == X).all()


def test_old_anndata(engine, rng, tmp_path):
    A = matrix(rng)
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        X = file.create_group("X")
        X.attrs["h5sparse_format"] = "csr"
        X.attrs["h5sparse_shape"] = A.shape
        for name in ["data", "indices", "indptr"]:
            X[name] = getattr(A, name)
    same(read(engine, tmp_path / "a.h5ad"), A)


# ---- layouts of HDF5 ----------------------------------------------------------------


def write_cells(path, A, options, order="<", group="X"):
    """Write a matrix as AnnData does, with chosen types and options of HDF5."""
    with h5py.File(path, "w", libver=options.pop("libver", None)) as file:
        X = file.create_group(group)
        X.attrs["encoding-type"] = "csr_matrix"
        X.attrs["shape"] = A.shape
        for name, kind in [("data", "f4"), ("indices", "i8"), ("indptr", "u4")]:
            numbers = getattr(A, name).astype(order + kind)
            X.create_dataset(name, data=numbers, **options)


FLETCHER = {"fletcher32": True}
V110 = ("v110", "v110")  # the newest version that libhdf5 1.10 reads


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunks": (1,)},
        {"chunks": (7,)},
        {"chunks": (301,)},
        {"chunks": (20000,), "maxshape": (None,)},
        {"compression": "gzip", "chunks": (280,)},
        {"compression": "gzip", "shuffle": True, "chunks": (299,)},
        {"compression": "gzip", "shuffle": True, **FLETCHER, "chunks": (64,)},
        {"compression": "lzf", "shuffle": True, **FLETCHER, "chunks": (200,)},
        {"shuffle": True, "chunks": (101,)},
        {**FLETCHER, "chunks": (33,)},
        {"libver": V110, "compression": "gzip", "chunks": (100,)},
        {"libver": V110, "chunks": (100,), "maxshape": (None,)},
        {"libver": V110, "chunks": (301,)},
        {"chunks": (50,), "maxshape": (None,)},
    ],
)
def test_layouts(engine, rng, tmp_path, order, options):
    A = matrix(rng)
    write_cells(tmp_path / "a.h5ad", A, dict(options), order)
    same(read(engine, tmp_path / "a.h5ad"), A)


@pytest.mark.parametrize("chunks", [None, (1, 90), (500, 1), (33, 7), (500, 90)])
@pytest.mark.parametrize("kind", ["<f8", ">f4", ">i2", "<u8"])
def test_dense_chunks(engine, rng, tmp_path, chunks, kind):
    X = rng.integers(0, 99, (500, 90)).astype(kind)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        compressed = {"compression": "gzip", "shuffle": True} if chunks else {}
        file.create_dataset("obsm/X", data=X, chunks=chunks, **compressed)
    assert (read_dense(engine, f"{tmp_path / 'x.h5'}::obsm/X") == X).all()


def test_chunks_that_were_never_written(engine, rng, tmp_path):
    X = np.full((500, 90), 3.0)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        made = file.create_dataset("X", X.shape, "f8", chunks=(50, 30), fillvalue=3)
        X[70:90, 10:40] = made[70:90, 10:40] = rng.integers(0, 9, (20, 30))
        file.create_dataset("empty", (4, 2), "f4", fillvalue=5)
    assert (read_dense(engine, tmp_path / "x.h5") == X).all()
    assert (read_dense(engine, f"{tmp_path / 'x.h5'}::empty") == 5).all()


def test_a_block_of_the_user(engine, rng, tmp_path):
    A = matrix(rng)
    with h5py.File(tmp_path / "a.h5", "w", userblock_size=1024) as file:
        file["note"] = 1
    write_cells(tmp_path / "b.h5", A, {"chunks": (100,)})
    with h5py.File(tmp_path / "b.h5") as source, h5py.File(tmp_path / "a.h5", "a") as file:
        source.copy("X", file)
    same(read(engine, tmp_path / "a.h5"), A)


# ---- 10x Genomics -------------------------------------------------------------------


@pytest.mark.parametrize("group", ["matrix", "GRCh38"])
def test_tenx(engine, rng, tmp_path, group):
    A = matrix(rng, dtype=np.int32)  # cells x genes
    with h5py.File(tmp_path / "a.h5", "w") as file:
        made = file.create_group(group)
        packed = {"compression": "gzip", "chunks": (500,), "maxshape": (None,)}
        made.create_dataset("data", data=A.data, **packed)
        made.create_dataset("indices", data=A.indices.astype("i8"), **packed)
        made.create_dataset("indptr", data=A.indptr.astype("i8"), compression="gzip")
        made.create_dataset("shape", data=np.array(A.shape[::-1], "i4"), compression="gzip")
        made["barcodes"] = np.array([b"cell"] * A.shape[0])
    same(read(engine, tmp_path / "a.h5"), A)


# ---- Binsparse ----------------------------------------------------------------------


def binsparse_file(path, tensor):
    """Write a tensor with the reference package."""
    binsparse = pytest.importorskip("binsparse")
    binsparse.save_binsparse(tensor(binsparse), path)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, bool])
def test_binsparse_rows(engine, rng, tmp_path, dtype):
    A = matrix(rng, dtype=dtype)
    binsparse_file(
        tmp_path / "a.h5",
        lambda b: b.CSRMatrix(
            A.shape, A.nnz, pointers_to_1=A.indptr, indices_1=A.indices, values=A.data
        ),
    )
    same(read(engine, tmp_path / "a.h5"), A)


def test_binsparse_with_one_value(engine, rng, tmp_path):
    A = matrix(rng)
    A.data[:] = 3
    values = np.broadcast_to(np.float32(3), (A.nnz,))
    binsparse_file(
        tmp_path / "a.h5",
        lambda b: b.CSRMatrix(
            A.shape, A.nnz, pointers_to_1=A.indptr, indices_1=A.indices, values=values
        ),
    )
    same(read(engine, tmp_path / "a.h5"), A)


def doubly(A):
    """Return the lines that have entries, and their pointers."""
    lines = np.flatnonzero(np.diff(A.indptr))
    return lines, np.concatenate([A.indptr[lines], A.indptr[-1:]])


@pytest.mark.parametrize("name", ["CSC", "DCSR", "DCSC", "COO", "COOR"])
def test_other_binsparse_formats(engine, rng, tmp_path, name):
    A = matrix(rng)
    lines = A.tocsc() if name.endswith("CSC") else A
    listed, pointers = doubly(lines)
    arrays = {"indices_1": lines.indices, "values": lines.data}
    if name == "CSC":
        arrays["pointers_to_1"] = lines.indptr
    elif name.startswith("D"):
        arrays |= {"indices_0": listed, "pointers_to_1": pointers}
    else:
        arrays["indices_0"] = A.tocoo().row
    binsparse_file(
        tmp_path / "a.h5", lambda b: getattr(b, f"{name}Matrix")(A.shape, A.nnz, **arrays)
    )
    same(read(engine, tmp_path / "a.h5"), A)


@pytest.mark.parametrize("half", ["symmetric_lower", "symmetric_upper"])
@pytest.mark.parametrize("name", ["CSR", "CSC", "COO"])
def test_symmetric_binsparse(engine, rng, tmp_path, half, name):
    A = matrix(rng, 200, 200)
    A = sp.csr_array(A + A.T)
    stored = (sp.tril if half == "symmetric_lower" else sp.triu)(A, format="csr")
    lines = stored.tocsc() if name == "CSC" else stored
    arrays = {"indices_1": lines.indices, "values": lines.data}
    if name == "COO":
        arrays["indices_0"] = stored.tocoo().row
    else:
        arrays["pointers_to_1"] = lines.indptr
    binsparse_file(
        tmp_path / "a.h5",
        lambda b: getattr(b, f"{name}Matrix")(stored.shape, stored.nnz, **arrays),
    )
    with h5py.File(tmp_path / "a.h5", "a") as file:  # the package knows no structure
        header = json.loads(file.attrs["binsparse"])
        header["binsparse"]["structure"] = half
        file.attrs["binsparse"] = json.dumps(header)
    same(read(engine, tmp_path / "a.h5"), A)


@pytest.mark.parametrize("name", ["DMATRMatrix", "DMATCMatrix"])
def test_binsparse_dense(engine, rng, tmp_path, name):
    X = rng.integers(0, 9, (40, 30)).astype(np.float32)
    values = X.reshape(-1, order="C" if name == "DMATRMatrix" else "F")
    binsparse_file(tmp_path / "x.h5", lambda b: getattr(b, name)(X.shape, X.size, values=values))
    assert (read_dense(engine, tmp_path / "x.h5") == X).all()


# ---- results ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_binsparse_reads_results(engine, rng, tmp_path, dtype):
    binsparse = pytest.importorskip("binsparse")
    A, X = matrix(rng, dtype=dtype), rng.integers(-9, 9, (200, 5)).astype(dtype)
    write_cells(tmp_path / "a.h5ad", matrix(rng, 150, 300), {"chunks": (100,)})
    with engine.open(tmp_path / "a.h5ad") as B:
        left = read(engine, tmp_path / "a.h5ad").astype(np.float32)
        if dtype == np.float32:
            engine.matmul(B, A, out=tmp_path / "C.h5")
        else:
            engine.matmul(left.astype(dtype), A, out=tmp_path / "C.h5")
    C, wanted = binsparse.load_binsparse(tmp_path / "C.h5"), sp.csr_array(left.astype(dtype) @ A)
    wanted.sort_indices()
    assert type(C).__name__ == "CSRMatrix" and C.shape == wanted.shape
    assert C.values.dtype == dtype
    same(sp.csr_array((C.values, C.indices_1, C.pointers_to_1), C.shape), wanted)
    engine.matmul(A, X, out=tmp_path / "Y.h5")
    Y = binsparse.load_binsparse(tmp_path / "Y.h5")
    assert type(Y).__name__ == "DMATRMatrix" and Y.shape == (300, 5)
    assert (Y.values.reshape(Y.shape) == A @ X).all()


# ---- errors -------------------------------------------------------------------------


def test_a_wrong_member_lists_the_matrices(engine, rng, tmp_path):
    anndata = pytest.importorskip("anndata")
    A = matrix(rng)
    anndata.AnnData(X=A, layers={"counts": A}).write_h5ad(tmp_path / "a.h5ad")
    with pytest.raises(hs.FormatError, match=r"no 'layers/none'.*: X, layers/counts"):
        read(engine, f"{tmp_path / 'a.h5ad'}::layers/none")
    with pytest.raises(hs.FormatError, match=r"'obs' holds no matrix.*: X, layers/counts"):
        read(engine, f"{tmp_path / 'a.h5ad'}::obs")
