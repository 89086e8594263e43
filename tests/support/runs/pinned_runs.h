/* tests/support/runs/pinned_runs.h - runs of one plan, with X and Y pinned or not.

   They use a fake device with calls that can fail, and the host. A failure aborts the
   test. */
#ifndef PINNED_RUNS_H
#define PINNED_RUNS_H

#include "support/engines/world.h"

enum { CHUNK_ROWS = 60, CHUNKS = 15, WIDTH = 20 };

/* Opens a world (world.h: engine, A, X and Y) with the variant `spmm` on the device.
   `device_bytes` caps its memory; 0: no cap. */
void runs_open(world *w, const hy_variant *spmm, size_t device_bytes);

/* Sets the engine's rates so that copies of Y from the device seem slow: by its
   estimates, the host has time for its share, but not if it also stores all of Y. */
void runs_slow_down(world *w);

hybrid_plan *runs_plan(world *w, unsigned flags, hybrid_split split, double share);

/* Sets the share of the work, 0 to 1, that the host gets in later runs of a plan that
   device and host share. */
void runs_share(hybrid_plan *plan, double share);

/* Run the plan with A, or with the arrays of `given`, with a new X and the old Y. Check
   that the result is that of A, that the plan did not change, and that the report is
   right. Return the report. */
hybrid_report run_once(world *w, hybrid_plan *plan, double beta);
hybrid_report run_with(world *w, hybrid_plan *plan, const hybrid_csr *given,
                       double beta);

/* Returns a matrix with A's shape and invalid arrays, for runs that must not read A. */
hybrid_csr runs_without_arrays(const hybrid_csr *A);

#endif /* PINNED_RUNS_H */
