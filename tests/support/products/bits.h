/* tests/support/products/bits.h - products under HYBRID_DETERMINISTIC, bit for bit. */
#ifndef BITS_H
#define BITS_H

#include "hybrid_spmm.h"

/* Run the named variants of SpGEMM on real data, both types, chunks of 1 row, of a prime
   number of rows, and of as many as fit. The bits of C must be those of a plain loop that
   rounds each product and adds them in the order of A's entries; a variant that has no
   fixed order must be refused. Failures are printed; returns how many there were. */
int bits_check(hybrid_engine *engine, const char *const *names, int64_t *checked);

/* Products that bits_check() checks of a variant that has a fixed order. */
enum { BITS_PRODUCTS = 24 };

/* Run plans of the named variants of SpMM again and again: X and Y pinned, one of them, or
   none, Y elsewhere in a line, in rows and in columns. Each run of a plan must have the
   bits of its first, which is compared with the oracle. */
int bits_check_spmm(hybrid_engine *engine, const char *const *names, int64_t *checked);

/* Runs that bits_check_spmm() checks of a variant that takes any matrix and width. */
enum { BITS_RUNS = 648 };

#endif /* BITS_H */
