/* tests/support/runs/budgets.h - products under budgets from "everything fits" down to
   none. */
#ifndef BUDGETS_H
#define BUDGETS_H

#include "hybrid_spmm.h"

/* An engine with that much device memory. */
typedef hybrid_status (*budget_open)(size_t device_bytes, hybrid_engine **engine);

/* A*A and A*X under every power of two from 256 MiB down to 256 bytes: right, never more
   on the device than the budget, and where a row does not fit refused with the bytes that
   it needs; what a budget refuses, no smaller one may pass. Failures are printed; returns
   their number. */
int budgets_check(budget_open open);

#endif /* BUDGETS_H */
