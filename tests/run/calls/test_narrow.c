/* tests/run/calls/test_narrow.c - operands with 64-bit column indices.

   Products by the host and by a fake device are computed in every way and compared with
   the oracle. The 32-bit copies are counted, and each allocation fails once.
   test_operands.c tests column indices that are out of range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "support/fake/fake_backend.h"
#include "support/products/indices.h"
#include "support/fake/settings.h"

static hybrid_status dense(world *w, const hybrid_csr *A)
{
    const hybrid_status status = hybrid_spmm(w->engine, 1, A, &w->X, 0, &w->Y);

    if (status == HYBRID_OK)
        assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->before, &w->Y, 1));
    return status;
}

static hybrid_status dense_planned(world *w, const hybrid_csr *A)
{
    const hybrid_plan_options o = indices_options(w, 0);
    hybrid_plan *plan;

    hybrid_status status = hybrid_spmm_plan(w->engine, A, WIDTH, &o, &plan);
    if (status != HYBRID_OK)
        return status;
    dense_set(&w->Y, 7);
    status = hybrid_spmm_run(plan, 1, A, &w->X, 0, &w->Y);
    hybrid_plan_destroy(plan);
    if (status == HYBRID_OK)
        assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->before, &w->Y, 1));
    return status;
}

static void check_operands(world *w)
{
    const hybrid_csr *const as[] = {&w->A, &w->wide_a}, *const bs[] = {&w->B, &w->wide_b};

    indices_ask(w, ASKED - 1);
    for (int i = 1; i < 4; i++) {
        const hybrid_csr *A = as[i & 1], *B = bs[i >> 1];
        assert_int_equal(indices_once(w, A, B), HYBRID_OK);
        assert_int_equal(indices_planned(w, 0, A, B), HYBRID_OK);
        assert_int_equal(indices_planned(w, HYBRID_REUSE, A, B), HYBRID_OK);
    }
    assert_int_equal(dense(w, &w->wide_a), HYBRID_OK);
    assert_int_equal(dense_planned(w, &w->wide_a), HYBRID_OK);
}

static void operands_of_either_width(void **state)
{
    (void)state;
    indices_each(check_operands);
}

/* Multiplies a matrix by itself, passed as one operand or as two with the same arrays.
   Settings make the engine prefetch B to the device, which then counts scalar
   products. */
static void check_square(world *w)
{
    hybrid_csr A, wide, C;
    world squares = *w;

    matrix_random(ROWS, ROWS, 6, 5, w->kind, &A);
    wide                  = indices_widened(&A);
    const hybrid_csr same = wide;
    oracle_spgemm(&A, &A, &squares.product);
    settings_of(w->engine)->prefetch_bytes = settings_of(w->engine)->counted_bytes = 1;
    for (int i = 0; i < 2; i++) {
        const hybrid_csr *B  = i ? &same : &wide;
        const int64_t counts = fake_counts();
        assert_int_equal(indices_once(&squares, &wide, B), HYBRID_OK);
        assert_true(w->on_host || fake_counts() > counts);
        assert_int_equal(indices_planned(&squares, HYBRID_REUSE, &wide, B), HYBRID_OK);
    }
    hybrid_csr less = wide; /* B without its last column, in which the matrix has
                               entries */
    less.cols--;
    assert_int_equal(hybrid_spgemm(w->engine, &wide, &less, &C), HYBRID_BAD_MATRIX);
    assert_non_null(strstr(hybrid_engine_message(w->engine), "B: row "));
    oracle_free(&squares.product);
    free(wide.col);
    matrix_free(&A);
}

static void squares_are_squares(void **state)
{
    (void)state;
    indices_each(check_square);
}

/* A plan that was made with 32-bit or 64-bit column indices can run with the others,
   because the pattern is the same. A changed or invalid 64-bit index must be refused. */
static void check_change(world *w)
{
    const hybrid_plan_options o = indices_options(w, HYBRID_REUSE);
    const int64_t other         = ((int64_t *)w->wide_b.col)[7];
    hybrid_plan *plan;

    assert_int_equal(hybrid_spgemm_plan(w->engine, &w->A, &w->wide_b, &o, &plan),
                     HYBRID_OK);
    assert_int_equal(indices_run(w, plan, &w->A, &w->wide_b), HYBRID_OK);
    assert_int_equal(indices_run(w, plan, &w->wide_a, &w->B), HYBRID_OK);
    ((int64_t *)w->wide_b.col)[7] = (other + 1) % COLS;
    assert_int_equal(indices_run(w, plan, &w->A, &w->wide_b), HYBRID_BAD_STATE);
    ((int64_t *)w->wide_b.col)[7] = COLS;
    assert_int_equal(indices_run(w, plan, &w->A, &w->wide_b), HYBRID_BAD_MATRIX);
    ((int64_t *)w->wide_b.col)[7] = other;
    assert_int_equal(indices_run(w, plan, &w->A, &w->wide_b), HYBRID_OK);
    hybrid_plan_destroy(plan);
}

static void widths_change_between_runs(void **state)
{
    (void)state;
    indices_each(check_change);
}

/* When all of A is cached on the device, a run does not read its column indices. */
static void resident_columns_are_not_read(void **state)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_report report  = HYBRID_REPORT_INIT;
    hybrid_plan *plan;
    world w;

    (void)state;
    indices_open(&w, 0, HYBRID_F64, HYBRID_I64);
    hybrid_csr gone = w.wide_a;
    o.flags         = HYBRID_RESIDENT;
    o.split         = HYBRID_SPLIT_GPU;
    assert_int_equal(hybrid_spmm_plan(w.engine, &w.wide_a, WIDTH, &o, &plan), HYBRID_OK);
    for (int i = 0; i < 2; i++) {
        dense_set(&w.Y, 7);
        assert_int_equal(hybrid_spmm_run(plan, 1, i ? &gone : &w.wide_a, &w.X, 0, &w.Y),
                         HYBRID_OK);
        assert_null(oracle_check_spmm(1, &w.A, &w.X, 0, &w.before, &w.Y, 1));
        assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
        assert_true(report.resident_chunks == report.chunks);
        gone.col = (void *)8; /* an aligned address that cannot be read */
    }
    hybrid_plan_destroy(plan);
    indices_close(&w);
}

/* ---- memory ---- */

static hybrid_status one_shot(world *w)
{
    return indices_once(w, &w->wide_a, &w->wide_b);
}

static hybrid_status three_runs(world *w)
{
    return indices_planned(w, HYBRID_REUSE, &w->wide_a, &w->wide_b);
}

static hybrid_status times_dense(world *w)
{
    const hybrid_status status = dense(w, &w->wide_a);
    return status == HYBRID_OK ? dense_planned(w, &w->wide_a) : status;
}

static hybrid_status look_at(world *w)
{
    hybrid_matrix_info info;
    hybrid_csr T;

    hybrid_status status = hybrid_csr_transpose(w->engine, &w->wide_a, &T);
    if (status != HYBRID_OK)
        return status;
    hybrid_csr_free(w->engine, &T);
    return hybrid_csr_info(w->engine, &w->wide_a, &info);
}

static void each_allocation_fails_once(void **state)
{
    world w;

    (void)state;
    for (int on_host = 0; on_host < 2; on_host++) {
        indices_open(&w, on_host, HYBRID_F64, HYBRID_I32);
        indices_fail_each(&w, one_shot, 8);
        indices_fail_each(&w, three_runs, 12);
        indices_fail_each(&w, times_dense, 3);
        indices_fail_each(&w, look_at, 6);
        indices_close(&w);
    }
}

/* The 32-bit copies of column indices count as host memory of the call, and are refused
   if they exceed its cap. */
static void copies_are_counted(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_matrix_info info;
    world w;

    (void)state;
    indices_open(&w, 1, HYBRID_F32, HYBRID_I64);
    hybrid_engine_destroy(w.engine);
    options.backend    = HYBRID_HOST;
    options.threads    = 1;
    options.host_bytes = (size_t)w.A.nnz * 4 - 1;
    assert_int_equal(hybrid_engine_create(&options, &w.engine), HYBRID_OK);
    /* this call reads 64-bit indices without a 32-bit copy */
    assert_int_equal(hybrid_csr_check(w.engine, &w.wide_a), HYBRID_OK);
    assert_int_equal(hybrid_csr_info(w.engine, &w.wide_a, &info), HYBRID_NO_MEMORY);
    assert_non_null(strstr(hybrid_engine_message(w.engine), "columns in 32 bits"));
    indices_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_of_either_width),
        cmocka_unit_test(squares_are_squares),
        cmocka_unit_test(widths_change_between_runs),
        cmocka_unit_test(resident_columns_are_not_read),
        cmocka_unit_test(each_allocation_fails_once),
        cmocka_unit_test(copies_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
