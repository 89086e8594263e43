/* tests/support/products/usage.h - what a report says that a run used, computed anew. */
#ifndef USAGE_H
#define USAGE_H

#include "hybrid_spmm.h"

/* Of a run that is over: no use exceeds 1, each is what its bytes and its rate make, and
   the rest follows from these. NULL, or what is wrong. */
const char *usage_check(const hybrid_report *report);

#endif /* USAGE_H */
