/* tests/support/products/variants.h - every variant of a backend times every case. */
#ifndef VARIANTS_H
#define VARIANTS_H

#include "support/inputs/cases.h"
#include "support/check/oracle.h"

/* Run the named variants over all cases, both types, both widths of offsets, integer and
   real data, chunks of 1 row, of a prime number of rows, and of as many as fit; check
   against the oracle, bit for bit where the data are integers. Failures are printed;
   returns how many there were. *checked counts the products that were checked; variants
   of SpMV may refuse matrices without blocks, and more than one column. */
int variants_check(hybrid_engine *engine, const char *const *names, int64_t *checked);

/* The same with X, Y and the arrays of A and B pinned; X and Y without gaps, alpha 1 and
   beta 0. */
int variants_check_pinned(hybrid_engine *engine, const char *const *names,
                          int64_t *checked);
/* The same for those of SpMM in f32 under HYBRID_ALLOW_TF32, with its bound. *rounded
   counts the products that miss the bound of f32, so that one can see that the flag was
   heard. */
int variants_check_tf32(hybrid_engine *engine, const char *const *names, int64_t *checked,
                        int64_t *rounded);
/* The same, of every SpMM about half on the host. *shared counts those of which both
   computed a part: of small ones that are one chunk one of the two computes all. */
int variants_check_shared(hybrid_engine *engine, const char *const *names,
                          int64_t *checked, int64_t *shared);

/* One product, A*B or A*X, of a case whose A*B is `product`: in which chunks, of which
   width and order, with pinned X and Y or not, shared with the host or not, is thrown.
   NULL for `rounded`: not under HYBRID_ALLOW_TF32, as above. */
int variants_check_one(hybrid_engine *engine, const char *name, const test_case *c,
                       test_kind kind, const oracle *product, uint64_t dice,
                       int64_t *checked, int64_t *rounded);

/* Names of the compiled variants whose second part is `backend`, ended by NULL; at most
   `room` with the NULL. Returns their number. */
int variants_of(const char *backend, const char **names, int room);

/* How many of them begin with that. */
int variants_named(const char *const *names, const char *begin);

#endif /* VARIANTS_H */
