/* tests/support/check/right_products.h - right products, which verification must
   accept. */
#ifndef RIGHT_PRODUCTS_H
#define RIGHT_PRODUCTS_H

#include "hybrid_spmm.h"

/* Computes at least `count` products, with the variants of `names` in turn. Operands are
   small random matrices of both types with values that are random, all equal, or far
   apart in size. Products are SpGEMM and SpMM, with and without HYBRID_DETERMINISTIC and
   HYBRID_ALLOW_TF32. Each is verified with one trial and its own seed.

   Prints failures and rejected products and returns their number. Adds the number of
   products to *verified, without those that failed or that a variant refused. */
int right_products(hybrid_engine *engine, const char *const *names, int64_t count,
                   int64_t *verified);

/* Works as right_products() for one SpGEMM of each matrix of long_rows.h, type and
   variant. All values are equal, so that rounding errors add up instead of cancelling. */
int right_long_rows(hybrid_engine *engine, const char *const *names, int64_t *verified);

#endif /* RIGHT_PRODUCTS_H */
