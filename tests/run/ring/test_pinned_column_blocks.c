/* tests/run/ring/test_pinned_column_blocks.c - plans that use column blocks if X and Y
   are pinned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "engine/schedules/column_blocks.h"
#include "engine/plan/plan.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/check/oracle.h"
#include "support/runs/pinned_column_blocks.h"
#include "support/engines/places.h"
#include "support/fake/settings.h"

static void every_case_is_right(void **state)
{
    static const char *const names[] = {"spmm.fake.rows", "spmm.fake.tiled", NULL};
    hybrid_engine *engine            = fake_spmm(0);
    int64_t checked                  = 0;

    (void)state;
    fake_delays(1, 0);
    assert_int_equal(pinned_column_blocks_check(engine, names, &checked), 0);
    assert_true(case_step(2) * checked > 300);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

/* ---- pinned and pageable runs of one plan ---- */

/* A row of X and Y, with its gap, fills whole cache lines. The fake device pins memory
   in pieces that end within rows. */
enum { ROWS = 400, COLUMNS = 64, GAP = 16 };

typedef struct product {
    hybrid_csr A;
    hybrid_dense X, Y, before;
} product;

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

static void make_product(product *p)
{
    matrix_random(ROWS, ROWS, 5, 5, f64, &p->A);
    dense_make(ROWS, COLUMNS, GAP, HYBRID_ROW_MAJOR, 1, f64, &p->X);
    dense_make(ROWS, COLUMNS, GAP, HYBRID_ROW_MAJOR, 2, f64, &p->Y);
    dense_copy(&p->Y, &p->before);
}

static void free_product(product *p)
{
    matrix_free(&p->A);
    dense_free(&p->X);
    dense_free(&p->Y);
    dense_free(&p->before);
}

static size_t bytes_of(const hybrid_dense *m)
{
    return (size_t)((m->rows - 1) * m->ld + m->cols) * 8;
}

static hybrid_status run_product(hybrid_engine *engine, hybrid_plan *plan, product *p)
{
    return fake_explained(engine, hybrid_spmm_run(plan, 1, &p->A, &p->X, 0, &p->Y));
}

static hybrid_status run_pinned(hybrid_engine *engine, hybrid_plan *plan, product *p)
{
    hybrid_status status;

    HY_TRY(fake_explained(engine, hybrid_pin(engine, p->X.data, bytes_of(&p->X))));
    status = fake_explained(engine, hybrid_pin(engine, p->Y.data, bytes_of(&p->Y)));
    if (status == HYBRID_OK) {
        status = run_product(engine, plan, p);
        hybrid_unpin(engine, p->Y.data);
    }
    hybrid_unpin(engine, p->X.data);
    if (status == HYBRID_OK && plan->portions->layout.pinned_blocks > 0)
        assert_true(plan->portions->site->list.image.axis == HY_AXIS_COLS);
    return status;
}

/* Makes a plan and runs it three times, with operands pinned, pageable and pinned. Adds
   the number of runs with column blocks to *in_blocks. Returns the status. */
static hybrid_status run_both(hybrid_engine *engine, product *p, unsigned flags,
                              int64_t *in_blocks)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;
    hybrid_status status = HYBRID_OK;

    o.variant    = "spmm.fake.rows";
    o.flags      = flags;
    o.chunk_rows = ROWS / 5;
    HY_TRY(fake_explained(engine, hybrid_spmm_plan(engine, &p->A, COLUMNS, &o, &plan)));
    for (int turn = 0; turn < 3 && status == HYBRID_OK; turn++) {
        status =
            turn % 2 == 0 ? run_pinned(engine, plan, p) : run_product(engine, plan, p);
        if (status != HYBRID_OK)
            break;
        assert_null(oracle_check_spmm(1, &p->A, &p->X, 0, &p->before, &p->Y, 1));
        assert_true(dense_gaps_intact(&p->Y));
        *in_blocks += plan->portions->layout.pinned_blocks > 0 &&
                      plan->portions->site->list.image.axis == HY_AXIS_COLS;
        assert_true(report_of(plan).peak_device_bytes <=
                    (int64_t)plan->portions->rates.memory);
        assert_true(report_of(plan).h2d_bytes <= report_of(plan).predicted_h2d_bytes);
    }
    hybrid_plan_destroy(plan);
    return status;
}

/* All bytes of pinned X and Y are copied directly, also in column blocks that are
   shifted to begin with cache lines of Y. */
static void nothing_passes_through_the_ring(void **state)
{
    hybrid_engine *engine = fake_spmm(0);
    int64_t in_blocks     = 0;
    product p;

    (void)state;
    fake_delays(3, 50);
    make_product(&p);
    settings_of(engine)->column_blocks = 4;
    const int64_t before               = fake_direct();
    assert_int_equal(run_both(engine, &p, 0, &in_blocks), HYBRID_OK);
    assert_int_equal(in_blocks, 2);
    assert_int_equal(fake_direct() - before, 2 * 2 * ROWS * COLUMNS * 8);
    hybrid_engine_destroy(engine);
    free_product(&p);
    assert_int_equal(fake_alive(), 0);
}

static void every_budget_is_kept(void **state)
{
    const size_t step = (size_t)case_step(2);
    int64_t in_blocks = 0, runs = 0;
    product p;

    (void)state;
    fake_delays(1, 0);
    make_product(&p);
    for (int resident = 0; resident < 2; resident++)
        for (size_t budget = (size_t)2 << 20; budget > (20 << 10);
             budget -= step * budget / 12) {
            hybrid_engine *engine              = fake_spmm(budget);
            settings_of(engine)->column_blocks = 3;
            const unsigned flags               = resident ? HYBRID_RESIDENT : 0;
            const hybrid_status status         = run_both(engine, &p, flags, &in_blocks);
            assert_true(status == HYBRID_OK || status == HYBRID_NO_DEVICE_MEMORY);
            runs += 3;
            hybrid_engine_destroy(engine);
        }
    assert_true(in_blocks > 10 && in_blocks < runs / 2);
    free_product(&p);
    assert_int_equal(fake_alive(), 0);
}

/* ---- failures ---- */

static hybrid_status run_in_panels(hybrid_engine *engine, void *arg)
{
    int64_t in_blocks = 0;

    settings_of(engine)->column_blocks = 3;
    return run_both(engine, arg, 0, &in_blocks);
}

static void every_call_fails_once(void **state)
{
    product p;
    const fake_failing f = {run_in_panels, &p, 0, 5000, 32};

    (void)state;
    fake_delays(1, 0);
    make_product(&p);
    assert_true(fake_fail_each(&f, &fault_allocation) > 5);
    assert_true(fake_fail_each(&f, &fault_device) > 50);
    free_product(&p);
}

/* ---- position of Y in cache lines ---- */

/* Makes a run with pinned X and Y, where Y begins `bytes` bytes after a cache line.
   Returns 1 if it used column blocks. A setting forced column blocks only while the plan
   was made, so that Y's position decides in the run. */
static int comes_in_panels(hybrid_engine *engine, hybrid_plan *plan, const product *own,
                           size_t bytes)
{
    product p    = *own;
    void *x_line = dense_move(&own->X, 16, &p.X);
    void *y_line = dense_move(&own->Y, bytes, &p.Y);

    assert_int_equal(hybrid_pin(engine, p.X.data, bytes_of(&p.X)), HYBRID_OK);
    assert_int_equal(hybrid_pin(engine, p.Y.data, bytes_of(&p.Y)), HYBRID_OK);
    const int64_t before = fake_direct();
    assert_int_equal(run_product(engine, plan, &p), HYBRID_OK);
    assert_int_equal(fake_direct() - before, 2 * ROWS * COLUMNS * 8);
    assert_null(oracle_check_spmm(1, &p.A, &p.X, 0, &own->Y, &p.Y, 1));
    assert_true(dense_moved_intact(y_line, &p.Y));
    hybrid_unpin(engine, p.X.data);
    hybrid_unpin(engine, p.Y.data);
    free(x_line);
    free(y_line);
    return plan->portions->site->list.image.axis == HY_AXIS_COLS;
}

static void rows_of_y_must_begin_with_lines(void **state)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine = fake_spmm(0);
    hybrid_plan *plan;
    product p;

    (void)state;
    fake_delays(4, 50);
    o.variant    = "spmm.fake.rows";
    o.chunk_rows = ROWS / 5;
    matrix_random(ROWS, ROWS, 5, 5, f64, &p.A);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, f64, &p.X);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, f64, &p.Y);
    settings_of(engine)->column_blocks = 3;
    assert_int_equal(hybrid_spmm_plan(engine, &p.A, COLUMNS, &o, &plan), HYBRID_OK);
    settings_of(engine)->column_blocks = 0;
    assert_true(comes_in_panels(engine, plan, &p, 0));
    assert_true(comes_in_panels(engine, plan, &p, HY_X_LINE));
    for (size_t bytes = 8; bytes < HY_X_LINE; bytes += 8)
        assert_false(comes_in_panels(engine, plan, &p, bytes));
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&p.A);
    dense_free(&p.X);
    dense_free(&p.Y);
    assert_int_equal(fake_alive(), 0);
}

/* Matrices of hybrid_dense_create() begin at a cache line. */
static void made_matrices_begin_with_lines(void **state)
{
    hybrid_engine *engine = fake_spmm(0);

    (void)state;
    for (int64_t rows = 1; rows < 1 << 20; rows *= 7)
        for (int order = 0; order < 2; order++) {
            hybrid_dense m[2];
            for (int i = 0; i < 2; i++) {
                assert_int_equal(
                    hybrid_dense_create(engine, rows, 3,
                                        order ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR,
                                        HYBRID_F32, &m[i]),
                    HYBRID_OK);
                assert_int_equal((uintptr_t)m[i].data % HY_X_LINE, 0);
            }
            hybrid_dense_free(engine, &m[0]);
            hybrid_dense_free(engine, &m[1]);
        }
    hybrid_engine_destroy(engine);
}

/* ---- the planner ---- */

/* Makes a plan for A*X with `cols` columns of X. Returns the number of column blocks in
   its runs with pinned operands; 1: X is whole. */
static int64_t panels_of(const hybrid_csr *A, int64_t cols, unsigned flags,
                         hybrid_split split)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine = fake_spmm((size_t)1 << 30);
    hybrid_plan *plan;
    char text[4096];

    o.variant = "spmm.fake.rows";
    o.flags   = flags;
    o.split   = split;
    assert_int_equal(hybrid_spmm_plan(engine, A, cols, &o, &plan), HYBRID_OK);
    assert_int_not_equal(plan->portions->layout.image.axis, HY_AXIS_COLS);
    const hy_portion *portion = plan->portions;
    const int64_t width       = portion->layout.pinned_blocks > 0
                                    ? hy_column_blocks_pinned(portion, &portion->layout).block
                                    : 0;
    assert_true(width == 0 || (width * 4 >= 128 && width * 4 % 128 == 0));
    hybrid_plan_details(plan, text, sizeof text);
    assert_int_equal(strstr(text, " if X and Y are pinned") != NULL, width > 0);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    return width > 0 ? (cols + width - 1) / width : 1;
}

static void scattered_rows_of_a_large_x_come_in_panels(void **state)
{
    const test_kind f32 = {HYBRID_F32, HYBRID_I32, 0};
    hybrid_csr A;

    (void)state;
    matrix_random(1 << 18, 1 << 18, 4, 5, f32, &A);
    assert_int_equal(panels_of(&A, 64, 0, HYBRID_SPLIT_GPU),
                     1); /* one, because blocks of narrow rows are copied more slowly */
    assert_int_equal(panels_of(&A, 128, 0, HYBRID_SPLIT_GPU), 2);
    assert_int_equal(panels_of(&A, 256, 0, HYBRID_SPLIT_GPU), 3);
    assert_int_equal(panels_of(&A, 256, HYBRID_RESIDENT, HYBRID_SPLIT_DEFAULT), 3);
    /* one, because blocks of 60 columns cannot begin with cache lines of Y */
    assert_int_equal(panels_of(&A, 60, 0, HYBRID_SPLIT_GPU), 1);
    assert_int_equal(panels_of(&A, 256, HYBRID_DETERMINISTIC, HYBRID_SPLIT_GPU), 1);
    assert_int_equal(panels_of(&A, 256, 0, HYBRID_SPLIT_AUTO), 1);
    for (int64_t i = 0; i < A.rows; i++) { /* row i gets columns near i only, so that the
                                              first chunks need only a part of X */
        const int32_t *offset = A.row_ptr;
        for (int32_t k = offset[i]; k < offset[i + 1]; k++)
            hy_cols(&A)[k] = (int32_t)(i > 100 ? i - 100 : 0) + k - offset[i];
    }
    assert_int_equal(panels_of(&A, 256, 0, HYBRID_SPLIT_GPU), 1);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_is_right),
        cmocka_unit_test(nothing_passes_through_the_ring),
        cmocka_unit_test(every_budget_is_kept),
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(rows_of_y_must_begin_with_lines),
        cmocka_unit_test(made_matrices_begin_with_lines),
        cmocka_unit_test(scattered_rows_of_a_large_x_come_in_panels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
