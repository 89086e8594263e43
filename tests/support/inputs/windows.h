/* tests/support/inputs/windows.h - products of banded matrices with X in a ring of
   rows. */
#ifndef WINDOWS_H
#define WINDOWS_H

#include "tests/support/runs/budgets.h"

/* Multiplies banded matrices, and some that are almost banded, by X for the SpMM
   variants of `names`. Device memory is capped, at first so that everything fits, then
   at less and less. Checks that results are right, that caps are kept, and that X and A
   are sent once if X is in a ring of rows. Only banded matrices may have such a ring.
   Prints failures and returns their number; adds the plans to *checked, and those with a
   ring to *windowed. */
int windows_check(budget_open open, const char *const *names, int64_t *checked,
                  int64_t *windowed);

#endif /* WINDOWS_H */
