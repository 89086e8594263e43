/* tests/support/check/right_products.h - products that verification must not doubt. */
#ifndef RIGHT_PRODUCTS_H
#define RIGHT_PRODUCTS_H

#include "hybrid_spmm.h"

/* `count` products of the named variants, by turns: small random matrices of both types,
   SpGEMM and SpMM, deterministic and not, with TF32 and without, whose values are random,
   all equal, or of sizes far apart. Each is verified with one trial and a seed of its own.
   False alarms and failures are printed; returns how many there were. *verified counts
   the products, but not those that a variant refuses. */
int right_products(hybrid_engine *engine, const char *const *names, int64_t count,
                   int64_t *verified);

/* The same of SpGEMM with the long rows of long_rows.h, of equal terms, whose roundings add
   up. */
int right_long_rows(hybrid_engine *engine, const char *const *names, int64_t *verified);

#endif /* RIGHT_PRODUCTS_H */
