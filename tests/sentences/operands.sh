# Makes the files that the commands of sentences.txt read, in the current folder.
. "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.bash"
make_matrices
banner='%%MatrixMarket matrix'

# W is 2 x 4, X = [1 2 3]', x = [1 2]'. R is random and E has a row of 30000 entries.
printf '%s\n' "$banner coordinate real general" '2 4 1' '1 1 1' >W.mtx
printf '%s\n' "$banner array real general" '3 1' 1 2 3 >X.mtx
printf '%s\n' "$banner array real general" '2 1' 1 2 >x.mtx
hybrid_spmm generate er:2000,30 -q -o R.mtx

# A program starts as `on_terminal PROGRAM ARGUMENT...`.
cat >on_terminal <<'X'
#!/usr/bin/env python3
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
X
# The program is interrupted while it waits for its operand for ever.
mkfifo silent
cat >interrupted <<'X'
hybrid_spmm multiply -q silent -o I.mtx &
until ls | grep -q "^I.mtx.*partial"; do kill -0 $! || exit 99; done
kill -TERM $!
wait $!
X
# A named pipe hides the format of a file from the program, which opens other files as
# operands of any format.
cat >piped <<'X'
mkdir p
mkfifo "p/$1"
cat "$1" >"p/$1" &
hybrid_spmm multiply -q "p/$1" -o C.mtx
code=$?
rm -r p
exit $code
X
# doctor reads a bad file of rates, which has the name of this machine.
cat >bad_rates <<'X'
name=$(hybrid_spmm doctor | sed -n 's/^CPU *//p' | tr -cs '[:alnum:].\n-' _)
echo nonsense >"cache/hybrid_spmm/$name.rates"
XDG_CACHE_HOME=$PWD/cache hybrid_spmm doctor
X
# explain ignores a file of rates that another version wrote.
cat >old_rates <<'X'
name=$(hybrid_spmm doctor | sed -n 's/^CPU *//p' | tr -cs '[:alnum:].\n-' _)
printf 'format = 1\n' >"old/hybrid_spmm/$name.rates"
XDG_CACHE_HOME=$PWD/old hybrid_spmm explain A.mtx --backend host
X
mkdir -p cache/hybrid_spmm old/hybrid_spmm
echo nonsense >bad.rates
touch F.mtx
chmod +x on_terminal interrupted piped bad_rates old_rates

# ---- raw arrays ----

printf '\1\0\0\0\0\0\360\77%.0s' {1..6} >x.bin
printf '\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0' >i.bin
printf '\0\0\200\77%.0s' {1..3} >>i.bin
dense='{"format": "hybrid-dense", "version": 1, "rows": 3, "cols": 2, "order": "row"'
echo "$dense, \"type\": \"f64\", \"values\": {\"file\": \"x.bin\"}}" >X.json
echo "$dense, \"type\": \"f64\", \"values\": {\"file\": \"short.bin\"}}" >short.json
echo "$dense, \"type\": \"f64\", \"values\": {\"file\": \"none.bin\"}}" >none.json
echo "$dense, \"type\": \"f64\", \"values\": {\"file\": \".\"}}" >folder.json
head -c 47 x.bin >short.bin
cat >I.json <<'X'
{"format": "hybrid-csr", "version": 1, "rows": 3, "cols": 3, "nnz": 3, "type": "f32",
 "row_ptr": {"file": "i.bin", "type": "i32"},
 "col": {"file": "i.bin", "offset": 16, "type": "i32"},
 "values": {"file": "i.bin", "offset": 28}}
X
sed 's/"cols": 2/"cols": two/' X.json >two.json

# ---- traces ----

# bad_trace <name> <sed command>: writes a changed trace.
bad_trace() {
    sed "$2" "$TEST_DATA/device.trace" >"$1.json"
}
cp "$TEST_DATA/device.trace" run.json
bad_trace object '1s/"otherData":/&1,"x":/'
bad_trace array '1s/"lanes":\[/"lanes":{/'
bad_trace comma '2s/,"name"/ "name"/'
bad_trace colon '2s/:/;/'
bad_trace end '$a{}'
bad_trace string '2s/"reader"/7/'
bad_trace character '2s/reader/\\x/'
printf '{"a' >quote.json
bad_trace number '2s/:1,/:one,/'
bad_trace deep "1s/\"ms\"/$(printf '[%.0s' {1..70})/"
bad_trace value '1s/"ms"/%/'
bad_trace lane '2s/"tid"/"TID"/'
bad_trace memory '10s/limit/LIMIT/'
bad_trace stall '12s/"text"/"TEXT"/'
bad_trace event '16s/"ph"/"PH"/'
bad_trace bar '16s/"dur":/"dur":-/'
bad_trace counter 's/{"bytes":12000000}}$/{"BYTES":1}}/'
bad_trace format '1s/"format":1/"format":2/'
bad_trace span '1s/"begin_us":4000.000/"begin_us":4e9/'

# ---- files of other formats ----

zip() { # zip <name of the first member>
    printf 'PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'"\\$(printf %o ${#1})"'\0\0\0%s' "$1"
}
zip indices.npy >x.npz
zip readme.txt >zip.dat
zip readme.txt >'x y.zip'
printf '\211HDF\r\n\32\n' >x.h5ad
printf '\211HDF\r\n\32\n' >x.h5
printf 'MATLAB 7.3 MAT-file, Platform: GLNXA64' >x7.mat
printf 'MATLAB 5.0 MAT-file, Platform: GLNXA64' >x5.mat
printf 'PAR1\25\4' >x.parquet
printf 'ARROW1\0\0' >x.feather
printf '\3757zXZ\0' >x.mtx.xz
printf 'BZh91AY' >x.bz2
printf '\50\265\57\375' >x.zst
printf '\4\42\115\30' >x.lz4
printf '7z\274\257\47\34' >x.7z
gzip <A.mtx | gzip >twice.mtx.gz
tar cf - A.mtx | gzip >x.tar.gz
printf ' <!DOCTYPE HTML>' >page.dat
printf '{"format": "hybrid-csr"}' >json.dat
printf '%-72s%-8s\n%14d%14d%14d%14d%14d\nRUA%11s%14d%14d%14d\n' 'a title' KEY 3 1 1 1 0 '' 3 3 5 >x.rua
printf '0\t1\t2\t3\n1\t2\t3\t4\n' >x.tsv
printf '# a table\n0 1 0.5 2\n' >table.txt
printf 'a,b,c,d\n0,1,2,3\n' >list.csv
printf 'gene,a,b,c\nBRCA1,0,1,2\n' >words.csv
printf '1;2;3;4\n' >x.csv
printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}" >X.npy
printf 'hello, world\n' >hello.mtx
printf '\0\0\0\0' >zero.npy

# ---- Matrix Market files that no memory or window holds ----

{ echo "$banner coordinate real general"; yes % | head -c 2M; } >comments.mtx
{ echo "$banner coordinate real general"; echo 9 9 9; head -c 17M </dev/zero | tr '\0' 1; } >line.mtx
ln -s nowhere dangling.mtx
ln -s circle.mtx circle.mtx
mkdir folder
