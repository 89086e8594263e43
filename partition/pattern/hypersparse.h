/* partition/pattern/hypersparse.h - A without its empty rows and columns (the reduced A).

   For an empty row of A, the row of the result is beta*Y whatever X is. A row of X is not
   needed if the column of A is empty. A matrix with many empty rows and columns is called
   hypersparse (Buluc, Gilbert, "On the representation and multiplication of hypersparse
   matrices", IPDPS 2008). In graphs of the web or of messages, and in generated graphs
   like them, about half of the rows are empty. A device then computes

       Y'  =  A' X'

   where A' is the reduced A, X' holds the rows of X that A' needs, and Y' the rows of Y
   that A' produces. Rows and columns keep their order, so a banded matrix stays banded.
   Workers gather X' while they fill the pinned ring through which X travels to the device
   (source_subset.c), and store Y' to its rows of Y. Meanwhile they compute beta*Y of the
   other rows (storing.h). */
#ifndef HY_HYPERSPARSE_H
#define HY_HYPERSPARSE_H

#include "base/contract/variant.h"
#include "partition/pattern/touched.h"

typedef struct hy_hypersparse {
    hybrid_csr A;          /* reduced A, whose `val` is the caller's array; A.rows is 0 if
                              the product uses the caller's A */
    hy_touched rows, cols; /* rows and columns of the caller's A that have entries */
} hy_hypersparse;

static inline int hy_is_hypersparse(const hy_hypersparse *h)
{
    return h->A.rows > 0;
}

/* Makes the reduced A. h->rows and h->cols must have been set by hy_touched_rows() and
   hy_touched_cols(). Reads the pattern of A only. */
hybrid_status hy_hypersparse_make(hy_context *ctx, const hybrid_csr *A,
                                  hy_hypersparse *h);
void hy_hypersparse_free(hy_context *ctx, hy_hypersparse *h);

#endif /* HY_HYPERSPARSE_H */
