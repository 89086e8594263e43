/* tests/support/inputs/not_finite.h - SpMM with an infinity and a NaN in X. */
#ifndef NOT_FINITE_H
#define NOT_FINITE_H

#include "hybrid_spmm.h"

/* Runs the SpMM variant with `flags` for both types and several widths. An element of Y
   must be infinite or NaN if one of its scalar products is, and otherwise finite and
   right. Prints failures and returns their number; adds the number of products to
   *checked. */
int not_finite_check(hybrid_engine *engine, const char *variant, unsigned flags,
                     int64_t *checked);

/* products that each call of not_finite_check() adds to *checked */
enum { NOT_FINITE_PRODUCTS = 10 };

#endif /* NOT_FINITE_H */
