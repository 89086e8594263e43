/* tests/run/calls/test_arguments.c - NULL, zeros, misaligned and overlapping arrays.

   Each public call must return an error that names the fault, and none may crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "support/engines/host_engine.h"

/* The matrix [1 2 0; 0 0 3; 4 0 5] and a vector. Arrays have an element more than
   needed, so that a test can shift them by one byte. */
static int64_t ptr[5]  = {0, 2, 3, 5};
static int32_t ptr32[] = {0, 2, 3, 5, 0};
static int32_t col[6]  = {0, 1, 2, 0, 2};
static double val[6]   = {1, 2, 3, 4, 5};
static double x[4]     = {1, 10, 100};
static double y[4];

static hybrid_csr A;
static hybrid_dense X, Y;
static hybrid_plan *square, *times_x;

static const hybrid_csr A_RIGHT   = {3, 3, 5, HYBRID_I64, ptr, col, val, HYBRID_F64};
static const hybrid_dense X_RIGHT = {3, 1, 1, HYBRID_ROW_MAJOR, x, HYBRID_F64};
static const hybrid_dense Y_RIGHT = {3, 1, 1, HYBRID_ROW_MAJOR, y, HYBRID_F64};

static void restore(void)
{
    A = A_RIGHT;
    X = X_RIGHT;
    Y = Y_RIGHT;
}

static int set_up(void **state)
{
    restore();
    return open_engine(state) != 0 ||
           hybrid_spgemm_plan(engine, &A, &A, NULL, &square) != HYBRID_OK ||
           hybrid_spmm_plan(engine, &A, 1, NULL, &times_x) != HYBRID_OK;
}

static int tear_down(void **state)
{
    hybrid_plan_destroy(square);
    hybrid_plan_destroy(times_x);
    return close_engine(state);
}

/* ---- NULL and zero ---- */

#define REFUSED(call) assert_int_equal(call, HYBRID_BAD_ARGUMENT)

static void products_without_something(void **state)
{
    hybrid_plan *plan;
    hybrid_csr C;

    (void)state;
    REFUSED(hybrid_spgemm(NULL, &A, &A, &C));
    REFUSED(hybrid_spgemm(engine, NULL, &A, &C));
    REFUSED(hybrid_spgemm(engine, &A, NULL, &C));
    REFUSED(hybrid_spgemm(engine, &A, &A, NULL));
    REFUSED(hybrid_spgemm_with(NULL, NULL, &A, &A, &C));
    REFUSED(hybrid_spgemm_with(engine, NULL, NULL, &A, &C));
    REFUSED(hybrid_spgemm_with(engine, NULL, &A, NULL, &C));
    REFUSED(hybrid_spgemm_with(engine, NULL, &A, &A, NULL));
    REFUSED(hybrid_spmm(NULL, 1, &A, &X, 0, &Y));
    REFUSED(hybrid_spmm(engine, 1, NULL, &X, 0, &Y));
    REFUSED(hybrid_spmm(engine, 1, &A, NULL, 0, &Y));
    REFUSED(hybrid_spmm(engine, 1, &A, &X, 0, NULL));
    REFUSED(hybrid_spmv(NULL, 1, &A, x, 0, y));
    REFUSED(hybrid_spmv(engine, 1, NULL, x, 0, y));
    REFUSED(hybrid_spmv(engine, 1, &A, NULL, 0, y));
    REFUSED(hybrid_spmv(engine, 1, &A, x, 0, NULL));
    REFUSED(hybrid_spgemm_plan(NULL, &A, &A, NULL, &plan));
    REFUSED(hybrid_spgemm_plan(engine, NULL, &A, NULL, &plan));
    REFUSED(hybrid_spgemm_plan(engine, &A, NULL, NULL, &plan));
    REFUSED(hybrid_spgemm_plan(engine, &A, &A, NULL, NULL));
    REFUSED(hybrid_spmm_plan(NULL, &A, 1, NULL, &plan));
    REFUSED(hybrid_spmm_plan(engine, NULL, 1, NULL, &plan));
    REFUSED(hybrid_spmm_plan(engine, &A, -1, NULL, &plan));
    REFUSED(hybrid_spmm_plan(engine, &A, 1, NULL, NULL));
    REFUSED(hybrid_spgemm_run(NULL, &A, &A, &C));
    REFUSED(hybrid_spgemm_run(square, NULL, &A, &C));
    REFUSED(hybrid_spgemm_run(square, &A, NULL, &C));
    REFUSED(hybrid_spgemm_run(square, &A, &A, NULL));
    REFUSED(hybrid_spmm_run(NULL, 1, &A, &X, 0, &Y));
    REFUSED(hybrid_spmm_run(times_x, 1, NULL, &X, 0, &Y));
    REFUSED(hybrid_spmm_run(times_x, 1, &A, NULL, 0, &Y));
    REFUSED(hybrid_spmm_run(times_x, 1, &A, &X, 0, NULL));
}

static void structs_of_zeros(void **state)
{
    static const hybrid_plan_options no_options;
    static const hybrid_engine_options no_engine_options;
    static const hybrid_csr none;
    static hybrid_dense empty;
    hybrid_report report           = {.struct_size = 0};
    hybrid_calibration calibration = {.struct_size = 0};
    hybrid_engine *other;
    hybrid_plan *plan;
    hybrid_csr C;

    (void)state;
    assert_int_equal(hybrid_spgemm(engine, &none, &A, &C), HYBRID_BAD_MATRIX);
    assert_int_equal(hybrid_spgemm(engine, &A, &none, &C), HYBRID_BAD_MATRIX);
    assert_int_equal(hybrid_csr_check(engine, &none), HYBRID_BAD_MATRIX);
    REFUSED(hybrid_spmm(engine, 1, &A, &empty, 0, &Y));
    REFUSED(hybrid_spmm(engine, 1, &A, &X, 0, &empty));
    REFUSED(hybrid_dense_random(engine, 1, &empty));
    REFUSED(hybrid_write_npy(engine, "Y.npy", &empty));
    REFUSED(hybrid_spgemm_plan(engine, &A, &A, &no_options, &plan));
    REFUSED(hybrid_spmm_plan(engine, &A, 1, &no_options, &plan));
    REFUSED(hybrid_engine_create(&no_engine_options, &other));
    REFUSED(hybrid_plan_report(square, &report));
    REFUSED(hybrid_engine_report(engine, &report));
    REFUSED(hybrid_engine_calibrate(engine, "rates", NULL, NULL, &calibration));
}

static void matrices_without_something(void **state)
{
    const hybrid_type none = (hybrid_type)0;
    hybrid_matrix_info info;
    hybrid_csr C;
    hybrid_dense D;
    int64_t row;

    (void)state;
    REFUSED(hybrid_csr_check(NULL, &A));
    REFUSED(hybrid_csr_check(engine, NULL));
    REFUSED(hybrid_csr_transpose(NULL, &A, &C));
    REFUSED(hybrid_csr_transpose(engine, NULL, &C));
    REFUSED(hybrid_csr_transpose(engine, &A, NULL));
    REFUSED(hybrid_csr_info(NULL, &A, &info));
    REFUSED(hybrid_csr_info(engine, NULL, &info));
    REFUSED(hybrid_csr_info(engine, &A, NULL));
    REFUSED(hybrid_dense_create(NULL, 1, 1, HYBRID_ROW_MAJOR, HYBRID_F64, &D));
    REFUSED(hybrid_dense_create(engine, -1, 1, HYBRID_ROW_MAJOR, HYBRID_F64, &D));
    REFUSED(hybrid_dense_create(engine, 1, 1, (hybrid_order)0, HYBRID_F64, &D));
    REFUSED(hybrid_dense_create(engine, 1, 1, HYBRID_ROW_MAJOR, none, &D));
    REFUSED(hybrid_dense_create(engine, 1, 1, HYBRID_ROW_MAJOR, HYBRID_F64, NULL));
    REFUSED(hybrid_dense_random(NULL, 1, &X));
    REFUSED(hybrid_dense_random(engine, 1, NULL));
    REFUSED(hybrid_verify_spgemm(NULL, &A, &A, &A, 1, 1, &row));
    REFUSED(hybrid_verify_spgemm(engine, NULL, &A, &A, 1, 1, &row));
    REFUSED(hybrid_verify_spgemm(engine, &A, NULL, &A, 1, 1, &row));
    REFUSED(hybrid_verify_spgemm(engine, &A, &A, NULL, 1, 1, &row));
    REFUSED(hybrid_verify_spgemm(engine, &A, &A, &A, 0, 1, &row));
    REFUSED(hybrid_verify_spgemm(engine, &A, &A, &A, 1, 1, NULL));
    REFUSED(hybrid_verify_spmm(NULL, &A, &X, &Y, 1, 1, &row));
    REFUSED(hybrid_verify_spmm(engine, NULL, &X, &Y, 1, 1, &row));
    REFUSED(hybrid_verify_spmm(engine, &A, NULL, &Y, 1, 1, &row));
    REFUSED(hybrid_verify_spmm(engine, &A, &X, NULL, 1, 1, &row));
    REFUSED(hybrid_verify_spmm(engine, &A, &X, &Y, 1, 1, NULL));
    REFUSED(hybrid_verify_spmm_tf32(NULL, &A, &X, &Y, 1, 1, &row));
    REFUSED(hybrid_verify_spmm_tf32(engine, NULL, &X, &Y, 1, 1, &row));
}

static void files_without_something(void **state)
{
    hybrid_csr C;
    hybrid_dense D;

    (void)state;
    REFUSED(hybrid_read_mtx(NULL, "A.mtx", HYBRID_F64, &C));
    REFUSED(hybrid_read_mtx(engine, NULL, HYBRID_F64, &C));
    REFUSED(hybrid_read_mtx(engine, "A.mtx", HYBRID_F64, NULL));
    REFUSED(hybrid_write_mtx(NULL, "A.mtx", &A));
    REFUSED(hybrid_write_mtx(engine, NULL, &A));
    REFUSED(hybrid_write_mtx(engine, "A.mtx", NULL));
    REFUSED(hybrid_read_dense(NULL, "X.npy", HYBRID_F64, &D));
    REFUSED(hybrid_read_dense(engine, NULL, HYBRID_F64, &D));
    REFUSED(hybrid_read_dense(engine, "X.npy", HYBRID_F64, NULL));
    REFUSED(hybrid_write_npy(NULL, "X.npy", &X));
    REFUSED(hybrid_write_npy(engine, NULL, &X));
    REFUSED(hybrid_write_npy(engine, "X.npy", NULL));
    REFUSED(hybrid_generate(NULL, "er:10,1", HYBRID_F64, 1, &C));
    REFUSED(hybrid_generate(engine, NULL, HYBRID_F64, 1, &C));
    REFUSED(hybrid_generate(engine, "er:10,1", (hybrid_type)0, 1, &C));
    REFUSED(hybrid_generate(engine, "er:10,1", HYBRID_F64, 1, NULL));
    REFUSED(hybrid_generate(engine, "", HYBRID_F64, 1, &C));
}

static void engines_and_plans_without_something(void **state)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    hybrid_candidate candidate;
    hybrid_variant_info variant;

    (void)state;
    REFUSED(hybrid_engine_create(NULL, NULL));
    REFUSED(hybrid_engine_calibrate(NULL, NULL, NULL, NULL, NULL));
    REFUSED(hybrid_engine_calibrate(engine, "", NULL, NULL, NULL));
    REFUSED(hybrid_engine_report(NULL, &report));
    REFUSED(hybrid_engine_report(engine, NULL));
    REFUSED(hybrid_plan_report(NULL, &report));
    REFUSED(hybrid_plan_report(square, NULL));
    REFUSED(hybrid_plan_candidate(NULL, 0, &candidate));
    REFUSED(hybrid_plan_candidate(square, -1, &candidate));
    REFUSED(hybrid_plan_candidate(square, 0, NULL));
    REFUSED(hybrid_variant_at(-1, &variant));
    REFUSED(hybrid_variant_at(INT32_MAX, &variant));
    REFUSED(hybrid_variant_at(0, NULL));
    REFUSED(hybrid_pin(NULL, y, sizeof y));
    REFUSED(hybrid_pin(engine, NULL, 8));
    REFUSED(hybrid_pin(engine, y, 0));
    REFUSED(hybrid_unpin(NULL, y));
    REFUSED(hybrid_unpin(engine, NULL));
}

/* Calls that return no status must ignore a NULL argument, or return the value that the
   header names for it. */
static void calls_without_a_status(void **state)
{
    hybrid_csr C   = {.rows = 7};
    hybrid_dense D = {.rows = 7};

    (void)state;
    hybrid_engine_destroy(NULL);
    hybrid_engine_trim(NULL);
    hybrid_engine_trace(NULL, NULL, NULL);
    hybrid_plan_destroy(NULL);
    hybrid_plan_refresh(NULL);
    hybrid_csr_free(NULL, &C);
    hybrid_csr_free(engine, NULL);
    hybrid_dense_free(NULL, &D);
    hybrid_dense_free(engine, NULL);
    assert_true(C.rows == 7 && D.rows == 7);
    assert_non_null(hybrid_engine_message(NULL));
    assert_non_null(hybrid_engine_device(NULL));
    assert_int_equal(hybrid_engine_backend(NULL), HYBRID_HOST);
    assert_int_equal(hybrid_engine_threads(NULL), 0);
    assert_int_equal(hybrid_plan_explain(NULL, NULL, 0), 0);
    assert_true(hybrid_plan_explain(square, NULL, 100) > 100);
    assert_string_equal(hybrid_status_text((hybrid_status)-1), "unknown status");
}

/* ---- alignment and overlap ---- */

static hybrid_status multiply(void)
{
    return hybrid_spmm(engine, 1, &A, &X, 0, &Y);
}

static hybrid_status multiply_vector(void)
{
    return hybrid_spmv(engine, 1, &A, X.data, 0, Y.data);
}

static hybrid_status run(void)
{
    return hybrid_spmm_run(times_x, 1, &A, &X, 0, &Y);
}

static hybrid_status run_for_nothing(void)
{
    return hybrid_spmm_run(times_x, 0, &A, &X, 0, &Y);
}

static hybrid_status verify(void)
{
    int64_t row;
    return hybrid_verify_spmm(engine, &A, &X, &Y, 1, 1, &row);
}

/* Fails the test unless all calls that multiply refuse the operands with a message that
   contains `one` or `other`. */
static void refuse_both(const char *one, const char *other)
{
    hybrid_status (*const calls[])(void) = {multiply, multiply_vector, run,
                                            run_for_nothing, verify};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        REFUSED(calls[i]());
        if (!strstr(hybrid_engine_message(engine), one) ||
            !strstr(hybrid_engine_message(engine), other))
            fail_msg("call %zu says '%s', neither '%s' nor '%s'", i,
                     hybrid_engine_message(engine), one, other);
    }
    restore();
}

static void *moved(void *array)
{
    return (char *)array + 1;
}

static void misaligned_arrays_are_named(void **state)
{
    hybrid_csr C;

    (void)state;
    A.row_ptr = moved(ptr);
    refuse_both("A: row_ptr", "not aligned to the 8");
    A.offset_type = HYBRID_I32;
    A.row_ptr     = moved(ptr32);
    refuse_both("A: row_ptr", "not aligned to the 4");
    A.col = moved(col);
    refuse_both("A: col", "not aligned to the 4");
    A.val = (char *)val + 4;
    refuse_both("A: val", "not aligned to the 8");
    X.data = moved(x);
    refuse_both("X: data", "not aligned to the 8");
    Y.data = (char *)y + 4;
    refuse_both("Y: data", "not aligned to the 8");
    A.val = moved(val);
    REFUSED(hybrid_spgemm(engine, &A, &A_RIGHT, &C));
    REFUSED(hybrid_spgemm(engine, &A_RIGHT, &A, &C));
    assert_non_null(strstr(hybrid_engine_message(engine), "B: val"));
    REFUSED(hybrid_csr_check(engine, &A));
    restore();
}

static void y_lies_apart_from_what_is_read(void **state)
{
    (void)state;
    Y.data = x;
    refuse_both("X and Y", "overlap");
    Y.data = x + 2;
    refuse_both("X and Y", "overlap");
    Y.data = ptr;
    refuse_both("A's row_ptr and Y", "overlap");
    Y.data = ptr + 3;
    refuse_both("A's row_ptr and Y", "overlap");
    Y.data = val + 2;
    refuse_both("A's val and Y", "overlap");
    Y.data = y;
    A.col  = (int32_t *)(void *)(y + 1);
    refuse_both("A's col and Y", "overlap");
}

/* Two arrays may touch, and an array without bytes may lie anywhere, even inside
   another. */
static void neighbours_are_apart(void **state)
{
    static double both[6] = {1, 10, 100};
    static int64_t zeros[4];

    (void)state;
    X.data = both;
    Y.data = both + 3;
    assert_int_equal(multiply(), HYBRID_OK);
    assert_true(both[3] == 21 && both[4] == 300 && both[5] == 504);
    A = (hybrid_csr){
        3, 3, 0, HYBRID_I64, zeros, (int32_t *)(void *)(both + 4), both + 4, HYBRID_F64};
    assert_int_equal(multiply(), HYBRID_OK);
    assert_true(both[3] == 0 && both[4] == 0 && both[5] == 0);
    restore();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_without_something),
        cmocka_unit_test(structs_of_zeros),
        cmocka_unit_test(matrices_without_something),
        cmocka_unit_test(files_without_something),
        cmocka_unit_test(engines_and_plans_without_something),
        cmocka_unit_test(calls_without_a_status),
        cmocka_unit_test(misaligned_arrays_are_named),
        cmocka_unit_test(y_lies_apart_from_what_is_read),
        cmocka_unit_test(neighbours_are_apart),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
