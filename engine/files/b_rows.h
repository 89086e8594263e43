/* engine/files/b_rows.h - rows of a B that is in a file: those that some rows of A touch,
   and these rows of A with their columns numbered anew.

   Columns of A keep their order, so products of a row of C are added as they are with all
   of B. */
#ifndef HY_B_ROWS_H
#define HY_B_ROWS_H

#include "partition/move/csr_file.h"
#include "partition/pattern/touched.h"

typedef struct hy_b_rows {
    const hy_csr_file *file; /* borrowed */
    int64_t bytes;           /* that they may take, unless one row of A touches more */
    int64_t rows;            /* of A, that the last ones were expected to suffice for */
    hybrid_csr A, B;         /* of A the values are the caller's */
    hy_reused places, entries, of_a; /* their arrays */
    hy_touched touched;      /* rows of the file's B that B has */
} hy_b_rows;

void hy_b_rows_open(const hy_csr_file *file, int64_t bytes, hy_b_rows *out);
void hy_b_rows_close(hy_b_rows *rows);

/* For rows of A, all of whose rules are verified, from `begin` on, so many that their rows of
   B fit: *end is the row after them. Sentences call row i of A first + i. NO_MEMORY if those
   of one row are too many; rules of B are verified where it is read. In parallel. What is
   there from the last call goes. */
hybrid_status hy_b_rows_next(hy_b_rows *rows, const hybrid_csr *A, int64_t first,
                             int64_t begin, int64_t *end);

#endif /* HY_B_ROWS_H */
