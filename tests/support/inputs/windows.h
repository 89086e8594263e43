/* tests/support/inputs/windows.h - products of banded matrices while X passes through the
 * device.
 */
#ifndef WINDOWS_H
#define WINDOWS_H

#include "tests/support/runs/budgets.h"

/* Banded matrices, and some that seem to be, times X under budgets from "everything fits"
   down to none: right, within the budget, X and A sent once where X passes through in a
   window, and only then. Of `names` those of SpMM are tried; `windowed` counts the plans
   that had a window. Failures are printed; returns their number. */
int windows_check(budget_open open, const char *const *names, int64_t *checked,
                  int64_t *windowed);

#endif /* WINDOWS_H */
