/* tests/support/products/usage_runs.c - runs on a fake device with a checked resource
   use. */
#include "support/products/usage_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/fake/fake_backend.h"
#include "support/engines/places.h"

void usage_open(world *w, const hy_variant *spmm, int64_t width)
{
    fake_delays(1, 0);
    world_open(w, &hy_fake_backend_ops, spmm, 0, width);
}

hybrid_report usage_run_plan(world *w, hybrid_plan *plan, double beta)
{
    assert_int_equal(hybrid_spmm_run(plan, 1, &w->A, &w->X, beta, &w->Y), HYBRID_OK);
    return report_of(plan);
}

hybrid_report usage_run(world *w, int64_t chunk_rows, hybrid_split split, double share,
                        double beta)
{
    hybrid_plan *plan = world_plan(w, chunk_rows, 0, split, share);

    const hybrid_report r = usage_run_plan(w, plan, beta);
    hybrid_plan_destroy(plan);
    return r;
}
