/* tests/run/device/test_direct.c - products with operands and result in the memory of a
   fake device.

   They are planned on the device, computed without a pipeline, and may return before they
   are complete. tests/run/devices/test_space.c and test_space_spgemm.c compare such
   products of many shapes with the oracle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "engine/api/engine.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_memory.h"
#include "support/fake/fake_spmm.h"
#include "support/device/on_device.h"
#include "support/check/oracle.h"
#include "support/device/space_world.h"

static hybrid_status square(space_world *w, const hybrid_plan_options *options)
{
    oracle reference;
    hybrid_csr C;

    HY_TRY(hybrid_spgemm_with(w->engine, options, &w->a, &w->a, &C));
    hybrid_csr here = on_device_fetch(&C);
    oracle_spgemm(&w->A, &w->A, &reference);
    assert_null(oracle_check(&reference, &here, 1));
    oracle_free(&reference);
    matrix_free(&here);
    hybrid_csr_free(w->engine, &C);
    return HYBRID_OK;
}

static hybrid_plan_options there(unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    options.x_space = options.result_space = HYBRID_SPACE_DEVICE;
    options.flags                          = flags;
    return options;
}

static hybrid_plan_options c_there(void)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    options.result_space = HYBRID_SPACE_DEVICE;
    return options;
}

/* ---- one-shot calls ---- */

static void the_device_reads_the_pattern(void **state)
{
    const hybrid_plan_options options = c_there();
    hybrid_report report              = HYBRID_REPORT_INIT;
    space_world w;

    (void)state;
    space_world_open_plain(&w);
    const int64_t fetched = fake_fetched(), surveys = fake_surveys();
    assert_int_equal(hybrid_spmm(w.engine, 1, &w.a, &w.x, 0, &w.y), HYBRID_OK);
    space_world_check(&w, 1, 0);
    assert_int_equal(hybrid_engine_report(w.engine, &report), HYBRID_OK);
    assert_int_equal(report.chunks, 1);
    assert_int_equal(report.flops, 2 * w.A.nnz * SPACE_COLS);
    assert_true(report.plan_s > 0 && report.plan_s <= report.total_s);
    assert_int_equal(square(&w, &options), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(w.engine, &report), HYBRID_OK);
    assert_int_equal(report.chunks, 1);
    assert_int_equal(report.h2d_bytes + report.d2h_bytes, 0);
    assert_int_equal(fake_fetched(), fetched);
    assert_int_equal(fake_surveys(), surveys + 2);
    space_world_close(&w);
}

/* The product does not fit the device in one chunk. It is cut into several, for which
   the host reads the pattern. */
static void what_does_not_fit_is_planned_by_the_host(void **state)
{
    hybrid_engine_options engine = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options options  = c_there();
    hybrid_report report         = HYBRID_REPORT_INIT;
    space_world w;

    (void)state;
    engine.device_bytes = 8 << 10;
    space_world_open(&engine, &w);
    const int64_t fetched = fake_fetched();
    assert_int_equal(square(&w, &options), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(w.engine, &report), HYBRID_OK);
    assert_true(report.chunks > 1);
    assert_true(fake_fetched() > fetched);
    space_world_close(&w);
}

/* If the device finds an error in an operand, the host finds out what it is and names
   it. */
static void wrong_operands_are_named(void **state)
{
    const hybrid_plan_options options = c_there();
    space_world w;
    hybrid_csr C;

    (void)state;
    space_world_open_plain(&w);
    hybrid_csr wide = on_device_wide(0, &w.A, 0), bad = w.a;
    fake_memory_open();
    ((int64_t *)w.a.row_ptr)[3] += 1000;
    fake_memory_close();
    space_world_expect(&w, space_world_spmm(&w, &bad, &w.x, &w.y), HYBRID_BAD_MATRIX,
                       "A: ");
    space_world_expect(&w, hybrid_spgemm_with(w.engine, &options, &bad, &bad, &C),
                       HYBRID_BAD_MATRIX, "row 2");
    fake_memory_open();
    ((int64_t *)w.a.row_ptr)[3] -= 1000;
    ((int32_t *)w.a.col)[7]  = SPACE_ROWS;
    ((int64_t *)wide.col)[5] = -1;
    fake_memory_close();
    space_world_expect(&w, space_world_spmm(&w, &bad, &w.x, &w.y), HYBRID_BAD_MATRIX,
                       "A: ");
    space_world_expect(&w, hybrid_spgemm_with(w.engine, &options, &bad, &bad, &C),
                       HYBRID_BAD_MATRIX, "A: ");
    space_world_expect(&w, space_world_spmm(&w, &wide, &w.x, &w.y), HYBRID_BAD_MATRIX,
                       "A: ");
    on_device_csr_free(&wide);
    space_world_close(&w);
}

/* The rules for operands (such as no column twice in a row) are checked with
   HYBRID_CHECK only. Columns that do not ascend are refused without it, too. */
static void rules_are_checked(void **state)
{
    hybrid_plan_options options = c_there();
    space_world w;
    hybrid_csr C;
    int64_t row = 0; /* the first row of A with two entries */

    (void)state;
    space_world_open_plain(&w);
    const int64_t fetched = fake_fetched(), *row_ptr = w.A.row_ptr;
    options.flags = HYBRID_CHECK;
    assert_int_equal(square(&w, &options), HYBRID_OK);
    assert_int_equal(fake_fetched(), fetched);
    while (row_ptr[row + 1] - row_ptr[row] < 2)
        row++;
    fake_memory_open();
    int32_t *col = (int32_t *)w.a.col + row_ptr[row];
    col[1]       = col[0];
    fake_memory_close();
    space_world_expect(&w, hybrid_spgemm_with(w.engine, &options, &w.a, &w.a, &C),
                       HYBRID_BAD_MATRIX, "A: ");
    space_world_close(&w);
}

typedef struct seen {
    int64_t events, chunk, rows, ns;
    char variant[32];
} seen;

static void see(void *user, const hybrid_event *event)
{
    seen *s = user;

    s->events++;
    s->chunk = event->chunk;
    s->rows  = event->row_end - event->row_begin;
    s->ns    = event->end_ns - event->begin_ns;
    snprintf(s->variant, sizeof s->variant, "%s", event->variant);
}

static void the_product_is_one_event(void **state)
{
    seen s = {0};
    space_world w;

    (void)state;
    space_world_open_plain(&w);
    hybrid_engine_trace(w.engine, see, &s);
    assert_int_equal(space_world_spmm(&w, &w.a, &w.x, &w.y), HYBRID_OK);
    assert_int_equal(s.events, 1);
    assert_int_equal(s.chunk, 0);
    assert_int_equal(s.rows, SPACE_ROWS);
    assert_true(s.ns > 0);
    assert_string_equal(s.variant, "spmm.fake.rows");
    space_world_close(&w);
}

/* ---- faults ---- */

/* Computes products while one call of the device fails. Device memory of a C that was not
   handed out must be freed. */
static hybrid_status try_all(hybrid_engine *engine, void *arg)
{
    const hybrid_plan_options later = there(HYBRID_ASYNC), options = c_there();
    const int64_t before = fake_memory_alive();
    space_world w        = *(const space_world *)arg;
    hybrid_status status;
    hybrid_plan *plan;

    w.engine = engine;
    HY_TRY(fake_explained(engine, hybrid_spmm(engine, 2, &w.a, &w.x, 1, &w.y)));
    status = fake_explained(engine, square(&w, &options));
    assert_int_equal(fake_memory_alive(), before);
    HY_TRY(status);
    HY_TRY(fake_explained(engine,
                          hybrid_spmm_plan(engine, &w.a, SPACE_COLS, &later, &plan)));
    status = fake_explained(engine, hybrid_spmm_run(plan, 2, &w.a, &w.x, 3, &w.y));
    hybrid_plan_destroy(plan);
    return status;
}

static void any_call_may_fail(void **state)
{
    const fake_failing all = {try_all, NULL, 0, 4000, 100};
    fake_failing each      = all;
    space_world w;

    (void)state;
    space_world_open_plain(&w);
    hybrid_engine_destroy(w.engine);
    w.engine = NULL;
    each.arg = &w;
    assert_true(fake_fail_each(&each, &fault_device) > 20);
    space_world_close(&w);
}

/* ---- asynchronous runs ---- */

static void runs_follow_one_another(void **state)
{
    const hybrid_plan_options options = there(HYBRID_ASYNC);
    hybrid_report report              = HYBRID_REPORT_INIT;
    hybrid_plan *plan;
    space_world w;
    int streams[2];

    (void)state;
    space_world_open_plain(&w);
    const int64_t waited = fake_followed(&streams[1]);
    assert_int_equal(hybrid_spmm_plan(w.engine, &w.a, SPACE_COLS, &options, &plan),
                     HYBRID_OK);
    for (int run = 0; run < 6; run++) {
        const double beta = run == 0 ? 2 : 0;
        hybrid_engine_stream(w.engine, &streams[run / 3]);
        assert_int_equal(hybrid_spmm_run(plan, run + 1, &w.a, &w.x, beta, &w.y),
                         HYBRID_OK);
        space_world_check(&w, run + 1, beta);
    }
    assert_int_equal(hybrid_engine_report(w.engine, &report), HYBRID_OK);
    assert_int_equal(report.chunks, 1);
    assert_true(report.total_s > 0 && report.multiply_s == 0);
    /* the host did not wait for the caller's stream; the device does */
    assert_int_equal(fake_followed(&streams[1]), waited);
    assert_int_equal(hybrid_spmm_run(plan, 0, &w.a, &w.x, 0, &w.y), HYBRID_OK);
    space_world_check(&w, 0, 0);
    space_world_expect(&w, hybrid_spmm_run(plan, 1, &w.a, &w.X, 0, &w.y),
                       HYBRID_BAD_STATE, "X");
    hybrid_engine_stream(w.engine, NULL);
    hybrid_plan_destroy(plan);
    space_world_close(&w);
}

static void early_returns_are_for_the_device(void **state)
{
    hybrid_plan_options options = there(HYBRID_ASYNC);
    hybrid_plan *none           = NULL;
    hybrid_csr C;
    space_world w;

    (void)state;
    space_world_open_plain(&w);
    space_world_expect(&w, hybrid_spmm_plan(w.engine, &w.A, SPACE_COLS, &options, &none),
                       HYBRID_UNSUPPORTED, "HYBRID_ASYNC");
    options.chunk_rows = SPACE_ROWS / 2;
    space_world_expect(&w, hybrid_spmm_plan(w.engine, &w.a, SPACE_COLS, &options, &none),
                       HYBRID_UNSUPPORTED, "2 chunks");
    options.chunk_rows   = 0;
    options.result_space = HYBRID_SPACE_HOST;
    space_world_expect(&w, hybrid_spmm_plan(w.engine, &w.a, SPACE_COLS, &options, &none),
                       HYBRID_UNSUPPORTED, "HYBRID_ASYNC");
    options       = c_there();
    options.flags = HYBRID_ASYNC;
    space_world_expect(&w, hybrid_spgemm_with(w.engine, &options, &w.a, &w.a, &C),
                       HYBRID_BAD_ARGUMENT, "HYBRID_ASYNC");
    assert_null(none);
    space_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_reads_the_pattern),
        cmocka_unit_test(what_does_not_fit_is_planned_by_the_host),
        cmocka_unit_test(wrong_operands_are_named),
        cmocka_unit_test(rules_are_checked),
        cmocka_unit_test(the_product_is_one_event),
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(runs_follow_one_another),
        cmocka_unit_test(early_returns_are_for_the_device),
    };
    return cmocka_run_group_tests_name("direct", tests, NULL, NULL);
}
