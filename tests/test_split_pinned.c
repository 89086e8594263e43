/* tests/test_split_pinned.c - runs of one plan with X and Y pinned, which the host takes
   part in, and others; and with an A that stays on a fake device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/plan.h"
#include "support/cases.h"
#include "support/fake_backend.h"
#include "support/oracle.h"
#include "support/places.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spmm_host_rows;

enum { ROWS = 900, COLS = 800, EACH = 7, CHUNK_ROWS = 60, CHUNKS = 15, WIDTH = 20 };
enum { NONE = 0, X_PINNED = 1, Y_PINNED = 2, BOTH = 3 };

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

/* ---- one product --------------------------------------------------------------------
 */

typedef struct world {
    hybrid_engine *engine;
    hybrid_csr A;
    hybrid_dense X, Y, before;
    unsigned runs;
} world;

static void open_world(world *w, const hy_variant *spmm, size_t device_bytes)
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

static void close_world(world *w)
{
    hybrid_engine_destroy(w->engine);
    matrix_free(&w->A);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->before);
    assert_int_equal(fake_alive(), 0);
}

/* Y comes down so slowly that the host has time for its part, but no time for it where it
   stores all of Y as well. */
static void slow_down(world *w)
{
    w->engine->device->measured.d2h_Bps = 1e8;
    w->engine->host->measured.mem_Bps   = 1.8e8;
}

static void pin(world *w, int which, int on)
{
    const hybrid_dense *m[] = {&w->X, &w->Y};

    for (int i = 0; i < 2; i++)
        if (which >> i & 1)
            assert_int_equal(
                on ? hybrid_pin(w->engine, m[i]->data, (size_t)(m[i]->rows * WIDTH) * 8)
                   : hybrid_unpin(w->engine, m[i]->data),
                HYBRID_OK);
}

static hybrid_plan *plan_for(world *w, unsigned flags, hybrid_split split, double share)
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

/* With the arrays that are `given`, another X in each run; the result is to be that of
   the world's A. */
static hybrid_report run_with(world *w, hybrid_plan *plan, const hybrid_csr *given,
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

static hybrid_report run(world *w, hybrid_plan *plan, double beta)
{
    return run_with(w, plan, &w->A, beta);
}

static void turn_signs(world *w)
{
    for (int64_t k = 0; k < w->A.nnz; k++)
        value_set(w->A.val, HYBRID_F64, k, -value_at(w->A.val, HYBRID_F64, k));
}

/* A's shape, and nothing where its arrays are. */
static hybrid_csr hollow_of(const hybrid_csr *A)
{
    static int64_t nothing[1] = {-1};
    hybrid_csr hollow         = *A;

    hollow.row_ptr = hollow.val = nothing;
    hollow.col                  = (void *)nothing;
    return hollow;
}

static void share_from_now_on(hybrid_plan *plan, double share)
{
    for (int kind = 0; kind < HY_RUN_KINDS; kind++)
        plan->split.of[kind].sharing.share = share;
}

/* ---- which runs ---------------------------------------------------------------------
 */

/* Runs with one or both pinned or none, and with a beta: the host takes part in those
   that it is to take part in. */
static void check_runs(world *w, hybrid_plan *plan, int in_pinned, int in_others)
{
    static const int pinned[]  = {NONE, BOTH, X_PINNED, Y_PINNED, BOTH, NONE};
    static const double beta[] = {0, 0, 0, 3, 3, 3};

    for (int i = 0; i < 6; i++) {
        pin(w, pinned[i], 1);
        const hybrid_report r = run(w, plan, beta[i]);
        assert_int_equal(r.host_chunks > 0, pinned[i] == BOTH ? in_pinned : in_others);
        pin(w, pinned[i], 0);
    }
}

static void assert_explained(const hybrid_plan *plan, const char *words)
{
    char text[4096];

    hybrid_plan_explain(plan, text, sizeof text);
    assert_non_null(strstr(text, words));
}

static void the_default_shares_runs_with_both_pinned(void **state)
{
    world w;

    (void)state;
    fake_delays(1, 50);
    open_world(&w, &hy_spmm_fake_rows, 0);
    slow_down(&w);
    hybrid_plan *plan = plan_for(&w, 0, HYBRID_SPLIT_DEFAULT, 0);
    check_runs(&w, plan, 1, 0);
    assert_explained(plan, "if X and Y are pinned, else the device alone: workers load");
    hybrid_plan_destroy(plan);
    close_world(&w);
}

static void each_kind_of_run_has_its_prediction(void **state)
{
    world w;

    (void)state;
    fake_delays(1, 50);
    open_world(&w, &hy_spmm_fake_rows, 0);
    slow_down(&w);
    hybrid_plan *plan = plan_for(&w, 0, HYBRID_SPLIT_AUTO, 0);
    check_runs(&w, plan, 1, 0);
    assert_explained(plan,
                     "pinned, else the device alone: the host would gain too little");
    hybrid_plan_destroy(plan);
    w.engine->host->measured.mem_Bps = 1e9; /* workers have time for both */
    plan                             = plan_for(&w, 0, HYBRID_SPLIT_AUTO, 0);
    check_runs(&w, plan, 1, 1);
    assert_true(plan->split.of[HY_RUNS_PAGEABLE].share <
                plan->split.of[HY_RUNS_PINNED].share);
    hybrid_plan_destroy(plan);
    plan = plan_for(&w, 0, HYBRID_SPLIT_SHARE, 0.5);
    check_runs(&w, plan, 1, 1);
    hybrid_plan_destroy(plan);
    close_world(&w);
}

static void check_alone(world *w, unsigned flags, hybrid_split split, const char *why)
{
    hybrid_plan *plan = plan_for(w, flags, split, 0);

    assert_explained(plan, why);
    check_runs(w, plan, 0, 0);
    hybrid_plan_destroy(plan);
}

static void the_device_is_alone_where_it_must_be(void **state)
{
    world w;

    (void)state;
    fake_delays(1, 0);
    open_world(&w, &hy_spmm_fake_rows, 0);
    check_alone(&w, 0, HYBRID_SPLIT_DEFAULT, "the host would gain too little");
    slow_down(&w);
    check_alone(&w, 0, HYBRID_SPLIT_GPU, "the device alone: as asked for");
    check_alone(&w, HYBRID_DETERMINISTIC, HYBRID_SPLIT_DEFAULT, "bits of a dense result");
    w.engine->pinned_panels = 2;
    check_alone(&w, 0, HYBRID_SPLIT_DEFAULT, "X comes in panels if X and Y are pinned");
    close_world(&w);
    open_world(&w, &hy_spmm_fake_tiled, 0); /* rows are made columns by workers */
    slow_down(&w);
    check_alone(&w, 0, HYBRID_SPLIT_DEFAULT, "workers load X and store Y");
    close_world(&w);
}

/* ---- A that stays -------------------------------------------------------------------
 */

static void shares_of_a_resident_plan_are_kept(void **state)
{
    static const double shares[] = {0, 0.3, 0.7, 1};
    world w;

    (void)state;
    for (unsigned seed = 1; seed < 9; seed++) {
        const double share = shares[seed % 4];
        fake_delays(seed, 100);
        open_world(&w, &hy_spmm_fake_rows, 0);
        pin(&w, seed % 4, 1);
        hybrid_plan *plan = plan_for(&w, HYBRID_RESIDENT, HYBRID_SPLIT_SHARE, share);
        assert_int_equal(report_of(plan).resident_chunks, 0);
        for (int i = 0; i < 6; i++) {
            const hybrid_report r = run(&w, plan, i % 2 ? 3 : 0);
            const int64_t x       = COLS * WIDTH * 8;
            assert_int_equal(r.host_chunks > 0, share > 0);
            assert_in_range(r.host_products,
                            (int64_t)((share - 0.1) * (double)r.flops / 2) * (share > 0),
                            (int64_t)((share + 0.1) * (double)r.flops / 2));
            assert_int_equal(r.resident_chunks, hy_plan_resident_chunks(plan));
            assert_in_range(r.resident_chunks + (int64_t)(share * CHUNKS), CHUNKS - 1,
                            CHUNKS + 1);
            assert_true(i % 3 == 0 || r.h2d_bytes <= x); /* what is there is not sent */
            if (i % 3 == 2) {
                turn_signs(&w);
                hybrid_plan_refresh(plan);
                assert_int_equal(hy_plan_there_bytes(plan), 0);
            }
        }
        hybrid_plan_destroy(plan);
        pin(&w, seed % 4, 0);
        close_world(&w);
    }
}

/* What the host had is packed and sent when the device takes it. Once all of A is there,
   it may be gone. */
static void what_the_host_had_comes_when_the_device_takes_it(void **state)
{
    static const double shares[] = {1, 0.7, 0.7, 0.3, 0.5, 0};
    int64_t there                = 0;
    world w;

    (void)state;
    fake_delays(3, 100);
    open_world(&w, &hy_spmm_fake_rows, 0);
    const hybrid_csr hollow = hollow_of(&w.A);
    hybrid_plan *plan       = plan_for(&w, HYBRID_RESIDENT, HYBRID_SPLIT_SHARE, 0.5);
    for (int i = 0; i < 6; i++) {
        share_from_now_on(plan, shares[i]);
        const hybrid_report r = run(&w, plan, 0);
        assert_in_range(r.resident_chunks, there, CHUNKS);
        assert_int_equal(r.prepare_s > 0, r.resident_chunks > there);
        there = r.resident_chunks;
    }
    assert_int_equal(there, CHUNKS);
    share_from_now_on(plan, 0.7);
    assert_int_equal(run_with(&w, plan, &hollow, 3).host_chunks, 0);
    turn_signs(&w);
    hybrid_plan_refresh(plan);
    assert_true(run(&w, plan, 3).host_chunks > 0);
    hybrid_plan_destroy(plan);
    close_world(&w);
}

/* A run that the device did alone has told the caller that A is there. */
static void a_may_go_when_it_is_told_to_be_there(void **state)
{
    world w;

    (void)state;
    fake_delays(5, 100);
    open_world(&w, &hy_spmm_fake_rows, 0);
    slow_down(&w);
    const hybrid_csr hollow = hollow_of(&w.A);
    hybrid_plan *plan       = plan_for(&w, HYBRID_RESIDENT, HYBRID_SPLIT_DEFAULT, 0);
    assert_true(report_of(plan).resident_chunks < report_of(plan).chunks);
    for (int i = 0; i < 3; i++) {
        hybrid_report r = run(&w, plan, 0);
        assert_int_equal(r.resident_chunks, r.chunks);
        pin(&w, BOTH, 1);
        r = run_with(&w, plan, &hollow, 0);
        assert_int_equal(r.host_chunks, 0);
        assert_int_equal(r.resident_chunks, r.chunks);
        turn_signs(&w);
        hybrid_plan_refresh(plan);
        assert_true(run(&w, plan, 0).host_chunks > 0);
        assert_true(run(&w, plan, 3).host_chunks > 0);
        pin(&w, BOTH, 0);
    }
    hybrid_plan_destroy(plan);
    close_world(&w);
}

/* From "all of A stays" down to none of it: what does not stay is divided. */
static void every_budget_is_kept(void **state)
{
    int whole = 0, part = 0, none = 0;
    world w;

    (void)state;
    fake_delays(2, 0);
    for (size_t budget = 1 << 20; budget > 120 << 10; budget -= budget / 20) {
        open_world(&w, &hy_spmm_fake_rows, budget);
        hybrid_plan *plan = plan_for(&w, HYBRID_RESIDENT, HYBRID_SPLIT_SHARE, 0.4);
        for (int i = 0; i < 3; i++) {
            const hybrid_report r = run(&w, plan, i);
            assert_true(r.peak_device_bytes <= (int64_t)budget);
            assert_true(r.host_chunks > 0);
        }
        const int64_t kept = plan->pipeline->keeper.count;
        whole += kept == plan->layout.count;
        part += kept > 0 && kept < plan->layout.count;
        none += kept == 0;
        hybrid_plan_destroy(plan);
        close_world(&w);
    }
    assert_true(whole > 2 && part > 2 && none > 2);
}

/* ---- failures -----------------------------------------------------------------------
 */

/* Of a run in which something was packed nothing stays; an A that was there does. */
static void a_run_that_fails_leaves_nothing_half_done(void **state)
{
    int64_t failed = 0;
    world w;

    (void)state;
    for (int64_t call = 1; call < 200; call += 3) {
        fake_delays((unsigned)call, 0);
        open_world(&w, &hy_spmm_fake_rows, 0);
        pin(&w, BOTH, 1);
        hybrid_plan *plan = plan_for(&w, HYBRID_RESIDENT, HYBRID_SPLIT_SHARE, 0.5);
        for (int i = 0; i < 2; i++) { /* the second: something is there */
            fault_arm(call);
            const hybrid_status status = hybrid_spmm_run(plan, 1, &w.A, &w.X, 0, &w.Y);
            fault_arm(0);
            failed += status != HYBRID_OK;
            assert_true(status == HYBRID_OK || hy_plan_resident_chunks(plan) == 0);
            assert_true(run(&w, plan, 0).host_chunks > 0);
            assert_true(run(&w, plan, 3).host_chunks > 0);
        }
        hybrid_plan_destroy(plan);
        pin(&w, BOTH, 0);
        close_world(&w);
    }
    assert_true(failed > 20);
}

static void an_a_that_is_there_outlives_a_failure(void **state)
{
    world w;

    (void)state;
    fake_delays(6, 0);
    open_world(&w, &hy_spmm_fake_rows, 0);
    const hybrid_csr hollow = hollow_of(&w.A);
    hybrid_plan *plan       = plan_for(&w, HYBRID_RESIDENT, HYBRID_SPLIT_SHARE, 0.5);
    share_from_now_on(plan, 0);
    run(&w, plan, 0);
    share_from_now_on(plan, 0.5);
    for (int64_t call = 1; call < 60; call += 2) {
        fault_arm(call);
        assert_int_equal(hybrid_spmm_run(plan, 1, &hollow, &w.X, 0, &w.Y),
                         HYBRID_DEVICE_FAILED);
        fault_arm(0);
        assert_int_equal(run_with(&w, plan, &hollow, 3).host_chunks, 0);
    }
    hybrid_plan_destroy(plan);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_shares_runs_with_both_pinned),
        cmocka_unit_test(each_kind_of_run_has_its_prediction),
        cmocka_unit_test(the_device_is_alone_where_it_must_be),
        cmocka_unit_test(shares_of_a_resident_plan_are_kept),
        cmocka_unit_test(what_the_host_had_comes_when_the_device_takes_it),
        cmocka_unit_test(a_may_go_when_it_is_told_to_be_there),
        cmocka_unit_test(every_budget_is_kept),
        cmocka_unit_test(a_run_that_fails_leaves_nothing_half_done),
        cmocka_unit_test(an_a_that_is_there_outlives_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
