# Generated problems do not depend on the number of threads, depend on the seed, and have
# the expected sizes.
. "$(dirname "$0")/../lib.bash"

for spec in stencil7:6 stencil27:5 fem3:4 er:3000,5 rmat:11,6 powerlaw:3000,5,400 road:40 \
    band:500,3 dense:40,70 wide:30,50,900; do
    expect 0 generate $spec -o one.mtx --threads 1 -q
    expect 0 generate $spec -o two.mtx --threads 4 -q
    cmp one.mtx two.mtx || fail "$spec depends on the number of threads"
    expect 0 generate $spec -o other.mtx --seed 2 -q
    cmp -s one.mtx other.mtx && fail "$spec does not depend on the seed"
    expect 0 info one.mtx
    cp out from_file
    expect 0 info gen:$spec
    diff <(tail -n +2 out) <(tail -n +2 from_file) >&2 || fail "$spec changes on its way through a file"
done
expect 0 generate stencil27:5 -o C.mtx
says 'C.mtx: 125 x 125, 2 197 entries' # (3*5-2)^3
expect 0 generate band:500,3 -o C.mtx
says '500 x 500, 3 488 entries' # 7*500 - 2*(1+2+3)
expect 0 generate dense:40,70 -o C.mtx
says 'C.mtx: 40 x 70, 2 800 entries'

# The ending of the name selects the format.
expect 0 generate er:100,5 -o A.mtx -q
for ending in mtx.gz npz petsc json; do
    expect 0 generate er:100,5 -o "A.$ending" -q
    expect 0 convert "A.$ending" B.mtx -q
    cmp A.mtx B.mtx || fail "$ending: another matrix"
done
gzip -dc A.mtx.gz | cmp - A.mtx || fail "gzip reads another text"
only one.mtx two.mtx other.mtx from_file A.mtx A.mtx.gz A.npz A.petsc A.json A.index.bin A.values.bin B.mtx C.mtx

# The message about an unknown kind names every kind that the help lists.
expect 0 generate --help
sed -n 's/^  \([a-z0-9]*:\)[A-Z].*/\1/p' out >kinds
[ "$(wc -l <kinds)" -ge 10 ] || fail "the help lists few kinds"
expect 2 generate cube:3 -o C.mtx
while read -r kind; do
    says "[ ,]$kind"
done <kinds
only one.mtx two.mtx other.mtx from_file A.mtx A.mtx.gz A.npz A.petsc A.json A.index.bin A.values.bin B.mtx C.mtx kinds
