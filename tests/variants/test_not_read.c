/* tests/variants/test_not_read.c - alpha == 0 reads neither A nor X, and beta == 0 does
   not read Y, as in BLAS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/engines/host_engine.h"
#include "support/check/not_read.h"
#include "support/products/variants.h"

enum { ROOM = 64 };

static void the_host_reads_what_it_should(void **state)
{
    const char *names[ROOM];
    int64_t checked = 0;

    (void)state;
    assert_true(variants_of("host", names, ROOM) > 0);
    assert_int_equal(not_read_check(engine, names, &checked), 0);
    assert_true(checked >= 180);
}

static void a_device_does_too(void **state)
{
    static const char *const names[] = {"spmm.fake.rows", "spmm.fake.tiled", NULL};
    hybrid_engine *device;
    int64_t checked = 0;

    (void)state;
    fake_delays(1, 0);
    device = fake_spmm(0);
    assert_int_equal(not_read_check(device, names, &checked), 0);
    assert_true(checked >= 300);
    hybrid_engine_destroy(device);
    assert_int_equal(fake_alive(), 0);
}

/* y = alpha*A*x + beta*y reads A and x only if alpha is not 0, and y only if beta is not
   0. The struct A is checked in any case. */
static void vectors_too(void **state)
{
    static int64_t ptr[]   = {0, 1, 2};
    static int32_t col[]   = {0, 1};
    double val[]           = {(double)NAN, (double)INFINITY};
    const double x[]       = {(double)NAN, (double)NAN};
    double y[]             = {(double)NAN, 4};
    const hybrid_csr A     = {2, 2, 2, HYBRID_I64, ptr, col, val, HYBRID_F64};
    const hybrid_csr wrong = {2, 2, 2, (hybrid_index)0, ptr, col, val, HYBRID_F64};
    hybrid_report report   = HYBRID_REPORT_INIT;

    (void)state;
    assert_int_equal(hybrid_spmv(engine, 0, &A, x, -1, y), HYBRID_OK);
    assert_true(isnan(y[0]) && y[1] == -4);
    assert_int_equal(hybrid_spmv(engine, 0, &A, x, 0, y), HYBRID_OK);
    assert_true(y[0] == 0 && y[1] == 0 && !signbit(y[0]) && !signbit(y[1]));
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_OK);
    assert_true(report.nnz_out == 2 && report.chunks == 0 && report.total_s > 0);
    assert_int_equal(hybrid_spmv(engine, 0, &wrong, x, 0, y), HYBRID_BAD_MATRIX);
    assert_int_equal(hybrid_spmv(engine, 0, &A, NULL, 0, y), HYBRID_BAD_ARGUMENT);
}

/* A run with alpha == 0 packs nothing. It must not report chunks as resident, because a
   caller may then free A's arrays. */
static void it_makes_nothing_resident(void **state)
{
    const test_kind f64   = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_report report  = HYBRID_REPORT_INIT;
    hybrid_engine *device = fake_spmm(40000); /* device memory in bytes; A does not fit
                                                 beside X */
    hybrid_dense X, Y;
    hybrid_plan *plan;
    hybrid_csr A;

    (void)state;
    matrix_random(700, 60, 9, 1, f64, &A);
    dense_make(60, 20, 0, HYBRID_ROW_MAJOR, 2, f64, &X);
    dense_make(700, 20, 0, HYBRID_ROW_MAJOR, 3, f64, &Y);
    o.flags = HYBRID_RESIDENT;
    assert_int_equal(hybrid_spmm_plan(device, &A, 20, &o, &plan), HYBRID_OK);
    for (int run = 0; run < 2; run++) {
        assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
        assert_true(report.resident_chunks < report.chunks);
        assert_int_equal(hybrid_spmm_run(plan, run == 0, &A, &X, 0, &Y), HYBRID_OK);
    }
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    assert_true(report.resident_chunks < report.chunks);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(device);
    matrix_free(&A);
    dense_free(&X);
    dense_free(&Y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_reads_what_it_should),
        cmocka_unit_test(a_device_does_too),
        cmocka_unit_test(vectors_too),
        cmocka_unit_test(it_makes_nothing_resident),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
