/* tests/support/runs/pinned_column_blocks.h - plans that run in panels when X and Y are pinned.
   */
#ifndef PINNED_PANELS_H
#define PINNED_PANELS_H

#include "hybrid_spmm.h"

/* Each of the named variants of SpMM over all cases, several widths and numbers of panels,
   with and without HYBRID_RESIDENT: one plan runs with X and Y pinned, in ordinary memory,
   with a beta, pinned again, rows of both with gaps and without, Y anywhere within a line
   of the caches. Right, in panels when pinned and whole when not, Y then stored by no
   worker, and what is sent as predicted. Failures are printed; returns how many there
   were. *checked counts runs in panels. */
int pinned_panels_check(hybrid_engine *engine, const char *const *names,
                        int64_t *checked);

#endif /* PINNED_PANELS_H */
