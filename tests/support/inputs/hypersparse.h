/* tests/support/inputs/hypersparse.h - products of matrices of which many rows and
   columns are empty. */
#ifndef HYPERSPARSE_H
#define HYPERSPARSE_H

#include "tests/support/runs/budgets.h"
#include "tests/support/inputs/cases.h"

/* Matrices whose rows and columns are empty in many ways. */
int hypersparse_shapes(void);
void hypersparse_make(int shape, test_kind kind, hybrid_csr *out);

/* They times X of both orders, into Y of both, under budgets from "everything fits" down:
   right, what belongs to empty rows and columns neither read nor sent, and gaps left
   alone. Of `names` those of SpMM are tried. Failures are printed; returns their number. */
int hypersparse_check(budget_open open, const char *const *names, int64_t *checked);

#endif /* HYPERSPARSE_H */
