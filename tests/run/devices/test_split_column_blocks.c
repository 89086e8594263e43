/* tests/run/devices/test_split_column_blocks.c - shared runs with X and Y pinned and in
   column blocks.

   The host computes a part of the last column blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/runs/pinned_runs.h"
#include "support/engines/places.h"
#include "support/fake/settings.h"

/* A row of X and Y is four cache lines long. SHIFT: bytes by which arrays of `at` may
   begin after a cache line. */
enum { COLUMNS = 64, PANELS = 3, SHIFT = 16 };

typedef struct moved {
    world own, at;
    void *x_line, *y_line;
} moved;

static void open_moved(moved *m, size_t bytes)
{
    world_open(&m->own, &hy_fault_backend_ops, &hy_spmm_fake_rows, 0, COLUMNS);
    settings_of(m->own.engine)->column_blocks = PANELS;
    runs_slow_down(&m->own);
    m->at     = m->own;
    m->x_line = dense_move(&m->own.X, bytes, &m->at.X);
    m->y_line = dense_move(&m->own.Y, bytes, &m->at.Y);
    world_pin(&m->at, BOTH, 1);
}

static void close_moved(moved *m)
{
    world_pin(&m->at, BOTH, 0);
    assert_true(dense_moved_intact(m->y_line, &m->at.Y));
    free(m->x_line);
    free(m->y_line);
    world_close(&m->own);
}

static hybrid_plan *plan_of(moved *m, unsigned flags)
{
    hybrid_plan *plan = runs_plan(&m->at, flags, HYBRID_SPLIT_DEFAULT, 0);

    assert_true(plan->portions->layout.pinned_blocks > 0);
    assert_null(plan->forecasts[HY_RUNS_PINNED].why_not);
    assert_non_null(plan->forecasts[HY_RUNS_PAGEABLE].why_not);
    return plan;
}

static hybrid_report run_given(moved *m, hybrid_plan *plan, const hybrid_csr *given,
                               double beta)
{
    const hybrid_report r = run_with(&m->at, plan, given, beta);

    assert_int_equal(plan->portions->site->list.image.axis == HY_AXIS_COLS, beta == 0);
    return r;
}

static hybrid_report run(moved *m, hybrid_plan *plan, double beta)
{
    return run_given(m, plan, &m->at.A, beta);
}

static void the_host_takes_its_share_of_the_last_panels(void **state)
{
    static const double shares[] = {-1, 0.2, 0.6, 1};
    static const size_t bytes[]  = {0, SHIFT, 40};

    (void)state;
    for (unsigned seed = 0; seed < 24; seed++) {
        moved m;
        fake_delays(seed, 100);
        open_moved(&m, bytes[seed % 3]);
        hybrid_plan *plan = plan_of(&m, 0);
        runs_share(plan, shares[seed / 6]);
        const hybrid_report r = run(&m, plan, 0);
        const int64_t all     = r.flops / 2 / COLUMNS;
        assert_true(r.host_chunks > 0);
        assert_in_range(r.host_products, all, all * COLUMNS);
        if (shares[seed / 6] == 1)
            assert_int_equal(r.host_products, all * COLUMNS);
        /* none, because with beta != 0 workers store Y and are busy */
        assert_int_equal(run(&m, plan, 3).host_chunks, 0);
        hybrid_plan_destroy(plan);
        close_moved(&m);
    }
}

/* In later runs all of A may be cached on the device. The host takes part, too, and
   reads A, until a run reports that all chunks are resident. */
static void the_host_takes_part_in_later_runs(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 4; seed++) {
        moved m;
        fake_delays(seed, 100);
        open_moved(&m, seed % 2 ? SHIFT : 0);
        const hybrid_csr bare = runs_without_arrays(&m.at.A);
        hybrid_plan *plan     = plan_of(&m, HYBRID_RESIDENT);
        runs_share(plan, 0.3);
        assert_int_equal(report_of(plan).resident_chunks, 0);
        for (int i = 0; i < 4; i++) {
            const hybrid_report r = run(&m, plan, 0);
            assert_true(r.host_chunks > 0);
            assert_int_equal(r.resident_chunks, CHUNKS - 1);
            assert_int_equal(r.prepare_s > 0, i == 0);
        }
        hybrid_report r = run(&m, plan, 3);
        assert_int_equal(r.resident_chunks, r.chunks);
        r = run_given(&m, plan, &bare, 0);
        assert_int_equal(r.resident_chunks, r.chunks);
        assert_int_equal(r.host_chunks, 0);
        world_negate(&m.at);
        hybrid_plan_refresh(plan);
        assert_true(run(&m, plan, 0).host_chunks > 0);
        hybrid_plan_destroy(plan);
        close_moved(&m);
    }
}

/* Runs of one plan alternate between a Y that permits column blocks and one for which X
   is whole on the device. The host takes part in both, so that no run may report that
   all of A is cached. Chunks are as small as the host's claims. */
static void no_mix_of_runs_tells_that_all_is_there(void **state)
{
    enum { WIDE = 54, LD = 64, FEW_ROWS = 10 };
    hybrid_report r;
    moved m;

    (void)state;
    fake_delays(1, 100);
    world_open(&m.own, &hy_fault_backend_ops, &hy_spmm_fake_rows, 0, WIDE);
    settings_of(m.own.engine)->column_blocks = 2;
    runs_slow_down(&m.own);
    m.at             = m.own;
    m.x_line         = dense_move(&m.own.X, 0, &m.at.X);
    m.y_line         = dense_move(&m.own.Y, 0, &m.at.Y);
    hybrid_dense gap = m.at.Y;
    gap.ld           = LD;
    gap.data         = aligned_alloc(HY_X_LINE, ROWS * LD * 8);
    hybrid_plan *plan =
        world_plan(&m.at, FEW_ROWS, HYBRID_RESIDENT, HYBRID_SPLIT_DEFAULT, 0);
    settings_of(m.own.engine)->column_blocks =
        0; /* column blocks are no longer forced: Y's position decides, as in a
              program */
    runs_share(plan, 0.1);
    world_pin(&m.at, BOTH, 1);
    assert_int_equal(hybrid_pin(m.at.engine, gap.data, ROWS * LD * 8), HYBRID_OK);
    for (int i = 0; i < 4; i++) {
        hybrid_dense *Y = i % 2 == 0 ? &gap : &m.at.Y;
        assert_int_equal(hybrid_spmm_run(plan, 1, &m.at.A, &m.at.X, 0, Y), HYBRID_OK);
        assert_null(oracle_check_spmm(1, &m.at.A, &m.at.X, 0, &m.at.before, Y, 1));
        r = report_of(plan);
        assert_int_equal(plan->portions->site->list.image.axis == HY_AXIS_COLS,
                         i % 2 == 0);
        assert_true(r.host_chunks > 0 && r.resident_chunks < r.chunks);
    }
    hybrid_plan_destroy(plan);
    assert_int_equal(hybrid_unpin(m.at.engine, gap.data), HYBRID_OK);
    free(gap.data);
    close_moved(&m);
}

static void a_run_that_fails_leaves_nothing_half_done(void **state)
{
    int64_t failed = 0;

    (void)state;
    for (int64_t call = 1; call < 400; call += 7) {
        moved m;
        fake_delays((unsigned)call, 0);
        open_moved(&m, call % 2 ? SHIFT : 0);
        hybrid_plan *plan = plan_of(&m, HYBRID_RESIDENT);
        runs_share(plan, 0.3);
        for (int i = 0; i < 2; i++) { /* the second run begins with some chunks cached */
            fault_arm(call);
            const hybrid_status status =
                hybrid_spmm_run(plan, 1, &m.at.A, &m.at.X, 0, &m.at.Y);
            fault_arm(0);
            failed += status != HYBRID_OK;
            assert_true(status == HYBRID_OK || hy_plan_resident_chunks(plan) == 0);
            assert_true(run(&m, plan, 0).host_chunks > 0);
        }
        hybrid_plan_destroy(plan);
        close_moved(&m);
    }
    assert_true(failed > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_takes_its_share_of_the_last_panels),
        cmocka_unit_test(the_host_takes_part_in_later_runs),
        cmocka_unit_test(no_mix_of_runs_tells_that_all_is_there),
        cmocka_unit_test(a_run_that_fails_leaves_nothing_half_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
