/* tests/support/panels.h - products with X on the device in panels of columns. */
#ifndef PANELS_H
#define PANELS_H

#include "hybrid_spmm.h"

/* Each of the named variants of SpMM over all cases, several widths, numbers of panels and
   chunkings, with and without HYBRID_RESIDENT, X and Y in both orders: right, and A and X
   sent once. Failures are printed; returns how many there were. *checked counts plans, of
   which those of variants with X in columns have no panels. */
int panels_check(hybrid_engine *engine, const char *const *names, int64_t *checked);

#endif /* PANELS_H */
