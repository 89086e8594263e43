/* tests/support/products/usage_runs.h - runs on a fake device whose use is looked at.
   Failures abort the test. */
#ifndef USAGE_RUNS_H
#define USAGE_RUNS_H

#include "support/engines/world.h"

/* A world (world.h) on a fake device without delays and without a cap. */
void usage_open(world *w, const hy_variant *spmm, int64_t width);

/* A run of a plan, or of one made for it; its report is checked. */
hybrid_report usage_run_plan(world *w, hybrid_plan *plan, double beta);
hybrid_report usage_run(world *w, int64_t chunk_rows, hybrid_split split, double share,
                        double beta);

#endif /* USAGE_RUNS_H */
