/* tests/support/products/usage_runs.h - runs on a fake device with a checked resource
   use.

   A failure aborts the test. */
#ifndef USAGE_RUNS_H
#define USAGE_RUNS_H

#include "support/engines/world.h"

/* Opens a world (world.h) on a fake device without delays and without a cap. */
void usage_open(world *w, const hy_variant *spmm, int64_t width);

/* usage_run_plan() runs the plan; usage_run() makes a plan and runs it. Both check the
   report with usage_check() and return it. */
hybrid_report usage_run_plan(world *w, hybrid_plan *plan, double beta);
hybrid_report usage_run(world *w, int64_t chunk_rows, hybrid_split split, double share,
                        double beta);

#endif /* USAGE_RUNS_H */
