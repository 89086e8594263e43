/* tests/run/calls/test_each_ends.c - handing over rows of C ends before the last row.

   The function that receives the rows ends it, or a call fails. Calls from inside that
   function are tested too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/inputs/cases.h"
#include "support/runs/each.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fault.h"
#include "support/engines/places.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

/* ---- cancelled ---- */

static void cancelled_at_each_panel(void **state)
{
    enum { ROWS = 260, CHUNK = 11, PANELS = (ROWS + CHUNK - 1) / CHUNK };
    hybrid_csr A, C;
    collected rows;

    (void)state;
    matrix_random(ROWS, ROWS, 5, 4, f64, &A);
    for (place where = 0; where < PLACES; where++) {
        hybrid_engine *engine = place_open(where, 0);
        hybrid_plan *plan     = each_plan(engine, &A, &A, CHUNK, 0);
        assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_OK);
        for (int64_t last = 0; last < PANELS; last++) {
            assert_int_equal(collect(plan, &A, &A, last, &rows), HYBRID_CANCELLED);
            assert_int_equal(rows.panels, last + 1);
            assert_non_null(strstr(hybrid_engine_message(engine), "returned 7 for rows"));
            collected_begins(&rows, &C);
            matrix_free(&rows.C);
        }
        assert_int_equal(collect(plan, &A, &A, PANELS, &rows), HYBRID_OK);
        collected_same(&rows, &C);
        matrix_free(&rows.C);
        hybrid_csr_free(engine, &C);
        hybrid_plan_destroy(plan);
        hybrid_engine_destroy(engine);
    }
    assert_int_equal(fake_alive(), 0);
    matrix_free(&A);
}

/* ---- failures ---- */

/* Runs new plans, of which the first, second, third ... call fails, until no call is
   left. The rows received before the failure must be the first rows of C, and the next
   run must be right. Returns the number of calls. */
static int64_t fail_each(int on_host, const fault_kind *fault)
{
    hybrid_engine *engine = each_open(on_host, 2, 0);
    const int lost        = fault == &fault_lost;
    int64_t n             = 0;
    int struck            = 1;
    hybrid_csr A, C;
    collected rows;

    matrix_random(60, 60, 4, 3, f64, &A);
    assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_OK);
    while (struck) {
        hybrid_plan *plan = each_plan(engine, &A, &A, 13, HYBRID_REUSE);
        fault->arm(engine, ++n);
        const hybrid_status status = collect(plan, &A, &A, -1, &rows);
        if (lost) /* lanes of the plan must not go on when the lost device is back, so
                     the plan is destroyed before */
            hybrid_plan_destroy(plan);
        struck = fault_struck(fault, engine, status);
        assert_true(status == HYBRID_OK || strlen(hybrid_engine_message(engine)) > 10);
        collected_begins(&rows, &C);
        matrix_free(&rows.C);
        if (lost)
            plan = each_plan(engine, &A, &A, 13, HYBRID_REUSE);
        assert_int_equal(collect(plan, &A, &A, -1, &rows), HYBRID_OK);
        collected_same(&rows, &C);
        matrix_free(&rows.C);
        hybrid_plan_destroy(plan);
    }
    hybrid_csr_free(engine, &C);
    hybrid_engine_trim(engine);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
    matrix_free(&A);
    return n - 1;
}

static void each_call_fails(void **state)
{
    (void)state;
    assert_true(fail_each(1, &fault_allocation) >= 2);
    fail_each(0, &fault_allocation);
    assert_true(fail_each(0, &fault_device) > 30);
    assert_true(fail_each(0, &fault_lost) > 30);
}

/* ---- calls from inside ---- */

typedef struct inside {
    hybrid_engine *engine, *other;
    hybrid_plan *plan;
    const hybrid_csr *A;
    hybrid_csr *result; /* result of a call that was made before; the function may free
                           it */
    int64_t calls;
} inside;

static int ignore(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    (void)user;
    (void)row_begin;
    (void)rows;
    return 0;
}

static void all_are_refused(const inside *in, const hybrid_status *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (calls[i] != HYBRID_BAD_STATE)
            fail_msg("call %zu: status %d", i, (int)calls[i]);
    assert_non_null(strstr(hybrid_engine_message(in->engine), "hybrid_spgemm_each()"));
}

/* Calls that read files, made inside the function that receives rows, must be refused.
   Most operands are invalid: a call that read them would return another error. */
static void files_are_refused(const inside *in)
{
    hybrid_engine *engine        = in->engine;
    const hybrid_operand operand = {.csr = in->A};
    hybrid_dense dense           = {0};
    hybrid_file *file            = NULL;
    hybrid_csr C                 = {0};

    const hybrid_status calls[] = {
        hybrid_spmm_run_file(in->plan, 1, in->A, NULL, 0, &dense),
        hybrid_spgemm_files(engine, &operand, &operand, NULL, &C),
        hybrid_spgemm_files_each(engine, &operand, &operand, NULL, ignore, NULL),
        hybrid_spmm_files(engine, 1, &operand, &operand, 0, NULL, &dense),
        hybrid_read_csr(engine, "none", &C),
        hybrid_file_open(engine, "none", &file),
        hybrid_read_mtx(engine, "none", HYBRID_F64, &C),
        hybrid_write_mtx(engine, "none", in->A),
        hybrid_read_dense(engine, "none", HYBRID_F64, &dense),
        hybrid_write_npy(engine, "none", &dense),
    };

    all_are_refused(in, calls, sizeof calls / sizeof *calls);
    assert_null(file);
}

/* All calls that return a status, made inside the function that receives rows, must be
   refused. */
static void are_refused(const inside *in)
{
    hybrid_engine *engine = in->engine;
    const hybrid_csr *A   = in->A;
    hybrid_report report  = HYBRID_REPORT_INIT;
    hybrid_calibration c  = HYBRID_CALIBRATION_INIT;
    hybrid_matrix_info info;
    hybrid_candidate candidate;
    hybrid_dense dense = {0};
    hybrid_plan *plan;
    hybrid_csr C = {0};
    int64_t row;

    const hybrid_status calls[] = {
        hybrid_spgemm_each(in->plan, A, A, ignore, NULL),
        hybrid_spgemm_run(in->plan, A, A, &C),
        hybrid_spmm_run(in->plan, 1, A, &dense, 0, &dense),
        hybrid_spgemm(engine, A, A, &C),
        hybrid_spgemm_with(engine, NULL, A, A, &C),
        hybrid_spmm(engine, 1, A, &dense, 0, &dense),
        hybrid_spmv(engine, 1, A, A->val, 0, A->val),
        hybrid_spgemm_plan(engine, A, A, NULL, &plan),
        hybrid_spmm_plan(engine, A, 1, NULL, &plan),
        hybrid_plan_report(in->plan, &report),
        hybrid_engine_report(engine, &report),
        hybrid_plan_candidate(in->plan, 0, &candidate),
        hybrid_engine_calibrate(engine, "none", NULL, NULL, &c),
        hybrid_pin(engine, A->val, 8),
        hybrid_unpin(engine, A->val),
        hybrid_dense_create(engine, 1, 1, HYBRID_ROW_MAJOR, HYBRID_F64, &dense),
        hybrid_dense_random(engine, 1, &dense),
        hybrid_csr_check(engine, A),
        hybrid_csr_transpose(engine, A, &C),
        hybrid_csr_info(engine, A, &info),
        hybrid_verify_spgemm(engine, A, A, A, 1, 1, &row),
        hybrid_verify_spmm(engine, A, &dense, &dense, 1, 1, &row),
        hybrid_verify_spmm_tf32(engine, A, &dense, &dense, 1, 1, &row),
        hybrid_generate(engine, "road:5", HYBRID_F64, 1, &C),
    };

    all_are_refused(in, calls, sizeof calls / sizeof *calls);
    files_are_refused(in);
}

/* The received rows are a matrix that another engine can multiply inside the
   function. */
static void another_engine_works(const inside *in, const hybrid_csr *rows)
{
    hybrid_csr C;

    assert_int_equal(hybrid_csr_check(in->other, rows), HYBRID_OK);
    assert_int_equal(hybrid_spgemm(in->other, rows, in->A, &C), HYBRID_OK);
    assert_int_equal(C.rows, rows->rows);
    hybrid_csr_free(in->other, &C);
}

static int call_inside(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    inside *in = user;

    (void)row_begin;
    are_refused(in);
    hybrid_plan_destroy(in->plan);
    hybrid_plan_refresh(in->plan);
    hybrid_engine_trim(in->engine);
    hybrid_engine_trace(in->engine, NULL, NULL);
    hybrid_engine_destroy(in->engine);
    hybrid_csr_free(in->engine, in->result);
    assert_null(in->result->col);
    another_engine_works(in, rows);
    in->calls++;
    return 0;
}

static void only_other_engines_can_be_called(void **state)
{
    hybrid_engine *other = each_open(1, 2, 0);
    hybrid_csr A, before, C;
    collected rows;

    (void)state;
    matrix_random(120, 120, 5, 4, f64, &A);
    for (place where = 0; where < PLACES; where++) {
        hybrid_engine *engine = place_open(where, 0);
        hybrid_plan *plan     = each_plan(engine, &A, &A, 30, HYBRID_REUSE);
        assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &before), HYBRID_OK);
        inside in = {engine, other, plan, &A, &before, 0};
        assert_int_equal(hybrid_spgemm_each(plan, &A, &A, call_inside, &in), HYBRID_OK);
        assert_int_equal(in.calls, 4);
        assert_string_equal(hybrid_engine_message(engine), "");
        assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_OK);
        assert_int_equal(collect(plan, &A, &A, -1, &rows), HYBRID_OK);
        collected_same(&rows, &C);
        matrix_free(&rows.C);
        hybrid_csr_free(engine, &C);
        hybrid_plan_destroy(plan);
        hybrid_engine_destroy(engine);
    }
    hybrid_engine_destroy(other);
    assert_int_equal(fake_alive(), 0);
    matrix_free(&A);
}

/* ---- arguments ---- */

static void arguments_are_checked(void **state)
{
    hybrid_engine *engine = each_open(1, 2, 0);
    hybrid_csr A, B;
    hybrid_plan *dense;

    (void)state;
    matrix_random(50, 50, 5, 4, f64, &A);
    matrix_random(50, 50, 5, 5, f64, &B);
    hybrid_plan *plan = each_plan(engine, &A, &A, 0, HYBRID_REUSE);
    assert_int_equal(hybrid_spmm_plan(engine, &A, 1, NULL, &dense), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_each(NULL, &A, &A, ignore, NULL), HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_spgemm_each(plan, &A, &A, NULL, NULL), HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_spgemm_each(plan, NULL, &A, ignore, NULL),
                     HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_spgemm_each(dense, &A, &A, ignore, NULL), HYBRID_BAD_STATE);
    assert_int_equal(hybrid_spgemm_each(plan, &A, &B, ignore, NULL), HYBRID_BAD_STATE);
    assert_int_equal(hybrid_spgemm_each(plan, &A, &A, ignore, NULL), HYBRID_OK);
    assert_string_equal(hybrid_status_text(HYBRID_CANCELLED),
                        "a function of the caller ended the call");
    hybrid_plan_destroy(dense);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
    matrix_free(&B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelled_at_each_panel),
        cmocka_unit_test(each_call_fails),
        cmocka_unit_test(only_other_engines_can_be_called),
        cmocka_unit_test(arguments_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
