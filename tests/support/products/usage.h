/* tests/support/products/usage.h - recomputes the resource use in a report. */
#ifndef USAGE_H
#define USAGE_H

#include "hybrid_spmm.h"

/* Checks the report of a finished run: no utilisation exceeds 1, each follows from bytes
   and rate, and the other fields follow from these. Returns NULL or a description of the
   error. */
const char *usage_check(const hybrid_report *report);

#endif /* USAGE_H */
