/* tests/support/pinned_runs.c - runs of one plan with X and Y pinned, and others. */
#include "support/pinned_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/fake_backend.h"
#include "support/oracle.h"
#include "support/places.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spmm_host_rows;

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

void runs_open(runs_world *w, const hy_variant *spmm, size_t device_bytes)
{
    static const hy_backend_ops *const places[] = {&hy_fault_backend_ops,
                                                   &hy_host_backend_ops, NULL};
    static const hy_variant *table[3];
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    table[0]             = spmm;
    table[1]             = &hy_spmm_host_rows;
    options.threads      = 3;
    options.device_bytes = device_bytes;
    assert_int_equal(hy_engine_open(&options, places, table, &w->engine), HYBRID_OK);
    matrix_random(ROWS, COLS, EACH, 1, f64, &w->A);
    dense_make(COLS, WIDTH, 0, HYBRID_ROW_MAJOR, 2, f64, &w->X);
    dense_make(ROWS, WIDTH, 0, HYBRID_ROW_MAJOR, 3, f64, &w->Y);
    dense_copy(&w->Y, &w->before);
    w->runs = 0;
}

void runs_close(runs_world *w)
{
    hybrid_engine_destroy(w->engine);
    matrix_free(&w->A);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->before);
    assert_int_equal(fake_alive(), 0);
}

void runs_slow_down(runs_world *w)
{
    w->engine->device->measured.d2h_Bps = 1e8;
    w->engine->host->measured.mem_Bps   = 1.8e8;
}

void runs_pin(runs_world *w, int which, int on)
{
    const hybrid_dense *m[] = {&w->X, &w->Y};

    for (int i = 0; i < 2; i++)
        if (which >> i & 1)
            assert_int_equal(
                on ? hybrid_pin(w->engine, m[i]->data, (size_t)(m[i]->rows * WIDTH) * 8)
                   : hybrid_unpin(w->engine, m[i]->data),
                HYBRID_OK);
}

hybrid_plan *runs_plan(runs_world *w, unsigned flags, hybrid_split split, double share)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.flags      = flags;
    options.chunk_rows = CHUNK_ROWS;
    options.split      = split;
    options.host_share = share;
    assert_int_equal(hybrid_spmm_plan(w->engine, &w->A, WIDTH, &options, &plan),
                     HYBRID_OK);
    return plan;
}

hybrid_report run_with(runs_world *w, hybrid_plan *plan, const hybrid_csr *given,
                       double beta)
{
    hybrid_report r;

    w->runs++;
    for (int64_t k = 0; k < COLS * WIDTH; k++)
        value_set(w->X.data, HYBRID_F64, k, test_number(w->runs, k, 1));
    memcpy(w->Y.data, w->before.data, (size_t)(ROWS * WIDTH) * 8);
    assert_int_equal(hybrid_spmm_run(plan, 1, given, &w->X, beta, &w->Y), HYBRID_OK);
    assert_null(oracle_check_spmm(1, &w->A, &w->X, beta, &w->before, &w->Y, 1));
    r = report_of(plan);
    assert_in_range(r.h2d_bytes, 0, r.predicted_h2d_bytes);
    assert_true(r.host_chunks == 0 || r.resident_chunks < r.chunks);
    return r;
}

hybrid_report run_once(runs_world *w, hybrid_plan *plan, double beta)
{
    return run_with(w, plan, &w->A, beta);
}

void runs_turn_signs(runs_world *w)
{
    for (int64_t k = 0; k < w->A.nnz; k++)
        value_set(w->A.val, HYBRID_F64, k, -value_at(w->A.val, HYBRID_F64, k));
}

hybrid_csr runs_hollow(const hybrid_csr *A)
{
    static int64_t nothing[1] = {-1};
    hybrid_csr hollow         = *A;

    hollow.row_ptr = hollow.val = nothing;
    hollow.col                  = (void *)nothing;
    return hollow;
}

void runs_share(hybrid_plan *plan, double share)
{
    for (int kind = 0; kind < HY_RUN_KINDS; kind++)
        plan->split.of[kind].sharing.share = share;
}
