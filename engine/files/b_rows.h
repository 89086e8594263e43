/* engine/files/b_rows.h - the rows of a B, not in memory, that a range of rows of A
   touches, and these rows of A with columns renumbered to match.

   Columns of A keep their order, so each sum of C is added in the same order as with all
   of B. */
#ifndef HY_B_ROWS_H
#define HY_B_ROWS_H

#include "base/contract/source.h"
#include "partition/pattern/touched.h"

typedef struct hy_b_rows {
    const hy_source *source; /* of all of B; borrowed */
    int64_t bytes;           /* bytes that rows of B may take; those of a single row of A
                                may take more */
    int64_t rows;            /* number of rows of A to try next, from the size of the last
                                range */
    hybrid_csr A, B;         /* rows of A and of B; A's values are the caller's */
    hy_reused offsets, entries, of_a; /* memory of the arrays of A and B */
    hy_touched touched;              /* rows of the operand that B holds */
} hy_b_rows;

void hy_b_rows_open(const hy_source *source, int64_t bytes, hy_b_rows *out);
void hy_b_rows_close(hy_b_rows *rows);

/* Takes as many rows of A from `begin` on as possible such that the rows of B that they
   touch fit. *end is the row after them. Results are in rows->A and rows->B until the
   next call.

   A must be checked. Rows of B are checked when they are read. Sentences call row i of A
   `first + i`. Returns NO_MEMORY if the rows of B for one row of A do not fit the budget
   of the host. Runs in parallel. */
hybrid_status hy_b_rows_next(hy_b_rows *rows, const hybrid_csr *A, int64_t first,
                             int64_t begin, int64_t *end);

#endif /* HY_B_ROWS_H */
