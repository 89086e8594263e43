# Files of other formats are recognised by their first bytes, whatever their names are.
# The message says what the file is and how to convert it.
. "$(dirname "$0")/../lib.bash"
make_matrices

# foreign <kind> <command> [<name>]: checks the message for a file that begins with stdin
foreign() {
    local name=${3:-x.dat}
    cat >"$name"
    expect 3 multiply -q "$name" -o C.mtx
    says "^hybrid_spmm: $name: is $1"
    says "$2"
    expect 3 info "$name"
    says "^hybrid_spmm: $name: is $1"
    rm "$name"
}

zip() { # zip <name of the first member>
    printf 'PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'"\\$(printf %o ${#1})"'\0\0\0%s' "$1"
}
zip indices.npy | foreign 'a NumPy archive \(.npz\)' "mmwrite\('x.mtx', .*load_npz\('x.npz'\)" x.npz
zip readme.txt | foreign 'a ZIP archive' 'unzip x.dat'
printf '\211HDF\r\n\32\n' | foreign 'an AnnData file' "read_h5ad\('x.h5ad'\)" x.h5ad
printf '\211HDF\r\n\32\n' | foreign 'an HDF5 file' h5py
printf 'MATLAB 7.3 MAT-file, Platform: GLNXA64' | foreign 'a MATLAB file of version 7.3' h5py x.mat
printf 'MATLAB 5.0 MAT-file, Platform: GLNXA64' | foreign 'a MATLAB file of version 5' loadmat x.mat
printf 'PAR1\25\4' | foreign 'a Parquet table' read_parquet
printf 'ARROW1\0\0' | foreign 'an Arrow table' read_feather
printf '\3757zXZ\0' | foreign 'compressed with xz' 'xz -dk x.mtx.xz' x.mtx.xz
printf 'BZh91AY' | foreign 'compressed with bzip2' 'bzip2 -dk'
printf '\50\265\57\375' | foreign 'compressed with zstd' 'zstd -d'
gzip <A.mtx | gzip | foreign 'a file that was compressed twice' 'gunzip x.mtx.gz' x.mtx.gz
tar cf - A.mtx | gzip | foreign 'a tar archive' 'tar xf A.tar.gz' A.tar.gz
printf ' <!DOCTYPE HTML>' | foreign 'a web page' less
printf '{"format": "hybrid-csr"}' | foreign 'JSON; .* needs a name that ends in .json' 'mv x.dat x.json'
printf '%-72s%-8s\n%14d%14d%14d%14d%14d\nRUA%11s%14d%14d%14d\n' 'a title' KEY 3 1 1 1 0 '' 3 3 5 |
    foreign 'a Harwell-Boeing file' "hb_read\('x.rua'\)" x.rua
printf '0\t1\n1\t2\n' | foreign 'tab-separated text' 'lines of row, column'
printf '# edges\n0 1 0.5\n' | foreign 'text in columns' 'lines of row, column'
printf 'row,col,value\n0,1,2\n' | foreign 'comma-separated text' 'skiprows=1'
printf 'gene,a,b,c\nBRCA1,0,1,2\n' | foreign 'comma-separated text' 'pandas.read_csv'
printf '1;2;3;4\n' | foreign 'comma-separated text' "delimiter=';'"

# a name with special characters of the shell or Python does not appear in the command
printf 'PK\3\4' | foreign 'a ZIP archive' 'unzip FILE$' "x y.zip"

# .npy is dense, but A must be sparse
printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}" >X.npy
expect 3 multiply -q X.npy A.mtx
says "X.npy: is a NumPy array .*dense; try: python3 -c .*mmwrite\('X.mtx'.*numpy.load\('X.npy'\)"

# an unknown format is reported as a bad Matrix Market file
printf 'hello, world\n' >x.mtx
expect 3 multiply -q x.mtx
says 'x.mtx:1: the banner .* is missing'
only A.mtx B.mtx X.npy x.mtx
