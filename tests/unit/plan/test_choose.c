/* tests/unit/plan/test_choose.c - the choice between host and device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/plan/plan.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/inputs/hypersparse.h"
#include "support/check/oracle.h"
#include "support/engines/places.h"
#include "support/fake/settings.h"
#include "support/engines/weighed.h"

enum { ROWS = 3000, COLUMNS = 32, SMALL = 256 << 10 };

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

extern const hy_variant hy_spmm_host_rows, hy_spgemm_host_rows;

/* Runs a plan and checks Y. Returns the plan. */
static hybrid_plan *run_planned(hybrid_engine *engine, const hybrid_csr *A,
                                const hybrid_plan_options *options)
{
    hybrid_dense X, Y, before;
    hybrid_plan *plan;

    dense_make(A->cols, COLUMNS, 1, HYBRID_ROW_MAJOR, 1, f64, &X);
    dense_make(A->rows, COLUMNS, 2, HYBRID_ROW_MAJOR, 2, f64, &before);
    dense_copy(&before, &Y);
    assert_int_equal(hybrid_spmm_plan(engine, A, COLUMNS, options, &plan), HYBRID_OK);
    assert_int_equal(hybrid_spmm_run(plan, 2, A, &X, 3, &Y), HYBRID_OK);
    assert_null(oracle_check_spmm(2, A, &X, 3, &before, &Y, 1));
    assert_true(dense_gaps_intact(&Y));
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
    return plan;
}

/* Returns 1 if the host computed the product. Checks that the plan's explanation and
   report agree. */
static int host_computes(hybrid_engine *engine, const hybrid_csr *A,
                         const hybrid_plan_options *options)
{
    hybrid_plan *plan     = run_planned(engine, A, options);
    const hybrid_report r = report_of(plan);
    const int host        = !plan->portions->backend->ops->copy;
    hybrid_candidate candidate;
    char text[4096];

    hybrid_plan_details(plan, text, sizeof text);
    assert_int_equal(host, strstr(text, "the host alone: the device is") != NULL);
    assert_int_equal(host, r.h2d_bytes == 0);
    assert_int_equal(host, hy_plan_device_s(plan) > 0);
    for (int i = 0; hybrid_plan_candidate(plan, i, &candidate) == HYBRID_OK; i++)
        assert_int_equal(candidate.chosen, i == plan->candidates.chosen);
    hybrid_plan_destroy(plan);
    return host;
}

/* Frees A and the engine. Fails the test if the device still holds memory. */
static void close_world(hybrid_engine *engine, hybrid_csr *A)
{
    matrix_free(A);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

static void only_if_x_does_not_fit(void **state)
{
    const size_t budgets[]          = {SMALL, 64 << 20};
    const hybrid_plan_options plain = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr A;

    (void)state;
    for (int i = 0; i < 2; i++) {
        hybrid_engine *engine = weighed_open(budgets[i]);
        matrix_random(ROWS, ROWS, 8, 1, f64, &A);
        assert_int_equal(host_computes(engine, &A, &plain), i == 0);
        close_world(engine, &A);
    }
}

/* Column-major X and Y that do not fit the device slow the host. A device that must
   gather rows is slower still, so the host computes. */
static void columns_that_do_not_fit_are_weighed(void **state)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine = weighed_open(SMALL);
    hybrid_csr A;

    (void)state;
    o.order = HYBRID_COL_MAJOR;
    matrix_random(ROWS, ROWS, 8, 1, f64, &A);
    engine->host->measured.flops = 1e12;
    assert_int_equal(host_computes(engine, &A, &o), 1);
    engine->host->measured.flops = 1e8;
    assert_int_equal(host_computes(engine, &A, &o), 0);
    close_world(engine, &A);
}

/* The host does not compute if A is banded, so that X passes through the device in a
   ring of rows. */
static void not_if_x_passes_through(void **state)
{
    const hybrid_plan_options plain = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine           = weighed_open(SMALL);
    hybrid_csr A;

    (void)state;
    assert_int_equal(hybrid_generate(engine, "band:3000,3", HYBRID_F64, 1, &A),
                     HYBRID_OK);
    for (int64_t k = 0; k < A.nnz; k++)
        value_set(A.val, HYBRID_F64, k, 3);
    hybrid_plan *plan = run_planned(engine, &A, &plain);
    assert_true(plan->portions->layout.image.axis == HY_AXIS_ROWS);
    hybrid_plan_destroy(plan);
    assert_int_equal(host_computes(engine, &A, &plain), 0);
    hybrid_csr_free(engine, &A);
    close_world(engine, &A);
}

/* A is banded, so that X could pass through the device in a ring of rows. The bus is
   slow: the host computes, unless X and Y are column-major. */
static void a_window_is_weighed(void **state)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine = weighed_open(SMALL);
    hybrid_csr A;

    (void)state;
    assert_int_equal(hybrid_generate(engine, "band:3000,3", HYBRID_F64, 1, &A),
                     HYBRID_OK);
    for (int64_t k = 0; k < A.nnz; k++)
        value_set(A.val, HYBRID_F64, k, 3);
    engine->device->measured.h2d_Bps = 1e6;
    assert_int_equal(host_computes(engine, &A, &o), 1);
    o.order = HYBRID_COL_MAJOR;
    assert_int_equal(host_computes(engine, &A, &o), 0);
    hybrid_csr_free(engine, &A);
    close_world(engine, &A);
}

/* X fits into the device, but with few columns of X launches and copies of A take a
   large part of the device's time, so that the host may be faster. */
static void an_x_that_fits_is_weighed(void **state)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine = weighed_open(64 << 20);
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, 8, 1, f64, &A);
    engine->device->measured.launch_s = 2e-5;
    assert_int_equal(host_computes(engine, &A, &o), 1);
    o.order = HYBRID_COL_MAJOR;
    assert_int_equal(host_computes(engine, &A, &o), 0);
    o.order = HYBRID_ROW_MAJOR;
    o.flags = HYBRID_RESIDENT;
    assert_int_equal(host_computes(engine, &A, &o), 0);
    o.flags                           = 0;
    settings_of(engine)->device_first = 1;
    assert_int_equal(host_computes(engine, &A, &o), 0);
    settings_of(engine)->device_first = 0;
    engine->host->measured.flops      = 1e6;
    assert_int_equal(host_computes(engine, &A, &o), 0);
    close_world(engine, &A);
}

/* X fits into the device. The device seems to be faster until the product is cut: 300
   chunks of 10 rows need more launches than were expected, and the host computes. */
static void the_host_is_compared_with_the_cut(void **state)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine = weighed_open(64 << 20);
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, 8, 1, f64, &A);
    engine->device->measured.launch_s = 1e-3;
    engine->host->measured.flops      = 5e6;
    assert_int_equal(host_computes(engine, &A, &o), 0);
    o.chunk_rows = 10;
    assert_int_equal(host_computes(engine, &A, &o), 1);
    close_world(engine, &A);
}

/* Computes C = A*A and checks it. Returns 1 if the host computed it. */
static int host_squares(hybrid_engine *engine, const hybrid_csr *A,
                        const hybrid_plan_options *options)
{
    hybrid_plan *plan;
    hybrid_csr C;
    oracle o;

    assert_int_equal(hybrid_spgemm_plan(engine, A, A, options, &plan), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_run(plan, A, A, &C), HYBRID_OK);
    const int host = !plan->portions->backend->ops->copy;
    assert_int_equal(host, report_of(plan).h2d_bytes == 0);
    assert_int_equal(host, hy_plan_device_s(plan) > 0);
    oracle_spgemm(A, A, &o);
    assert_null(oracle_check(&o, &C, 1));
    oracle_free(&o);
    hybrid_csr_free(engine, &C);
    hybrid_plan_destroy(plan);
    return host;
}

/* SpGEMM goes to the host or the device depending on what it reads and writes, or to the
   device if the caller asks for it. */
static void a_sparse_product_is_weighed(void **state)
{
    static const hy_variant *const table[] = {&hy_spgemm_fake_esc, &hy_spgemm_host_rows,
                                              NULL};
    hybrid_plan_options o                  = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine;
    hybrid_csr A;

    (void)state;
    fake_delays(1, 0);
    assert_int_equal(fake_open(table, 64 << 20, &engine), HYBRID_OK);
    matrix_random(ROWS, ROWS, 8, 1, f64, &A);
    settings_of(engine)->device_first = 0;
    engine->device->measured.h2d_Bps  = 1e6;
    assert_int_equal(host_squares(engine, &A, &o), 1);
    o.split = HYBRID_SPLIT_GPU;
    assert_int_equal(host_squares(engine, &A, &o), 0);
    o.split   = HYBRID_SPLIT_DEFAULT;
    o.variant = "spgemm.fake";
    assert_int_equal(host_squares(engine, &A, &o), 0);
    o.variant                         = NULL;
    settings_of(engine)->device_first = 1;
    assert_int_equal(host_squares(engine, &A, &o), 0);
    settings_of(engine)->device_first = 0;
    engine->host->measured.flops      = 1e3;
    assert_int_equal(host_squares(engine, &A, &o), 0);
    close_world(engine, &A);
}

static void not_if_the_caller_says_who(void **state)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine = weighed_open(SMALL);
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, 8, 1, f64, &A);
    o.split = HYBRID_SPLIT_AUTO;
    assert_int_equal(host_computes(engine, &A, &o), 1);
    o.split = HYBRID_SPLIT_GPU;
    assert_int_equal(host_computes(engine, &A, &o), 0);
    o.split   = HYBRID_SPLIT_DEFAULT;
    o.variant = "spmm.fake";
    assert_int_equal(host_computes(engine, &A, &o), 0);
    o.variant = NULL;
    o.flags   = HYBRID_RESIDENT;
    assert_int_equal(host_computes(engine, &A, &o), 0);
    o.flags        = 0;
    engine->wanted = HYBRID_CUDA;
    assert_int_equal(host_computes(engine, &A, &o), 0);
    close_world(engine, &A);
}

static void not_if_the_host_is_slow(void **state)
{
    const hybrid_plan_options plain = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine           = weighed_open(SMALL);
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, 8, 1, f64, &A);
    engine->host->measured.flops = 1e6;
    assert_int_equal(host_computes(engine, &A, &plain), 0);
    close_world(engine, &A);
}

/* If the host computes, it computes all of A, not the matrix without empty rows and
   columns that the device would get. */
static void empty_rows_are_made_by_the_host(void **state)
{
    const hybrid_plan_options plain = HYBRID_PLAN_OPTIONS_INIT;
    int hosts = 0, devices = 0;

    (void)state;
    for (size_t budget = 32 << 10; budget < 1 << 20; budget *= 2)
        for (int shape = 0; shape < hypersparse_shapes(); shape++) {
            hybrid_engine *engine = weighed_open(budget);
            hybrid_csr A;
            engine->host->measured.flops = 3e10;
            hypersparse_make(shape, f64, &A);
            hybrid_plan *plan     = run_planned(engine, &A, &plain);
            const int hypersparse = hy_is_hypersparse(&plan->product.hypersparse);
            hosts += hy_plan_device_s(plan) > 0;
            devices += hypersparse;
            assert_false(hy_plan_device_s(plan) > 0 && hypersparse);
            hybrid_plan_destroy(plan);
            close_world(engine, &A);
        }
    assert_true(hosts > 2 && devices > 2);
}

/* Each allocation of a call fails once. A call that succeeds in spite of it must be
   right, and a call that fails must leave no memory behind. */
static void failures_leave_nothing(void **state)
{
    const hybrid_plan_options plain = HYBRID_PLAN_OPTIONS_INIT;
    int64_t failed                  = 0;
    hybrid_csr A;

    (void)state;
    for (int64_t n = 1;; n++) {
        hybrid_engine *engine = weighed_open(32 << 10);
        hypersparse_make(0, f64, &A);
        hybrid_plan *plan           = NULL;
        engine->ctx.memory.failures = n;
        const hybrid_status status = hybrid_spmm_plan(engine, &A, COLUMNS, &plain, &plan);
        const int over             = engine->ctx.memory.failures > 0;
        engine->ctx.memory.failures = 0;
        failed += status != HYBRID_OK;
        assert_true(status == HYBRID_OK || strlen(hybrid_engine_message(engine)) > 10);
        hybrid_plan_destroy(plan);
        close_world(engine, &A);
        if (over)
            break;
    }
    assert_true(failed > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_if_x_does_not_fit),
        cmocka_unit_test(columns_that_do_not_fit_are_weighed),
        cmocka_unit_test(not_if_x_passes_through),
        cmocka_unit_test(a_window_is_weighed),
        cmocka_unit_test(an_x_that_fits_is_weighed),
        cmocka_unit_test(the_host_is_compared_with_the_cut),
        cmocka_unit_test(a_sparse_product_is_weighed),
        cmocka_unit_test(not_if_the_caller_says_who),
        cmocka_unit_test(not_if_the_host_is_slow),
        cmocka_unit_test(empty_rows_are_made_by_the_host),
        cmocka_unit_test(failures_leave_nothing),
    };
    return cmocka_run_group_tests_name("choose", tests, NULL, NULL);
}
