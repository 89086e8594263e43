/* tests/support/runs/resident.h - plans made with HYBRID_RESIDENT, which run again. */
#ifndef RESIDENT_H
#define RESIDENT_H

#include "support/runs/budgets.h"

/* Each of the named variants of SpMM over all cases, several widths and chunkings: other
   X in every run, A's arrays away, A's values changed without and with a refresh.
   Failures are printed; returns how many there were. *checked counts plans. */
int resident_check(hybrid_engine *engine, const char *const *names, int64_t *checked);

/* A*X, A of so many rows and columns, run twice, under budgets from 256 MiB down to one
   that is refused: right, within the budget, planned where it is planned without the flag,
   and what is resident is not sent again. Returns the number of failures. */
int resident_budgets(budget_open open, int64_t rows);

#endif /* RESIDENT_H */
