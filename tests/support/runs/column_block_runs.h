/* tests/support/runs/column_block_runs.h - products with X on the device in panels of columns. */
#ifndef PANELS_H
#define PANELS_H

#include "hybrid_spmm.h"

/* NULL, or what is wrong with the panels of a plan that was run with Y: they are all of X,
   none is wider than was planned, and all but the first begin where lines of Y do, if they
   can. */
const char *panels_misplaced(const hybrid_plan *plan, const hybrid_dense *Y);

/* Bytes that a run may send: those predicted, and with several devices what one takes of a
   resident A that another has, and what is added to packs that are cut elsewhere. */
int64_t panels_most_up(const hybrid_engine *engine, const hybrid_report *r);

/* Each of the named variants of SpMM over all cases, several widths, numbers of panels and
   chunkings, with and without HYBRID_RESIDENT, X and Y in both orders, Y anywhere within a
   line of the caches and with rows of whole lines and not: right, and A and X
   sent once. Failures are printed; returns how many there were. *checked counts plans, of
   which those of variants with X in columns have no panels. */
int panels_check(hybrid_engine *engine, const char *const *names, int64_t *checked);

#endif /* PANELS_H */
