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

/* Computes A*A in a one-shot call, checks the report with usage_check() and returns it.
   Sets *nnz to the number of entries of the result. */
hybrid_report usage_square(hybrid_engine *engine, const hybrid_csr *A, int64_t *nnz);

/* Sets the rates of bus and memory, of device and host, as if measured; 0: the built-in
   rates. */
void usage_set_rates(hybrid_engine *engine, double rate);

/* Returns the bytes of rows of a CSR matrix with 64-bit offsets and f64 values, without
   the last offset. */
static inline int64_t usage_csr_rows(int64_t rows, int64_t nnz)
{
    return rows * 8 + nnz * 12;
}

#endif /* USAGE_RUNS_H */
