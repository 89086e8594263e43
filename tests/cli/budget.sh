# A budget that does not hold a single row gives exit code 4. A small budget changes the
# chunks only.
. "$(dirname "$0")/lib.bash"

expect 4 multiply -q gen:stencil27:8 --backend host --device-memory 1KiB -o C.mtx
says 'row [0-9]+ of the product needs 2.0 KiB of memory, and the budget leaves 1.0 KiB for it; raise'
expect 4 multiply -q gen:stencil27:8 --backend host --host-memory 10KiB -o C.mtx
says 'cannot allocate .* of host memory: .* of the budget of 10.0 KiB'
expect 4 explain -q gen:stencil27:8 --backend host --device-memory 1KiB
says 'row [0-9]+ of the product needs 2.0 KiB of memory, and the budget leaves 1.0 KiB for it; raise'
expect 4 generate stencil27:8 -q --host-memory 10KiB -o C.mtx
says 'cannot allocate .* of host memory: .* of the budget of 10.0 KiB'
expect 0 multiply -q gen:stencil27:8 --backend host -o C.mtx
for budget in 20KiB 100KiB 1MiB; do
    expect 0 multiply -q gen:stencil27:8 --backend host --device-memory $budget -o D.mtx
    cmp C.mtx D.mtx || fail "another budget, another result"
done
only C.mtx D.mtx
