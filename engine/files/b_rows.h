/* engine/files/b_rows.h - the rows of a B, not in memory, that a range of rows of A
   touches, and these rows of A with columns renumbered to match.

   Columns of A keep their order, so each sum of C is added in the same order as with all
   of B. */
#ifndef HY_B_ROWS_H
#define HY_B_ROWS_H

#include "base/contract/source.h"
#include "partition/pattern/touched.h"

typedef struct hy_b_rows {
    const hy_source *source; /* source of all of B, which the caller owns */
    int64_t bytes;           /* maximum bytes of the rows of B; those that a single row of
                                A touches may exceed it */
    int64_t rows;            /* number of rows of A to try first, from the size of the
                                last range */
    hybrid_csr A, B;         /* rows of A with new column numbers, and the rows of B;
                                A.val belongs to the caller */
    hy_reused offsets, entries, of_a; /* memory of A and B, but not of A.val */
    hy_touched touched;              /* numbers, in the whole B, of the rows that `B`
                                        holds */
} hy_b_rows;

void hy_b_rows_open(const hy_source *source, int64_t bytes, hy_b_rows *out);
void hy_b_rows_close(hy_b_rows *rows);

/* Takes rows of A from `begin` on, until the rows of B that they touch would no longer
   fit. *end is the row after them. The results are rows->A and rows->B, which are valid
   until the next call.

   A must be checked. Rows of B are checked when they are read. Error sentences call row i
   of A `first + i`. Returns NO_MEMORY if the rows of B for one row of A do not fit the
   budget of the host. The function uses all workers. */
hybrid_status hy_b_rows_next(hy_b_rows *rows, const hybrid_csr *A, int64_t first,
                             int64_t begin, int64_t *end);

#endif /* HY_B_ROWS_H */
