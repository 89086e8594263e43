/* tests/support/products/usage_runs.c - runs on a fake device with a checked resource
   use. */
#include "support/products/usage_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/fake/fake_backend.h"
#include "support/products/usage.h"
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

hybrid_report usage_square(hybrid_engine *engine, const hybrid_csr *A, int64_t *nnz)
{
    hybrid_report r = HYBRID_REPORT_INIT;
    hybrid_csr C;

    assert_int_equal(hybrid_spgemm(engine, A, A, &C), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(engine, &r), HYBRID_OK);
    assert_null(usage_check(&r));
    *nnz = C.nnz;
    hybrid_csr_free(engine, &C);
    return r;
}

void usage_set_rates(hybrid_engine *engine, double rate)
{
    const hy_measured measured = {.h2d_Bps = rate, .d2h_Bps = rate, .mem_Bps = rate};

    engine->host->measured = measured;
    if (engine->device)
        engine->device->measured = measured;
}
