"""bench/lib/real_check.py - compares a product of ours with SciPy's, within rounding."""
import numpy as np

import library

LARGE = 2_000_000_000  # scalar products of A*A; above, peers on the CPU are left out
SAMPLED = 200_000_000  # scalar products of the rows that are compared then
BLOCK = 1 << 24        # entries of C compared at a time


# ---- results -------------------------------------------------------------------------------

def csr_arrays(C):
    """Returns row_ptr, col and val of any peer's sparse result."""
    if isinstance(C, library.Product):
        return C.arrays()
    if isinstance(C, (list, tuple)):
        return C
    if hasattr(C, "crow_indices"):
        return [part.numpy() for part in (C.crow_indices(), C.col_indices(), C.values())]
    return C.indptr, C.indices, C.data


def ascend(row_ptr, col):
    """Returns whether columns ascend within each row."""
    for begin, end in blocks(row_ptr):
        first, part = row_ptr[begin], col[row_ptr[begin]:row_ptr[end]]
        falls = np.flatnonzero(part[1:] <= part[:-1]) + 1 + first
        if not np.isin(falls, row_ptr[begin:end + 1]).all():
            return False
    return True


def nbytes(result):
    parts = [result] if hasattr(result, "nbytes") else csr_arrays(result)
    return sum(part.nbytes for part in parts)


def bounds(p, A):
    """Returns for each row the largest rounding error: a multiple of the sum of |a| times the
    largest value of the row of B."""
    B = A if p.cols is None and p.second is None else A.T.tocsr() if p.cols is None else p.X
    most = abs(B).max(axis=1) if p.cols != 1 else abs(B)
    most = most.toarray().ravel() if hasattr(most, "toarray") else most
    terms = np.diff(p.row_ptr).max(initial=0) + 8
    return 2 * terms * np.finfo(p.dtype).eps * (abs(A).astype(np.float64) @ most)


def rows_to_check(p):
    """Returns all rows, or rows at equal distances if the product is large."""
    lengths = np.diff(p.second[2] if p.second else p.row_ptr).astype(np.float64)
    per_row = np.add.reduceat(np.append(lengths[p.col], 0), p.row_ptr[:-1])
    per_row[np.diff(p.row_ptr) == 0] = 0
    step = 1 if p.products() <= LARGE else int(per_row.sum() // SAMPLED) + 1
    return np.arange(0, p.shape[0], step)


def part_of(arrays, begin, end):
    """Returns rows [begin, end) of row_ptr, col and val."""
    row_ptr, col, val = arrays
    first, last = row_ptr[begin], row_ptr[end]
    return row_ptr[begin:end + 1] - first, col[first:last], val[first:last]


def same_product(p, C, reference, scipy_peer):
    """Raises ArithmeticError unless C is sorted and equals SciPy's A*B. Returns the number of rows
    compared. Rows are compared in blocks, because copies of all would take too much memory."""
    ours, A = csr_arrays(C), scipy_peer.csr(*p.first())
    B = scipy_peer.csr(*p.second) if p.second else A
    bound, rows = bounds(p, A), rows_to_check(p)
    if not ascend(*ours[:2]):
        raise ArithmeticError("columns of C do not ascend")
    if reference is None or rows.size < p.shape[0]:
        for row in rows:
            same_rows(part_of(ours, row, row + 1), A[[row]] @ B, bound[[row]])
        return int(rows.size)
    for begin, end in blocks(reference.indptr):
        theirs = scipy_peer.csr(*reversed(part_of(
            (reference.indptr, reference.indices, reference.data), begin, end)),
            (end - begin, B.shape[1]))
        same_rows(part_of(ours, begin, end), theirs, bound[begin:end])
    return p.shape[0]


def blocks(row_ptr):
    """Yields ranges of rows with at most BLOCK entries, or with one row."""
    begin, rows = 0, len(row_ptr) - 1
    while begin < rows:
        end = int(np.searchsorted(row_ptr, row_ptr[begin] + BLOCK, side="right")) - 1
        end = min(max(end, begin + 1), rows)
        yield begin, end
        begin = end


def same_rows(ours, theirs, bound):
    """Compares rows. Patterns may differ in zeros, because SciPy does not store sums that are 0."""
    theirs.sort_indices()
    row_ptr, col, val = ours
    reference = theirs.data
    if not (np.array_equal(row_ptr, theirs.indptr) and np.array_equal(col, theirs.indices)):
        off = type(theirs)((val, col, row_ptr), shape=theirs.shape) - theirs
        row_ptr, val, reference = off.indptr, off.data, 0
    compare(val, reference, np.repeat(bound, np.diff(row_ptr)))


def compare(ours, theirs, allowed):
    off = np.abs(ours - theirs) > allowed
    if off.any() or not np.isfinite(ours).all():
        raise ArithmeticError(f"{int(off.sum())} values differ from SciPy's by more than "
                              f"rounding explains")


def same_dense(p, Y, reference, scipy_peer):
    A = scipy_peer.csr(*p.first())
    allowed = bounds(p, A)
    compare(Y, A @ p.X if reference is None else reference,
            allowed if p.cols == 1 else allowed[:, None])
    return p.shape[0]
