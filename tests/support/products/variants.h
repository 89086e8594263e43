/* tests/support/products/variants.h - every variant of a backend on every test case. */
#ifndef VARIANTS_H
#define VARIANTS_H

#include "support/inputs/cases.h"
#include "support/check/oracle.h"

/* Runs the variants of `names` on all cases, for both value types, both offset types,
   integer and real values, in chunks of 1 row, of a prime number of rows, and as large as
   possible. Results are compared with the oracle, bit for bit if the values are integers.
   SpMV variants may refuse matrices without blocks, and more than one column.

   Prints failures and returns their number. Adds the number of products to *checked. */
int variants_check(hybrid_engine *engine, const char *const *names, int64_t *checked);

/* Works as variants_check() with pinned operands: the arrays of A and B, X and Y. X and
   Y have no gaps, alpha is 1 and beta 0. */
int variants_check_pinned(hybrid_engine *engine, const char *const *names,
                          int64_t *checked);
/* Works as variants_check() for the SpMM variants in f32 with HYBRID_ALLOW_TF32; results
   are compared with the error bound of TF32. Adds to *rounded the products that exceed
   the error bound of f32, which shows that the flag has an effect. */
int variants_check_tf32(hybrid_engine *engine, const char *const *names, int64_t *checked,
                        int64_t *rounded);
/* Works as variants_check() for SpMM, with plans that give about half of the work to the
   host. Adds to *shared the products of which host and device both computed a part. A
   product of one chunk is computed by one of them. */
int variants_check_shared(hybrid_engine *engine, const char *const *names,
                          int64_t *checked, int64_t *shared);

/* Checks one product A*B or A*X of a case; `product` is the oracle's A*B. The random
   number `dice` selects chunk size, width, order, pinning and sharing. `rounded` is the
   counter of variants_check_tf32(), or NULL. Returns the number of failures. */
int variants_check_one(hybrid_engine *engine, const char *name, const test_case *c,
                       test_kind kind, const oracle *product, uint64_t dice,
                       int64_t *checked, int64_t *rounded);

/* Stores the names of all compiled variants of a backend, such as "cuda" (the second
   part of their names), followed by NULL. At most `room` pointers, including the NULL,
   are stored. Returns the number of names. */
int variants_of(const char *backend, const char **names, int room);

/* Returns how many of `names`, a list that NULL ends, begin with `begin`. */
int variants_named(const char *const *names, const char *begin);

#endif /* VARIANTS_H */
