/* tests/support/runs/plans.h - SpMM plans for a named variant. */
#ifndef PLANS_H
#define PLANS_H

#include "support/inputs/cases.h"

/* Kinds of values: whole numbers, and real numbers. */
enum { PLAN_KINDS = 2 };

extern const test_kind plan_kinds[PLAN_KINDS];

/* Returns a prime number of rows per chunk: chunks end anywhere in cache lines, but a
   matrix has at most some hundred chunks. */
int64_t plan_prime_rows(const hybrid_csr *A);

/* Plans A*X with options->variant. Returns NULL or a description of the error. *plan is
   also NULL if an SpMV variant refuses the matrix, which is not an error. */
const char *plan_spmm(hybrid_engine *engine, const hybrid_csr *A, int64_t cols,
                      const hybrid_plan_options *options, hybrid_plan **plan);

#endif /* PLANS_H */
