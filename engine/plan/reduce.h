/* engine/plan/reduce.h - makes the reduced A if a device may gain by it.

   The reduced A has no empty rows and columns (hypersparse.h). With it the device gets
   only the rows of X that A reads and sends back only the rows of Y that A computes.
   Workers gather the one and store the other even if X and Y are pinned.

   Planning asks hy_reduce_find() unless the host is certain to compute, for an SpMM from
   host memory on a device. Rows of X must take a cache line or more, X and Y together
   HY_HYPERSPARSE_BYTES, and at least a quarter of all rows and columns must be empty.
   chunk_rows and a split with the host exclude a reduced A, because they refer to rows of
   the caller's A. Each run calls hy_reduce_bind(), which makes the reduced A the operand
   of all chunks. hy_row_of() returns the caller's number of a row, for messages and
   events. */
#ifndef HY_REDUCE_H
#define HY_REDUCE_H

#include "engine/plan/product.h"

/* Makes the reduced A of a product that a device will compute, if at least a quarter of
   the rows of X and Y then need not cross the bus. Makes none if memory is short.
   `reduced` is empty before; the caller frees it, even after a failure. */
hybrid_status hy_reduce_find(const hy_product *product, const hybrid_csr *A,
                             hy_hypersparse *reduced);

/* If the product has a reduced A, stores it with the values of problem->A in *reduced,
   and lets the problem use it, with those rows of X (borrowed) and Y that it needs. Else
   does nothing. */
void hy_reduce_bind(const hy_product *product, const hy_source *X, hy_problem *problem,
                    hybrid_csr *reduced);

#endif /* HY_REDUCE_H */
