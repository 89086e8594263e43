/* partition/pattern/hypersparse.h - A without its empty rows and columns.

   An empty row of A makes beta*Y of its row of Y, whatever X is, and nobody reads the row
   of X that an empty column stands for. Matrices of which most rows and columns are empty
   are called hypersparse (Buluc, Gilbert, "On the representation and multiplication of
   hypersparse matrices", IPDPS 2008); of graphs of the web, of messages, and of those
   generated like them half are. A device then computes

       Y'  =  A' X'

   A' the reduced A, X' the rows of X that it names and Y' the rows of Y that it makes,
   all numbered anew in the order they had; so what is near a band stays near it. Workers
   gather X' while they fill the ring (source_subset.c), store Y' where it belongs, and all
   the while make beta*Y of the other rows (storing.h). */
#ifndef HY_HYPERSPARSE_H
#define HY_HYPERSPARSE_H

#include "base/contract/variant.h"
#include "partition/pattern/touched.h"

typedef struct hy_hypersparse {
    hybrid_csr A;          /* reduced, but `val`: that is the caller's. rows 0: there is
                              none */
    hy_touched rows, cols; /* which rows and columns of the caller's A have entries */
} hy_hypersparse;

static inline int hy_is_hypersparse(const hy_hypersparse *h)
{
    return h->A.rows > 0;
}

/* The reduced A, once its rows and columns that are not empty have been counted
   (hy_touched_rows, hy_touched_cols). Of A only the pattern is read. */
hybrid_status hy_hypersparse_make(hy_context *ctx, const hybrid_csr *A,
                                  hy_hypersparse *h);
void hy_hypersparse_free(hy_context *ctx, hy_hypersparse *h);

#endif /* HY_HYPERSPARSE_H */
