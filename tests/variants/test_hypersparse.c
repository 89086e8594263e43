/* tests/variants/test_hypersparse.c - plans that leave out the empty rows and columns of
   A. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "engine/plan/plan.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/inputs/hypersparse.h"
#include "support/check/oracle.h"
#include "support/fake/settings.h"

enum { COLUMNS = 32 };

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

static void every_shape_is_right(void **state)
{
    static const char *const names[] = {"spmm.fake.rows", "spmm.fake.tiled", NULL};
    int64_t checked                  = 0;

    (void)state;
    fake_delays(1, 0);
    assert_int_equal(hypersparse_check(fake_spmm_open, names, &checked), 0);
    assert_true(checked > 100);
    assert_int_equal(fake_alive(), 0);
}

extern const hy_variant hy_spmm_host_rows;

/* ---- conditions ---- */

/* Opens an engine with a fake device and a host, which could compute too. Empty rows and
   columns are left out however few bytes that saves. */
static hybrid_engine *open_for_all(void)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, &hy_spmm_host_rows,
                                              NULL};
    hybrid_engine *engine;

    assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
    settings_of(engine)->hypersparse_bytes = 1;
    return engine;
}

static int spares(hybrid_engine *engine, const hybrid_csr *A, int64_t cols,
                  const hybrid_plan_options *options)
{
    hybrid_plan *plan;

    assert_int_equal(hybrid_spmm_plan(engine, A, cols, options, &plan), HYBRID_OK);
    const int spared = hy_is_hypersparse(&plan->product.hypersparse);
    hybrid_plan_destroy(plan);
    return spared;
}

static void only_where_it_pays(void **state)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine = open_for_all();
    hybrid_csr hypersparse, full;

    (void)state;
    hypersparse_make(0, f64, &hypersparse);
    matrix_random(700, 700, 12, 1, f64, &full);
    assert_true(spares(engine, &hypersparse, COLUMNS, &o));
    assert_false(spares(engine, &full, COLUMNS, &o));
    /* none are left out, because a row of 7 values is less than a cache line */
    assert_false(spares(engine, &hypersparse, 7, &o));
    o.chunk_rows = 10;
    assert_false(spares(engine, &hypersparse, COLUMNS, &o));
    o.chunk_rows = 0;
    o.split      = HYBRID_SPLIT_AUTO;
    assert_false(spares(engine, &hypersparse, COLUMNS, &o));
    o.split      = HYBRID_SPLIT_SHARE;
    o.host_share = 0.5;
    assert_false(spares(engine, &hypersparse, COLUMNS, &o));
    o.split   = HYBRID_SPLIT_DEFAULT;
    o.variant = "spmm.host";
    assert_false(spares(engine, &hypersparse, COLUMNS, &o));
    o.variant                              = NULL;
    settings_of(engine)->hypersparse_bytes = HY_HYPERSPARSE_BYTES;
    assert_false(spares(engine, &hypersparse, COLUMNS, &o));
    hybrid_engine_destroy(engine);
    matrix_free(&hypersparse);
    matrix_free(&full);
}

/* Only rows, or only columns, of A are empty. Planning for many runs must examine the
   columns to find out. */
static void columns_are_looked_at_where_they_may_be_empty(void **state)
{
    const int shapes[]    = {3, 4};
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine = open_for_all();

    (void)state;
    for (int i = 0; i < 2; i++) {
        hybrid_csr A;
        hypersparse_make(shapes[i], f64, &A);
        o.flags = HYBRID_RESIDENT;
        assert_true(spares(engine, &A, COLUMNS, &o));
        matrix_free(&A);
    }
    hybrid_engine_destroy(engine);
}

static void a_plan_says_so(void **state)
{
    hybrid_engine *engine = open_for_all();
    hybrid_plan *plan;
    char text[4096];
    hybrid_csr A;

    (void)state;
    hypersparse_make(2, f64, &A); /* shape 2: only 11 of 700 rows, and as many columns,
                                     have entries */
    assert_int_equal(hybrid_spmm_plan(engine, &A, COLUMNS, NULL, &plan), HYBRID_OK);
    hybrid_plan_details(plan, text, sizeof text);
    assert_non_null(strstr(text, "A 700 x 700, "));
    assert_non_null(strstr(text, "left out: 689 rows and 689 columns of A"));
    assert_non_null(strstr(text, "because empty rows and columns"));
    assert_int_equal(plan->history.report.rows, 700);
    assert_int_equal(plan->history.report.predicted_d2h_bytes, 11 * COLUMNS * 8);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* Returns the reference time in the report of the second run of a plan with
   HYBRID_RESIDENT, in seconds. */
static double reference_of(hybrid_engine *engine, const hybrid_csr *A)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_dense X, Y;
    hybrid_plan *plan;

    o.flags = HYBRID_RESIDENT;
    dense_make(A->cols, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, f64, &X);
    dense_make(A->rows, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, f64, &Y);
    assert_int_equal(hybrid_spmm_plan(engine, A, COLUMNS, &o, &plan), HYBRID_OK);
    for (int turn = 0; turn < 2; turn++)
        assert_int_equal(hybrid_spmm_run(plan, 1, A, &X, 0, &Y), HYBRID_OK);
    const double reference_s = plan->history.report.reference_s;
    hybrid_plan_destroy(plan);
    dense_free(&X);
    dense_free(&Y);
    return reference_s;
}

static void the_reference_is_that_of_all_rows(void **state)
{
    hybrid_engine *engine = open_for_all();
    hybrid_csr A;

    (void)state;
    hypersparse_make(0, f64, &A);
    const double rest                      = reference_of(engine, &A);
    settings_of(engine)->hypersparse_bytes = INT64_MAX;
    assert_true(fabs(rest - reference_of(engine, &A)) < 1e-3 * rest);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* Called for each event of a trace. Rows of events must be numbered as in the caller's
   A, not in the reduced matrix. Sets *user to the last row. */
static void note_rows(void *user, const hybrid_event *event)
{
    int64_t *last = user;

    if (strcmp(event->stage, "accumulate") == 0) {
        assert_true(event->row_begin >= 0 && event->row_begin < event->row_end);
        *last = event->row_end > *last ? event->row_end : *last;
    }
}

static void events_name_rows_of_a(void **state)
{
    hybrid_engine *engine = open_for_all();
    int64_t last          = 0;
    hybrid_dense X, Y;
    hybrid_csr A;

    (void)state;
    hypersparse_make(2, f64, &A);
    dense_make(A.cols, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, f64, &X);
    dense_make(A.rows, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, f64, &Y);
    hybrid_engine_trace(engine, note_rows, &last);
    assert_int_equal(hybrid_spmm(engine, 1, &A, &X, 0, &Y), HYBRID_OK);
    assert_int_equal(last, 10 * 64 + 5 + 1);
    dense_free(&X);
    dense_free(&Y);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* Returns the bytes that a one-shot product copies from the device, with the given
   orders of X and Y. */
static int64_t sent_down(hybrid_engine *engine, const hybrid_csr *A, hybrid_order x_order,
                         hybrid_order y_order)
{
    hybrid_report r = HYBRID_REPORT_INIT;
    hybrid_dense X, Y, before;

    dense_make(A->cols, COLUMNS, 1, x_order, 1, f64, &X);
    dense_make(A->rows, COLUMNS, 1, y_order, 2, f64, &before);
    dense_copy(&before, &Y);
    assert_int_equal(hybrid_spmm(engine, 1, A, &X, 1, &Y), HYBRID_OK);
    assert_null(oracle_check_spmm(1, A, &X, 1, &before, &Y, 1));
    assert_int_equal(hybrid_engine_report(engine, &r), HYBRID_OK);
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
    return r.d2h_bytes;
}

/* If X or Y is column-major, elements of empty rows and columns are left out too. */
static void columns_do_without_them_too(void **state)
{
    const hybrid_order row = HYBRID_ROW_MAJOR, col = HYBRID_COL_MAJOR;
    hybrid_engine *engine = open_for_all();
    hybrid_csr A;

    (void)state;
    hypersparse_make(2, f64, &A);
    assert_int_equal(sent_down(engine, &A, row, row), 11 * COLUMNS * 8);
    assert_int_equal(sent_down(engine, &A, col, row), 11 * COLUMNS * 8);
    assert_int_equal(sent_down(engine, &A, row, col), 11 * COLUMNS * 8);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* ---- faults ---- */

typedef struct product {
    hybrid_csr A;
    hybrid_dense X, Y, before;
} product;

static hybrid_status multiply(hybrid_engine *engine, void *arg)
{
    const product *p = arg;
    hybrid_dense Y   = p->Y;

    settings_of(engine)->hypersparse_bytes = 1;
    const hybrid_status status =
        fake_explained(engine, hybrid_spmm(engine, 2, &p->A, &p->X, 0, &Y));
    if (status == HYBRID_OK)
        assert_null(oracle_check_spmm(2, &p->A, &p->X, 0, &p->before, &Y, 1));
    return status;
}

/* Computes the product with each allocation failing once. If there is no memory for the
   reduced matrix, the plan must use all of A. Returns the number of allocations. */
static int64_t survive_each_allocation(product *p)
{
    for (int64_t n = 1;; n++) {
        hybrid_engine *engine       = fake_spmm(0);
        engine->ctx.memory.failures = n;
        multiply(engine, p);
        const int64_t left          = engine->ctx.memory.failures;
        engine->ctx.memory.failures = 0;
        hybrid_engine_destroy(engine);
        assert_int_equal(fake_alive(), 0);
        if (left > 0)
            return n - 1;
    }
}

static void each_failure_is_told_or_survived(void **state)
{
    product p;
    const fake_failing failing = {multiply, &p, 0, 400, 1000};

    (void)state;
    hypersparse_make(0, f64, &p.A);
    dense_make(p.A.cols, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, f64, &p.X);
    dense_make(p.A.rows, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, f64, &p.Y);
    dense_copy(&p.Y, &p.before);
    fake_delays(1, 0);
    assert_true(fake_fail_each(&failing, &fault_device) > 20);
    assert_true(survive_each_allocation(&p) > 20);
    assert_int_equal(fake_alive(), 0);
    dense_free(&p.X);
    dense_free(&p.Y);
    dense_free(&p.before);
    matrix_free(&p.A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_is_right),
        cmocka_unit_test(only_where_it_pays),
        cmocka_unit_test(columns_are_looked_at_where_they_may_be_empty),
        cmocka_unit_test(a_plan_says_so),
        cmocka_unit_test(the_reference_is_that_of_all_rows),
        cmocka_unit_test(events_name_rows_of_a),
        cmocka_unit_test(columns_do_without_them_too),
        cmocka_unit_test(each_failure_is_told_or_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
