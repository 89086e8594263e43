"""Files: Matrix Market through the library, .npz through SciPy."""

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
