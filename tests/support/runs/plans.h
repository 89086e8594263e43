/* tests/support/runs/plans.h - SpMM plans for a named variant. */
#ifndef PLANS_H
#define PLANS_H

#include "support/inputs/cases.h"

/* Value and offset types and the kind of values: whole numbers, or real numbers. */
enum { PLAN_KINDS = 2 };

extern const test_kind plan_kinds[PLAN_KINDS];

/* Returns a prime number of rows for each chunk, so that chunks end anywhere in cache
   lines. It is so large that a matrix has at most some hundred chunks. */
int64_t plan_prime_rows(const hybrid_csr *A);

/* Plans A*X, with `cols` columns of X, and options->variant. Returns NULL or a
   description of the error. *plan is NULL after an error, and also if an SpMV variant
   refuses the matrix, which is no error. */
const char *plan_spmm(hybrid_engine *engine, const hybrid_csr *A, int64_t cols,
                      const hybrid_plan_options *options, hybrid_plan **plan);

#endif /* PLANS_H */
