/* tests/run/calls/test_api_plans.c - plans, reports and events of small products. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/engines/host_engine.h"
#include "support/subjects/small_product.h"

/* arrays of the matrix [1 2 0; 0 0 3; 4 0 5] */
/* ---- refused calls ---- */

static void a_plan_refuses_other_matrices(void **state)
{
    hybrid_csr A      = small_matrix(), C;
    int64_t shorter[] = {0, 2, 3, 4};
    hybrid_plan *plan;

    (void)state;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, NULL, &plan), HYBRID_OK);
    A.row_ptr = shorter;
    A.nnz     = 4;
    assert_message(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_BAD_STATE,
                   "the plan was made for");
    A      = small_matrix();
    A.type = HYBRID_F32;
    assert_message(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_BAD_STATE,
                   "A holds f32 values, but the plan was made for f64");
    hybrid_dense X = {3, 1, 1, HYBRID_ROW_MAJOR, A.val, HYBRID_F64};
    double y[3];
    hybrid_dense Y = {3, 1, 1, HYBRID_ROW_MAJOR, y, HYBRID_F64};
    A              = small_matrix();
    assert_message(hybrid_spmm_run(plan, 1, &A, &X, 0, &Y), HYBRID_BAD_STATE,
                   "but the call is for one with a dense matrix");
    hybrid_plan_destroy(plan);
}

/* ---- plans, reports, events ---- */

typedef struct events {
    int64_t places, multiplies, backwards, last_chunk;
} events;

static void record(void *user, const hybrid_event *event)
{
    events *e = user;

    if (event->part > 0)
        return; /* nothing further is checked, because the number of helping workers
                   depends on timing */
    e->places += strcmp(event->stage, "place") == 0;
    e->multiplies += strcmp(event->stage, "multiply") == 0;
    e->backwards += event->end_ns < event->begin_ns || event->begin_ns <= 0;
    e->last_chunk = event->chunk;
    assert_non_null(event->lane);
    assert_non_null(event->variant);
}

static void every_chunk_is_traced_and_reported(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_report report        = HYBRID_REPORT_INIT;
    hybrid_csr A, C;
    hybrid_plan *plan;
    events e = {0};
    int64_t row;

    (void)state;
    assert_int_equal(hybrid_generate(engine, "stencil7:12", HYBRID_F64, 1, &A),
                     HYBRID_OK);
    options.chunk_rows = 100;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan), HYBRID_OK);
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    assert_int_equal(report.chunks, 18);
    assert_int_equal(report.rows, 1728);
    hybrid_engine_trace(engine, record, &e);
    assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_OK);
    hybrid_engine_trace(engine, NULL, NULL);
    assert_int_equal(e.places, 18);
    assert_int_equal(e.multiplies, 18);
    assert_int_equal(e.backwards, 0);
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    assert_int_equal(report.nnz_out, C.nnz);
    assert_true(report.total_s > 0 && report.reference_s > 0);
    assert_true(report.speedup_over_reference > 0 && report.host_bytes > 0);
    assert_true(report.flops > 0 && report.peak_device_bytes > 0);
    assert_int_equal(hybrid_verify_spgemm(engine, &A, &A, &C, 2, 1, &row), HYBRID_OK);
    assert_int_equal(row, -1);
    hybrid_csr_free(engine, &C);
    hybrid_plan_destroy(plan);
    hybrid_csr_free(engine, &A);
}

static void explain_names_the_choice(void **state)
{
    const hybrid_csr A = small_matrix();
    hybrid_plan *plan;
    hybrid_candidate c;
    char text[4096];

    (void)state;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, NULL, &plan), HYBRID_OK);
    const size_t length = hybrid_plan_explain(plan, NULL, 0);
    assert_in_range(length, 100, sizeof text - 1);
    assert_int_equal(hybrid_plan_explain(plan, text, sizeof text), length);
    assert_int_equal(strlen(text), length);
    assert_non_null(strstr(text, "\nalgorithm   spgemm.host."));
    assert_int_equal(hybrid_plan_candidate(plan, 0, &c), HYBRID_OK);
    assert_non_null(strstr(text, c.variant));
    assert_int_equal(hybrid_plan_candidate(plan, 1000, &c), HYBRID_BAD_ARGUMENT);
    hybrid_plan_destroy(plan);
}

static void host_bytes_is_a_hard_cap(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *tight;
    hybrid_csr A, C;

    (void)state;
    options.backend    = HYBRID_HOST;
    options.host_bytes = 24 << 20;
    options.threads    = 1;
    assert_int_equal(hybrid_engine_create(&options, &tight), HYBRID_OK);
    assert_int_equal(hybrid_generate(tight, "er:20000,10", HYBRID_F64, 1, &A), HYBRID_OK);
    assert_int_equal(hybrid_spgemm(tight, &A, &A, &C), HYBRID_NO_MEMORY);
    assert_non_null(strstr(hybrid_engine_message(tight), " of host memory: "));
    hybrid_csr_free(tight, &A);
    hybrid_engine_destroy(tight);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_refuses_other_matrices),
        cmocka_unit_test(every_chunk_is_traced_and_reported),
        cmocka_unit_test(explain_names_the_choice),
        cmocka_unit_test(host_bytes_is_a_hard_cap),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
