/* tests/run/devices/test_split_budgets.c - products shared by a fake device and the host,
   with small budgets of either. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/products/sharing.h"

enum { ROWS = 400, COLS = 8 };

static void make(test_kind kind, hybrid_csr *A, hybrid_dense *X, hybrid_dense *Y)
{
    matrix_random(ROWS, ROWS, 9, 5, kind, A);
    dense_make(ROWS, COLS, 0, HYBRID_ROW_MAJOR, 3, kind, X);
    dense_make(ROWS, COLS, 0, HYBRID_ROW_MAJOR, 4, kind, Y);
}

static void release(hybrid_csr *A, hybrid_dense *X, hybrid_dense *Y)
{
    matrix_free(A);
    dense_free(X);
    dense_free(Y);
}

/* Computes A*X under caps on device memory that decrease from one that holds everything
   to one that holds only chunks with gathered rows, and to one that holds no row. Checks
   results and that caps are kept. */
static void every_device_budget_is_kept(void **state)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    int passed = 0, refused = 0, gathered = 0;
    hybrid_dense X, Y, before;
    hybrid_csr A;

    (void)state;
    make(kind, &A, &X, &Y);
    dense_copy(&Y, &before);
    fake_delays(2, 0);
    for (size_t budget = (size_t)32 << 20; budget >= 256; budget /= 2) {
        hybrid_plan_options options = shared_by(0.4);
        hybrid_engine *engine       = sharing_open(RESIDENT_B, budget, 0);
        hybrid_plan *plan;
        const hybrid_status status = hybrid_spmm_plan(engine, &A, COLS, &options, &plan);
        if (status == HYBRID_OK) {
            for (int run = 0; run < 2; run++) {
                assert_int_equal(hybrid_spmm_run(plan, 1, &A, &X, 0, &Y), HYBRID_OK);
                assert_null(oracle_check_spmm(1, &A, &X, 0, &before, &Y, 1));
                const hybrid_report r = report_of(plan);
                assert_true(r.peak_device_bytes <= (int64_t)budget);
                gathered += r.gathered && r.host_chunks > 0;
            }
            passed++;
            hybrid_plan_destroy(plan);
        } else {
            assert_int_equal(status, HYBRID_NO_DEVICE_MEMORY);
            refused++;
        }
        hybrid_engine_destroy(engine);
    }
    assert_true(passed > 8 && refused > 0 && gathered > 1);
    dense_free(&before);
    release(&A, &X, &Y);
}

static void every_host_budget_is_kept(void **state)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    int passed = 0, refused = 0;
    hybrid_dense X, Y;
    hybrid_csr A;

    (void)state;
    make(kind, &A, &X, &Y);
    for (size_t cap = (size_t)64 << 20; cap >= (size_t)16 << 10; cap = cap * 2 / 3) {
        hybrid_plan_options options = shared_by(0.5);
        hybrid_engine *engine       = sharing_open(RESIDENT_B, 0, cap);
        hybrid_plan *plan;
        hybrid_status status = hybrid_spmm_plan(engine, &A, COLS, &options, &plan);
        const int planned    = status == HYBRID_OK;
        for (int run = 0; run < 2 && status == HYBRID_OK; run++) {
            status = hybrid_spmm_run(plan, 1, &A, &X, 0, &Y);
            assert_true(report_of(plan).peak_host_bytes <= (int64_t)cap);
        }
        if (planned)
            hybrid_plan_destroy(plan);
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        passed += status == HYBRID_OK;
        refused += status == HYBRID_NO_MEMORY;
        hybrid_engine_destroy(engine);
    }
    assert_true(passed > 2 && refused > 2);
    release(&A, &X, &Y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_device_budget_is_kept),
        cmocka_unit_test(every_host_budget_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
