# The suggested commands do convert files of other formats. Needs SciPy. Formats whose
# Python packages are missing are skipped.
. "$(dirname "$0")/../lib.bash"
PYTHON=${HYBRID_PYTHON:-python3}
$PYTHON -c 'import scipy.sparse' 2>/dev/null || exit 77
python3() { "$PYTHON" "$@"; } # the suggested commands call this instead of the system's Python

cat >make.py <<'P'
import numpy as n, scipy.io as io, scipy.sparse as s
A = s.csc_array(n.array([[1, 2, 0, 0], [0, 0, 3.5, 0], [4, 0, 5, 0], [0, 0, 0, 6]]))
io.mmwrite("want.mtx", A)
s.save_npz("a.npz", s.csr_matrix(A))
n.save("a.npy", A.toarray())
io.savemat("a.mat", {"A": s.csc_matrix(A)})
io.hb_write("a.rua", s.csc_matrix(A))
for name, d in ("a.csv", ","), ("a.tsv", "\t"), ("a.txt", " "):
    n.savetxt(name, A.toarray(), delimiter=d)
C = s.coo_array(A)
n.savetxt("list.csv", n.c_[C.row, C.col, C.data], delimiter=",", header="row,col,value", comments="")
n.savetxt("list.tsv", n.c_[C.row, C.col, C.data], delimiter="\t", header="by row")
try:
    import pandas
    table = pandas.DataFrame(A.toarray(), columns=list("abcd"), index=list("wxyz"))
    table.to_csv("words.csv")
    table.to_parquet("a.parquet")
    table.reset_index(drop=True).to_feather("a.feather")
except ImportError:
    pass
try:
    import h5py
    with h5py.File("a73.mat", "w", userblock_size=512) as f:
        g = f.create_group("A")
        g["data"], g["ir"], g["jc"] = A.data, A.indices, A.indptr
        g.attrs["MATLAB_sparse"] = n.uint64(4)
    with open("a73.mat", "r+b") as f:
        f.write(b"MATLAB 7.3 MAT-file")
    import anndata
    anndata.AnnData(s.csr_matrix(A)).write_h5ad("a.h5ad")
except ImportError:
    pass
P
$PYTHON make.py 2>err || fail "the files were not made"

count=0
"$HYBRID_SPMM" multiply -q want.mtx -o square.mtx
for file in list.*; do # lists need no conversion: they are read as they are
    "$HYBRID_SPMM" multiply -q "$file" -o got.mtx || fail "$file: not read"
    cmp -s got.mtx square.mtx || fail "$file: another matrix"
done
for file in a.* a73.mat words.csv; do
    [ -e "$file" ] || continue
    expect 3 multiply -q "$file"
    command=$(sed -n 's/.*try: //p' err)
    [ -n "$command" ] || fail "no command for $file"
    eval "$command" >out 2>err || fail "$command"
    "$HYBRID_SPMM" multiply -q "${file%.*}.mtx" -o got.mtx || fail "$file: converted to no matrix"
    cmp -s got.mtx square.mtx || fail "$file: converted to another matrix"
    rm "${file%.*}.mtx"
    count=$((count + 1))
done
[ $count -ge 7 ] || fail "only $count files"
