/* tests/support/runs/budgets.h - products with decreasing budgets of device memory. */
#ifndef BUDGETS_H
#define BUDGETS_H

#include "hybrid_spmm.h"

/* Opens an engine with at most device_bytes of device memory. */
typedef hybrid_status (*budget_open)(size_t device_bytes, hybrid_engine **engine);

/* Computes A*A and A*X with every power of two from 256 MiB down to 256 bytes as cap on
   device memory. Checks that results are right and that the device never holds more.
   Where a row does not fit, the product must be refused with a message that begins with
   "row ", and with every smaller cap, too. At least eight caps must be enough, and one
   too small. Prints failures and returns their number. */
int budgets_check(budget_open open);

#endif /* BUDGETS_H */
