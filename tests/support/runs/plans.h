/* tests/support/runs/plans.h - plans of SpMM by name, for checks of every case. */
#ifndef PLANS_H
#define PLANS_H

#include "support/inputs/cases.h"

/* Whole numbers, and others. */
enum { PLAN_KINDS = 2 };

extern const test_kind plan_kinds[PLAN_KINDS];

/* Rows a chunk: a prime number, so that chunks end where they like, but no thousands of
   chunks of one matrix. */
int64_t plan_prime_rows(const hybrid_csr *A);

/* A*X by options->variant. Returns what went wrong, or NULL; *plan is NULL too where a
   variant of SpMV refuses, as it may. */
const char *plan_spmm(hybrid_engine *engine, const hybrid_csr *A, int64_t cols,
                      const hybrid_plan_options *options, hybrid_plan **plan);

#endif /* PLANS_H */
