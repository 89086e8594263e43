/* tests/support/runs/resident.h - repeated runs of plans with HYBRID_RESIDENT. */
#ifndef RESIDENT_H
#define RESIDENT_H

#include "support/runs/budgets.h"

/* Runs the SpMM variants of `names` on all cases, with several widths and chunk sizes.
   Runs have different X, invalid arrays of A, and changed values of A without and with
   hybrid_plan_refresh(). Prints failures and returns their number; adds the number of
   plans to *checked. */
int resident_check(hybrid_engine *engine, const char *const *names, int64_t *checked);

/* Runs A*X twice with budgets that decrease from 256 MiB to one that is refused. A is a
   `rows` x `rows` matrix. Checks results and budgets, that a plan is possible wherever it
   is without the flag, and that cached rows of A are not sent again. Returns the number
   of failures. */
int resident_budgets(budget_open open, int64_t rows);

#endif /* RESIDENT_H */
