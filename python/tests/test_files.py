"""Files: read, written, as operands and as results."""

import json
import os

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import integers

import hybrid_spmm as hs


@pytest.mark.parametrize("name", ["a.mtx", "a.npz"])
@pytest.mark.parametrize("cls", [sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32])
def test_files_hold_the_matrix(engine, rng, tmp_path, name, cls, kind):
    A = cls(integers(rng, (20, 30), dtype=kind))
    engine.write_mtx(tmp_path / name, A)
    B = engine.read_mtx(tmp_path / name, np.float32)
    assert isinstance(B, sp.csr_array) and B.dtype == np.float32
    assert (B.toarray() == A.toarray()).all()
    if name == "a.mtx":
        assert (scipy.io.mmread(tmp_path / name).toarray() == A.toarray()).all()


def test_errors_of_files(engine, tmp_path):
    (tmp_path / "bad.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n"
    )
    with pytest.raises(hs.FormatError, match=r"bad\.mtx:3"):
        engine.read_mtx(tmp_path / "bad.mtx")
    with pytest.raises(FileNotFoundError) as caught:
        engine.read_mtx(tmp_path / "absent.mtx")
    assert isinstance(caught.value, hs.FileError) and "absent.mtx" in str(caught.value)
    with pytest.raises(OSError):
        engine.write_mtx(tmp_path / "absent" / "a.mtx", sp.csr_array(sp.eye(3)))
    with pytest.raises(TypeError, match="int32"):
        engine.read_mtx(tmp_path / "bad.mtx", np.int32)
    sp.save_npz(tmp_path / "complex.npz", sp.csr_array(np.array([[1 + 2j]])))
    with pytest.raises(hs.FormatError, match="holds values of complex128, which are not"):
        engine.read_mtx(tmp_path / "complex.npz")


# ---- operands and results in files ----


@pytest.fixture
def matrix():
    A = sp.csr_array(sp.random(60, 60, density=0.1, format="csr", random_state=1))
    A.data = np.round(A.data * 10)
    return A


def save(folder, A, name="A.npz"):
    path = os.path.join(folder, name)
    sp.save_npz(path, A)
    return path


def test_a_file_tells_what_it_holds(engine, matrix, tmp_path):
    np.save(tmp_path / "X.npy", np.ones((60, 3), np.float32))
    with engine.open(save(tmp_path, matrix)) as A, engine.open(tmp_path / "X.npy") as X:
        assert (A.shape, A.nnz, A.dtype, A.is_sparse) == ((60, 60), matrix.nnz, np.float64, True)
        assert (X.shape, X.nnz, X.dtype, X.is_sparse) == ((60, 3), 180, np.float32, False)
        assert "sparse" in repr(A) and "dense" in repr(X)


@pytest.mark.parametrize("left", ["file", "memory", "csc"])
@pytest.mark.parametrize("right", ["file", "memory"])
def test_products_of_files_and_matrices(engine, matrix, tmp_path, left, right):
    with engine.open(save(tmp_path, matrix)) as file:
        A = {"file": file, "memory": matrix, "csc": matrix.tocsc()}[left]
        B = {"file": file, "memory": matrix}[right]
        C = engine.matmul(A, B)
        assert (C.toarray() == (matrix @ matrix).toarray()).all()
        out = engine.matmul(A, B, out=tmp_path / "C.npz", resume=left == "file")
        assert out == tmp_path / "C.npz"
        assert (sp.load_npz(out).toarray() == (matrix @ matrix).toarray()).all()
    assert not (tmp_path / "C.npz.parts").exists()


def read_part(path):
    """Read a sparse matrix of raw numbers with NumPy."""
    part = json.loads(path.read_text())

    def numbers(array, dtype, count):
        place = path.parent / array["file"]
        return np.fromfile(place, dtype, count, offset=array.get("offset", 0))

    offsets = numbers(part["row_ptr"], "<i8", part["rows"] + 1)
    columns = numbers(part["col"], "<i4", part["nnz"])
    values = numbers(part["values"], {"f32": "<f4", "f64": "<f8"}[part["type"]], part["nnz"])
    return sp.csr_array((values, columns, offsets), shape=(part["rows"], part["cols"]))


def test_a_product_in_parts(engine, matrix, tmp_path):
    for resume in (False, True):
        out = engine.matmul(matrix, matrix, out=tmp_path / "C.json", part_rows=25, resume=resume)
        parts = [read_part(tmp_path / p["file"]) for p in json.loads(out.read_text())["parts"]]
        assert [part.shape[0] for part in parts] == [25, 25, 10]
        assert (sp.vstack(parts).toarray() == (matrix @ matrix).toarray()).all()
        with engine.open(out) as C:
            assert (engine.matmul(C, np.ones(60)) == matrix @ matrix @ np.ones(60)).all()
    with pytest.raises(hs.UnsupportedError, match="has no parts"):
        engine.matmul(matrix, matrix, out=tmp_path / "C.npz", part_rows=25)
    with pytest.raises(hs.ArgumentError, match="part_rows needs"):
        engine.matmul(matrix, matrix, part_rows=25)


@pytest.mark.parametrize("shape", [(60, 4), (60,)])
def test_dense_products(engine, matrix, tmp_path, shape):
    X = np.arange(60.0 * 4).reshape(60, 4)[:, : shape[1] if shape[1:] else 1].reshape(shape)
    with engine.open(save(tmp_path, matrix)) as A:
        assert (engine.matmul(A, X) == matrix @ X).all()
        Y = np.ones(matrix[:, :1].shape[:1] + shape[1:])
        assert engine.matmul(A, X, out=Y, alpha=2, beta=3) is Y
        assert (2 * (matrix @ X) + 3 == Y).all()
        engine.matmul(A, X, out=str(tmp_path / "Y.npy"), alpha=2)
        written = np.load(tmp_path / "Y.npy")
        assert (written.reshape(shape) == 2 * (matrix @ X)).all()


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.bool_])
def test_integers_and_lists_become_floats_of_a_file(engine, matrix, tmp_path, kind):
    A, X = matrix.astype(kind), np.arange(120).reshape(60, 2) % 5
    wide, values = A.astype(float), X.tolist()
    C = sp.load_npz(engine.matmul(A, A, out=tmp_path / "C.npz"))
    assert C.dtype == np.float64 and (C != wide @ wide).nnz == 0
    Y = np.load(engine.matmul(A, values, out=tmp_path / "Y.npy"))
    assert Y.dtype == np.float64 and (Y == wide @ X).all()
    assert engine.predict(A, values, out=tmp_path / "Y.npy").rows == 60
    with engine.open(save(tmp_path, matrix)) as file:
        assert (engine.matmul(file, values) == matrix @ X).all()


def test_a_dense_file(engine, matrix, tmp_path):
    X = np.arange(180.0).reshape(60, 3)
    np.save(tmp_path / "X.npy", X)
    with engine.open(tmp_path / "X.npy") as file:
        assert (engine.matmul(matrix, file) == matrix @ X).all()
        with pytest.raises(hs.OperandTypeError, match="must be sparse"):
            engine.matmul(file, X.T)


def test_errors_of_products_with_files(engine, matrix, tmp_path):
    with pytest.raises(FileNotFoundError):
        engine.open(tmp_path / "absent.npz")
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(hs.FormatError):
        engine.open(tmp_path / "bad.npy")
    file = engine.open(save(tmp_path, matrix))
    with pytest.raises(hs.ShapeError):
        engine.matmul(file, np.ones((3, 3)))
    for right in (matrix * 1j, matrix.tocsc() * 1j, np.ones(60) * 1j, np.ones(60, np.float16)):
        for out in (None, tmp_path / ("C.npz" if sp.issparse(right) else "Y.npy")):
            with pytest.raises(hs.OperandTypeError, match="are not supported"):
                engine.matmul(file, right, out=out)
    with pytest.raises(hs.OperandTypeError, match="^File is not an operand here$"):
        engine.plan(matrix, file)
    with pytest.raises(hs.UnsupportedError, match="no format"):
        engine.matmul(file, file, out=tmp_path / "C.what")
    with pytest.raises(hs.ArgumentError, match="resume"):
        engine.matmul(file, file, resume=True)
    with pytest.raises(hs.ArgumentError, match="beta"):
        engine.matmul(file, file, out=tmp_path / "C.npz", beta=1)
    with pytest.raises(hs.ArgumentError, match="alpha"):
        engine.matmul(file, file, out=tmp_path / "C.npz", alpha=2)
    with hs.Engine(backend="host", threads=1) as other, pytest.raises(hs.ArgumentError):
        other.matmul(file, file)
    single = engine.open(save(tmp_path, matrix.astype(np.float32), "S.npz"))
    with pytest.raises(hs.OperandTypeError, match="not converted"):
        engine.matmul(file, single)
    single.close()
    file.close()
    file.close()
    with pytest.raises(hs.ArgumentError, match="closed"):
        engine.matmul(file, file)


# ---- predictions ----


@pytest.mark.parametrize("resume", [False, True])
def test_a_prediction_of_a_sparse_file(engine, matrix, tmp_path, resume):
    C = matrix @ matrix
    with engine.open(save(tmp_path, matrix)) as A:
        report = engine.predict(A, matrix, out=tmp_path / "C.npz", resume=resume)
        assert os.listdir(tmp_path) == ["A.npz"]
        engine.matmul(A, matrix, out=tmp_path / "C.npz")
    products = int(np.bincount(matrix.indices, minlength=60) @ np.diff(matrix.indptr))
    assert report.rows == 60
    assert report.flops == pytest.approx(2 * products, rel=0.2)  # of sampled rows
    assert 0.5 * C.nnz < report.predicted_nnz_out < 2 * C.nnz
    size = os.path.getsize(tmp_path / "C.npz")
    assert report.file_bytes > (1.5 if resume else 0.5) * size  # finished parts, and the file
    assert report.peak_host_bytes > 0 and report.predicted_s > 0
    assert report.nnz_out == 0 and report.total_s == 0


def test_a_prediction_of_a_dense_file(engine, matrix, tmp_path):
    X = np.ones((60, 3))
    np.save(tmp_path / "X.npy", X)
    with engine.open(tmp_path / "X.npy") as file:
        reports = [engine.predict(matrix, x, out=str(tmp_path / "Y.npy")) for x in (X, file)]
    assert os.listdir(tmp_path) == ["X.npy"]
    for report in reports:
        assert (report.rows, report.flops) == (60, 2 * 3 * matrix.nnz)
        assert report.file_bytes == report.predicted_result_bytes == 60 * 3 * 8
        assert report.peak_host_bytes > 0 and report.predicted_s > 0
    assert [report.host_bytes for report in reports] == [0, X.nbytes]


def test_predictions_on_the_default_engine(matrix, tmp_path):
    assert hs.predict(matrix, matrix, out=tmp_path / "C.npz").rows == 60


def test_errors_of_predictions(engine, matrix, tmp_path):
    with pytest.raises(hs.ShapeError):
        engine.predict(matrix, np.ones((3, 3)), out=tmp_path / "Y.npy")
    with pytest.raises(hs.UnsupportedError, match="no format"):
        engine.predict(matrix, matrix, out=tmp_path / "C.what")
    with pytest.raises(hs.UnsupportedError, match="has no parts"):
        engine.predict(matrix, matrix, out=tmp_path / "C.npz", part_rows=25)
    with pytest.raises(hs.ArgumentError, match="name of a file"):
        engine.predict(matrix, np.ones(60), out=np.ones(60))
    with pytest.raises(hs.OperandTypeError, match="must be sparse"):
        engine.predict(np.ones((60, 60)), matrix, out=tmp_path / "C.npz")


def test_a_file_outlives_its_engine(matrix, tmp_path):
    engine = hs.Engine(backend="host", threads=1)
    file = engine.open(save(tmp_path, matrix))
    engine.close()
    del engine
    file.close()
