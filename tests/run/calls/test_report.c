/* tests/run/calls/test_report.c - the report of an engine's last run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include "engine/api/struct_size.h"
#include "support/engines/host_engine.h"

/* The matrix [1 2 0; 0 0 3; 4 0 5]. Its product takes 5 scalar products with a vector,
   and 10 with itself. */
static int64_t row_ptr[]  = {0, 2, 3, 5};
static int32_t cols[]     = {0, 1, 2, 0, 2};
static double vals[]      = {1, 2, 3, 4, 5};
static const hybrid_csr A = {3, 3, 5, HYBRID_I64, row_ptr, cols, vals, HYBRID_F64};

static void there_is_none_before_a_run(void **state)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    hybrid_plan *plan;
    hybrid_csr C;

    (void)state;
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_BAD_STATE);
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, NULL, &plan), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_BAD_STATE);
    hybrid_plan_destroy(plan);
    assert_int_equal(hybrid_spgemm(engine, &A, NULL, &C), HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_BAD_STATE);
}

/* hybrid_engine_report() returns the report of the last run, even if its plan was
   destroyed. */
static void it_is_that_of_the_last_plan_to_run(void **state)
{
    hybrid_report report = HYBRID_REPORT_INIT, other = HYBRID_REPORT_INIT;
    hybrid_plan *plan;
    hybrid_csr C;

    (void)state;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, NULL, &plan), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_OK);
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    hybrid_plan_destroy(plan);
    hybrid_csr_free(engine, &C);
    assert_int_equal(hybrid_engine_report(engine, &other), HYBRID_OK);
    assert_memory_equal(&other, &report, sizeof other);
}

static void one_shot_calls_have_one(void **state)
{
    const double x[]     = {1, 10, 100};
    hybrid_report report = HYBRID_REPORT_INIT;
    double y[3];
    hybrid_csr C;

    (void)state;
    assert_int_equal(hybrid_spmv(engine, 1, &A, x, 0, y), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_OK);
    assert_true(report.nnz_out == 3 && report.flops == 10 && report.total_s > 0);
    assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_OK);
    assert_true(report.nnz_out == 8 && report.rows == 3 && report.total_s > 0);
    assert_int_equal(report.other_h2d_bytes, -1);
    hybrid_csr_free(engine, &C);
}

/* pooled_bytes of a report are the bytes of freed results that the engine keeps for
   reuse. Here they are those of C; y belongs to the caller. */
static void it_tells_the_pooled_memory(void **state)
{
    const double x[]     = {1, 10, 100};
    hybrid_report report = HYBRID_REPORT_INIT;
    double y[3];
    hybrid_csr C;

    (void)state;
    hybrid_engine_trim(engine);
    assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_OK);
    assert_int_equal(report.pooled_bytes, 0);
    hybrid_csr_free(engine, &C);
    assert_int_equal(hybrid_spmv(engine, 1, &A, x, 0, y), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_OK);
    assert_int_equal(report.pooled_bytes, 3 * sysconf(_SC_PAGESIZE));
    hybrid_engine_trim(engine);
    assert_int_equal(hybrid_spmv(engine, 1, &A, x, 0, y), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_OK);
    assert_int_equal(report.pooled_bytes, 0);
}

static void who_asks_wrongly_is_refused(void **state)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    (void)state;
    assert_int_equal(hybrid_engine_report(NULL, &report), HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_engine_report(engine, NULL), HYBRID_BAD_ARGUMENT);
    report.struct_size = hy_report_struct.first - 1;
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_none_before_a_run),
        cmocka_unit_test(it_is_that_of_the_last_plan_to_run),
        cmocka_unit_test(one_shot_calls_have_one),
        cmocka_unit_test(it_tells_the_pooled_memory),
        cmocka_unit_test(who_asks_wrongly_is_refused),
    };
    return cmocka_run_group_tests_name("report", tests, open_engine, close_engine);
}
