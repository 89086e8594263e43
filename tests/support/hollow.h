/* tests/support/hollow.h - products of matrices of which many rows and columns are empty.
 */
#ifndef HOLLOW_H
#define HOLLOW_H

#include "tests/support/budgets.h"
#include "tests/support/cases.h"

/* Matrices whose rows and columns are empty in many ways. */
int hollow_shapes(void);
void hollow_make(int shape, test_kind kind, hybrid_csr *out);

/* They times X of both orders, into Y of both, under budgets from "everything fits" down:
   right, what belongs to empty rows and columns neither read nor sent, and gaps left
   alone. Of `names` those of SpMM are tried. Failures are printed; returns their number. */
int hollow_check(budget_open open, const char *const *names, int64_t *checked);

#endif /* HOLLOW_H */
