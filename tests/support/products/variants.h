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

/* Works as variants_check() with pinned X, Y and arrays of A and B. X and Y have no gaps,
   alpha is 1 and beta 0. */
int variants_check_pinned(hybrid_engine *engine, const char *const *names,
                          int64_t *checked);
/* Works as variants_check() for SpMM variants in f32 under HYBRID_ALLOW_TF32, with its
   error bound. Adds to *rounded the products that exceed the error bound of f32, which
   shows that the flag has an effect. */
int variants_check_tf32(hybrid_engine *engine, const char *const *names, int64_t *checked,
                        int64_t *rounded);
/* Works as variants_check() with about half of every SpMM on the host. Adds to *shared
   the products that host and device computed together. A product with a single chunk is
   computed by one of them. */
int variants_check_shared(hybrid_engine *engine, const char *const *names,
                          int64_t *checked, int64_t *shared);

/* Checks one product A*B or A*X of a case; `product` is the oracle's A*B. `dice` is a
   random number that selects chunks, width, order, pinning and sharing. `rounded` is as
   in variants_check_tf32(), or NULL. */
int variants_check_one(hybrid_engine *engine, const char *name, const test_case *c,
                       test_kind kind, const oracle *product, uint64_t dice,
                       int64_t *checked, int64_t *rounded);

/* Stores the names of the compiled variants with `backend` as their second part, ended by
   NULL; at most `room` pointers including the NULL. Returns their number. */
int variants_of(const char *backend, const char **names, int room);

/* Returns how many of `names` begin with `begin`. */
int variants_named(const char *const *names, const char *begin);

#endif /* VARIANTS_H */
