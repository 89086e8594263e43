/* tests/support/runs/pinned_runs.h - runs of one plan with X and Y pinned, and others, on
   a fake device whose calls can be made to fail, and the host. Failures abort the test.
   */
#ifndef PINNED_RUNS_H
#define PINNED_RUNS_H

#include "support/engines/world.h"

enum { CHUNK_ROWS = 60, CHUNKS = 15, WIDTH = 20 };

/* With this variant on a device whose calls can be made to fail. */
void runs_open(world *w, const hy_variant *spmm, size_t device_bytes);

/* Y comes down so slowly that the host has time for its part, but no time for it where it
   stores all of Y as well. */
void runs_slow_down(world *w);

hybrid_plan *runs_plan(world *w, unsigned flags, hybrid_split split, double share);

/* The plan was made for some share of the host; from now on it is this one. */
void runs_share(hybrid_plan *plan, double share);

/* With A, or the arrays that are `given`, another X in each run. The result is to be that
   of A, the plan as it was, and the report true. */
hybrid_report run_once(world *w, hybrid_plan *plan, double beta);
hybrid_report run_with(world *w, hybrid_plan *plan, const hybrid_csr *given,
                       double beta);

/* A's shape, and nothing where its arrays are. */
hybrid_csr runs_hollow(const hybrid_csr *A);

#endif /* PINNED_RUNS_H */
