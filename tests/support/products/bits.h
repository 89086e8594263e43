/* tests/support/products/bits.h - exact bits of products under HYBRID_DETERMINISTIC. */
#ifndef BITS_H
#define BITS_H

#include "hybrid_spmm.h"

/* Runs the SpGEMM variants of `names` on real values of both types, in chunks of 1 row,
   of a prime number of rows, and as large as possible. The bits of C must be those of a
   plain loop that rounds each scalar product and adds them in the order of A's entries.
   A variant that adds in no fixed order must refuse. Prints failures and returns their
   number; adds the number of products to *checked. */
int bits_check(hybrid_engine *engine, const char *const *names, int64_t *checked);

/* products that each call of bits_check() adds to *checked for each variant that adds in
   a fixed order */
enum { BITS_PRODUCTS = 24 };

/* Runs plans of the SpMM variants of `names` repeatedly: with X and Y pinned or not,
   with Y beginning elsewhere in a cache line, and with both orders. Y of each run must
   have the bits of Y of the plan's first run, which is compared with the oracle. Prints
   failures and returns their number; adds the number of runs to *checked. */
int bits_check_spmm(hybrid_engine *engine, const char *const *names, int64_t *checked);

/* runs that each call of bits_check_spmm() adds to *checked for a variant that takes any
   matrix and any width of X */
enum { BITS_RUNS = 648 };

#endif /* BITS_H */
