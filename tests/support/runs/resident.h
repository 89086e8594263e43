/* tests/support/runs/resident.h - repeated runs of plans with HYBRID_RESIDENT. */
#ifndef RESIDENT_H
#define RESIDENT_H

#include "support/runs/budgets.h"

/* Runs the SpMM variants of `names` on all cases with HYBRID_RESIDENT, with several
   widths and chunk sizes. Each run has another X; later runs have invalid arrays of A, or
   changed values of A before and after hybrid_plan_refresh(). Every result must be that
   of the values that A had in the first run or at the last refresh. Later runs must send
   no more than X. Prints failures and returns their number; adds the number of plans to
   *checked. */
int resident_check(hybrid_engine *engine, const char *const *names, int64_t *checked);

/* Runs A*X twice with HYBRID_RESIDENT, with caps on device memory that decrease from 256
   MiB to 256 bytes. A is a `rows` x `rows` matrix. Checks results and caps, that a plan
   is possible wherever it is without the flag, and that A is not sent again if all of it
   is cached. Caps must occur with which all of A, a part, or nothing is cached, and a cap
   with which no plan is possible. Returns the number of failures. */
int resident_budgets(budget_open open, int64_t rows);

#endif /* RESIDENT_H */
