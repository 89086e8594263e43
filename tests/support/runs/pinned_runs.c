/* tests/support/runs/pinned_runs.c - runs of one plan, with X and Y pinned or not. */
#include "support/runs/pinned_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/check/constant.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/engines/places.h"

void runs_open(world *w, const hy_variant *spmm, size_t device_bytes)
{
    world_open(w, &hy_fault_backend_ops, spmm, device_bytes, WIDTH);
}

void runs_slow_down(world *w)
{
    w->engine->device->measured.d2h_Bps = 1e8;
    w->engine->host->measured.mem_Bps   = 1.8e8;
}

hybrid_plan *runs_plan(world *w, unsigned flags, hybrid_split split, double share)
{
    return world_plan(w, CHUNK_ROWS, flags, split, share);
}

hybrid_report run_with(world *w, hybrid_plan *plan, const hybrid_csr *given, double beta)
{
    const plan_copy before = plan_remember(plan);
    hybrid_report r;

    w->runs++;
    for (int64_t k = 0; k < w->X.rows * w->X.cols; k++)
        value_set(w->X.data, HYBRID_F64, k, test_number(w->runs, k, 1));
    memcpy(w->Y.data, w->before.data, world_bytes(&w->Y));
    assert_int_equal(hybrid_spmm_run(plan, 1, given, &w->X, beta, &w->Y), HYBRID_OK);
    assert_null(oracle_check_spmm(1, &w->A, &w->X, beta, &w->before, &w->Y, 1));
    plan_is_unchanged(plan, before);
    r = report_of(plan);
    assert_in_range(r.h2d_bytes, 0, r.predicted_h2d_bytes);
    assert_true(r.host_chunks == 0 || r.resident_chunks < r.chunks);
    return r;
}

hybrid_report run_once(world *w, hybrid_plan *plan, double beta)
{
    return run_with(w, plan, &w->A, beta);
}

hybrid_csr runs_without_arrays(const hybrid_csr *A)
{
    static int64_t nothing[1] = {-1};
    hybrid_csr bare           = *A;

    bare.row_ptr = bare.val = nothing;
    bare.col                = (void *)nothing;
    return bare;
}

void runs_share(hybrid_plan *plan, double share)
{
    plan->portions[plan->count].taking.share = share;
}
