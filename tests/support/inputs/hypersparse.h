/* tests/support/inputs/hypersparse.h - SpMM with matrices that have many empty rows and
   columns. */
#ifndef HYPERSPARSE_H
#define HYPERSPARSE_H

#include "tests/support/runs/budgets.h"
#include "tests/support/inputs/cases.h"

/* hypersparse_make() makes matrix number `shape`, which must be 0 to
   hypersparse_shapes() - 1. The matrices differ in which rows and columns are empty. */
int hypersparse_shapes(void);
void hypersparse_make(int shape, test_kind kind, hybrid_csr *out);

/* Multiplies the matrices by X for the SpMM variants of `names`, with both orders of X
   and Y, under caps on device memory that decrease from one that holds everything. Checks
   that results are right, that elements of empty rows and columns are neither read nor
   copied, and that gaps are not written. Prints failures and returns their number; adds
   the number of plans to *checked. */
int hypersparse_check(budget_open open, const char *const *names, int64_t *checked);

#endif /* HYPERSPARSE_H */
