/* partition/parts/b_rows.h - the rows of B that a range of rows of A needs.

   A B in memory is given as it is, with all of A. From a file, the rows are read that the
   range touches, and the columns of A are renumbered to match. Columns keep their order,
   so each sum of C is added in the same order as with all of B. A thread gathers the next
   range while one is multiplied. */
#ifndef HY_B_ROWS_H
#define HY_B_ROWS_H

#include "base/contract/source.h"
#include "base/threads/background.h"
#include "partition/pattern/touched.h"

struct hy_b_rows;

/* A range of rows of A, and the rows of B that it needs. */
typedef struct hy_b_range {
    const struct hy_b_rows *rows; /* reader that the range belongs to */
    const hybrid_csr *from;       /* A; the range has its rows [begin, end) */
    int64_t begin, end;           /* begin == end: the range is not gathered */
    hybrid_csr A, B; /* rows of A with new column numbers, and rows of B from a file;
                        A.val belongs to the caller */
    hy_reused offsets, entries, of_a; /* memory of B's offsets, of B's entries, and of A
                                         without its values */
    hy_touched touched;               /* maps rows of the whole B to rows of range->B */
} hy_b_range;

typedef struct hy_b_rows {
    const hy_source *source; /* source of all of B, which the caller owns */
    int64_t bytes; /* maximum bytes of the rows of B of one range of several rows of A;
                      two ranges are in memory */
    int64_t row_bytes; /* maximum bytes of the rows of B for a single row of A, if two
                          ranges are in memory; at least `bytes`. A range with more bytes
                          is alone in memory, and nothing is gathered while it is
                          multiplied. */
    int64_t rows;  /* number of rows of A to try first for the next range,
                      estimated from the rows of B that the last one needed */
    const hybrid_csr *A, *B; /* rows of A and the rows of B that they need: the caller's
                                matrices, or those of a range */
    hy_b_range ranges[2];
    hy_b_range *gathering;    /* range that the thread gathers or, if it is idle, has
                                 gathered last */
    int64_t first;            /* number of row 0 of A in error sentences */
    int has_next;             /* 1: the next range is being gathered */
    int64_t used; /* maximum bytes of host memory that are in use once the next range is
                     gathered; 0: there is no next range */
    hy_background background;           /* thread that gathers */
    int64_t begin_ns, end_ns; /* hy_now_ns() before and after the range was gathered; 0 if
                                 B is in memory */
} hy_b_rows;

void hy_b_rows_open(const hy_source *source, int64_t bytes, int64_t row_bytes,
                    hy_b_rows *out);
void hy_b_rows_close(hy_b_rows *rows);

/* Takes rows [begin, *end) of A: all rows if B is in memory; else at least one, and no
   more than those whose touched rows of B fit into rows->bytes. The results are rows->A
   and rows->B, which are valid until the next call. A must stay until its last range is
   taken, or until hy_b_rows_close(). The caller must have checked A, and a B in memory.
   `begin` is 0 in the first call with an A, and *end of the call before it in all others.
 */
static inline hybrid_status hy_b_rows_next(hy_b_rows *rows, const hybrid_csr *A,
                                           int64_t first, int64_t begin, int64_t *end)
{
    return rows->source->ops->next_rows(rows, A, first, begin, end);
}

/* Does what hy_b_rows_next() does, for a B in a file. Rows of B are checked when they are
   read. Error sentences call row i of A `first + i`. Returns NO_MEMORY if the rows of B
   that one row of A touches do not fit the budget of the host. The function uses all
   workers. */
hybrid_status hy_b_rows_read(hy_b_rows *rows, const hybrid_csr *A, int64_t first,
                             int64_t begin, int64_t *end);

#endif /* HY_B_ROWS_H */
