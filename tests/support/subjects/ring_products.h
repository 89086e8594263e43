/* tests/support/subjects/ring_products.h - products of banded matrices for a ring of
   entries. */
#ifndef RING_PRODUCTS_H
#define RING_PRODUCTS_H

#include "base/contract/variant.h"
#include "support/check/oracle.h"
#include "support/inputs/cases.h"

enum { RING_ROWS = 1500 };

extern const hy_variant *const ring_variants[];

/* Makes a matrix of RING_ROWS rows and columns. Row i has up to 7 entries near column i;
   some rows have none. */
hybrid_csr ring_band(unsigned seed);

typedef struct ring_product {
    hybrid_csr A, B;
    oracle C;
} ring_product;

/* Makes A, B (A itself if `squared` is 1) and the expected C. */
void ring_open(unsigned seed, int squared, ring_product *p);
void ring_close(ring_product *p);

/* Makes a plan, runs it `runs` times, and checks C. Sets *held to the number of entries
   of B in the ring; 0: the plan has another schedule. Returns the status. */
hybrid_status ring_multiply(hybrid_engine *engine, const ring_product *p, unsigned flags,
                            int runs, int64_t *held);

#endif /* RING_PRODUCTS_H */
