/* tests/run/calls/test_api.c - the public interface as a caller uses it. */
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
static int32_t ptr32[] = {0, 2, 3, 5};
/* A*A = [1 2 6; 12 0 15; 24 8 25], computed by hand. */
static void assert_square(const hybrid_csr *C)
{
    static const int64_t ptr[] = {0, 3, 5, 8};
    static const int32_t col[] = {0, 1, 2, 0, 2, 0, 1, 2};
    static const double val[]  = {1, 2, 6, 12, 15, 24, 8, 25};

    assert_int_equal(C->rows, 3);
    assert_int_equal(C->cols, 3);
    assert_int_equal(C->nnz, 8);
    assert_int_equal(C->offset_type, HYBRID_I64);
    assert_memory_equal(C->row_ptr, ptr, sizeof ptr);
    assert_memory_equal(C->col, col, sizeof col);
    assert_memory_equal(C->val, val, sizeof val);
}

static void squares_a_matrix_worked_by_hand(void **state)
{
    const hybrid_csr A = small_matrix();
    hybrid_csr C;

    (void)state;
    assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_OK);
    assert_square(&C);
    hybrid_csr_free(engine, &C);
    assert_null(C.row_ptr);
}

static void takes_offsets_of_both_widths(void **state)
{
    const hybrid_csr A = small_matrix();
    hybrid_csr B       = small_matrix(), C;

    (void)state;
    B.offset_type = HYBRID_I32;
    B.row_ptr     = ptr32;
    assert_int_equal(hybrid_spgemm(engine, &A, &B, &C), HYBRID_OK);
    assert_square(&C);
    hybrid_csr_free(engine, &C);
    assert_int_equal(hybrid_spgemm(engine, &B, &A, &C), HYBRID_OK);
    assert_square(&C);
    hybrid_csr_free(engine, &C);
}

static void multiplies_a_vector_with_alpha_and_beta(void **state)
{
    const hybrid_csr A = small_matrix();
    const double x[]   = {1, 10, 100};
    double y[]         = {1, 1, 1};

    (void)state;
    assert_int_equal(hybrid_spmv(engine, 2, &A, x, 3, y), HYBRID_OK);
    assert_true(y[0] == 2 * 21 + 3 && y[1] == 2 * 300 + 3 && y[2] == 2 * 504 + 3);
}

static void beta_zero_does_not_read_y(void **state)
{
    const hybrid_csr A = small_matrix();
    const double x[]   = {1, 10, 100};
    double y[]         = {NAN, INFINITY, NAN};

    (void)state;
    assert_int_equal(hybrid_spmv(engine, 1, &A, x, 0, y), HYBRID_OK);
    assert_true(y[0] == 21 && y[1] == 300 && y[2] == 504);
}

static void nan_and_infinity_follow_ieee(void **state)
{
    const hybrid_csr A = small_matrix();
    const double x[]   = {0, INFINITY, NAN};
    double y[3];

    (void)state;
    assert_int_equal(hybrid_spmv(engine, 1, &A, x, 0, y), HYBRID_OK);
    assert_true(isinf(y[0]) && isnan(y[1]) && isnan(y[2]));
}

static void cancelled_sums_stay_stored(void **state)
{
    int64_t a_ptr[] = {0, 2}, b_ptr[] = {0, 1, 2};
    int32_t a_col[] = {0, 1}, b_col[] = {0, 0};
    double a_val[] = {1, 1}, b_val[] = {5, -5};
    hybrid_csr A = {1, 2, 2, HYBRID_I64, a_ptr, a_col, a_val, HYBRID_F64};
    hybrid_csr B = {2, 1, 2, HYBRID_I64, b_ptr, b_col, b_val, HYBRID_F64};
    hybrid_csr C;

    (void)state;
    assert_int_equal(hybrid_spgemm(engine, &A, &B, &C), HYBRID_OK);
    assert_int_equal(C.nnz, 1);
    assert_true(((double *)C.val)[0] == 0);
    hybrid_csr_free(engine, &C);
}

static void sizes_of_zero_work(void **state)
{
    int64_t zeros[4] = {0};
    hybrid_csr none  = {0, 3, 0, HYBRID_I64, zeros, NULL, NULL, HYBRID_F64};
    hybrid_csr empty = {3, 0, 0, HYBRID_I64, zeros, NULL, NULL, HYBRID_F64};
    hybrid_csr C;
    hybrid_dense X = {3, 0, 0, HYBRID_ROW_MAJOR, NULL, HYBRID_F64};
    hybrid_dense Y = {3, 0, 0, HYBRID_ROW_MAJOR, NULL, HYBRID_F64};
    hybrid_csr A   = small_matrix();

    (void)state;
    assert_int_equal(hybrid_spgemm(engine, &none, &empty, &C), HYBRID_OK);
    assert_true(C.rows == 0 && C.cols == 0 && C.nnz == 0);
    hybrid_csr_free(engine, &C);
    assert_int_equal(hybrid_spgemm(engine, &empty, &none, &C), HYBRID_OK);
    assert_true(C.rows == 3 && C.cols == 3 && C.nnz == 0);
    assert_true(((int64_t *)C.row_ptr)[3] == 0);
    hybrid_csr_free(engine, &C);
    assert_int_equal(hybrid_spmm(engine, 1, &A, &X, 0, &Y), HYBRID_OK);
}

static void rows_without_entries_still_scale_y(void **state)
{
    int64_t zeros[4]   = {0};
    const hybrid_csr A = {3, 2, 0, HYBRID_I64, zeros, NULL, NULL, HYBRID_F64};
    const double x[]   = {1, 1};
    double y[]         = {1, 2, 3};

    (void)state;
    assert_int_equal(hybrid_spmv(engine, 1, &A, x, 2, y), HYBRID_OK);
    assert_true(y[0] == 2 && y[1] == 4 && y[2] == 6);
}

/* ---- refused calls ---- */

static void shapes_that_do_not_fit_are_named(void **state)
{
    hybrid_csr A = small_matrix(), B = small_matrix(), C;
    int64_t two[] = {0, 2, 5};

    (void)state;
    memset(&C, 0x5a, sizeof C);
    const hybrid_csr before = C;
    B.rows                  = 2;
    B.row_ptr               = two;
    assert_message(hybrid_spgemm(engine, &A, &B, &C), HYBRID_BAD_SHAPE,
                   "B must have 3 rows, not 2");
    assert_memory_equal(&C, &before, sizeof C);
    B      = small_matrix();
    B.type = HYBRID_F32;
    assert_message(hybrid_spgemm(engine, &A, &B, &C), HYBRID_BAD_SHAPE, "f32");
}

static void check_names_row_and_entry(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    int32_t twice[] = {0, 1, 2, 2, 2}, beyond[] = {0, 1, 3, 0, 2};
    hybrid_csr A = small_matrix();
    hybrid_plan *plan;

    (void)state;
    options.flags = HYBRID_CHECK;
    A.col         = twice;
    assert_message(hybrid_spgemm_plan(engine, &A, &A, &options, &plan), HYBRID_BAD_MATRIX,
                   "row 2, entry 1: column 2 does not come after column 2");
    A.col = beyond;
    assert_message(hybrid_spmm_plan(engine, &A, 1, &options, &plan), HYBRID_BAD_MATRIX,
                   "row 1, entry 0: column 3 is not in 0..2");
}

static void bad_arguments_are_refused(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr A                = small_matrix(), C;
    hybrid_plan *plan;
    double xy[6]   = {0};
    hybrid_dense X = {3, 1, 1, HYBRID_ROW_MAJOR, xy, HYBRID_F64};
    hybrid_dense Y = {3, 1, 1, HYBRID_ROW_MAJOR, xy + 2, HYBRID_F64};

    (void)state;
    assert_int_equal(hybrid_spgemm(NULL, &A, &A, &C), HYBRID_BAD_ARGUMENT);
    assert_message(hybrid_spgemm(engine, NULL, &A, &C), HYBRID_BAD_ARGUMENT, "A is NULL");
    assert_message(hybrid_spmm(engine, 1, &A, &X, 0, &Y), HYBRID_BAD_ARGUMENT, "overlap");
    options.flags = 1u << 30;
    assert_message(hybrid_spgemm_plan(engine, &A, &A, &options, &plan),
                   HYBRID_BAD_ARGUMENT, "flags");
    options         = (hybrid_plan_options)HYBRID_PLAN_OPTIONS_INIT;
    options.variant = "spgemm.host.nonsense";
    assert_message(hybrid_spgemm_plan(engine, &A, &A, &options, &plan),
                   HYBRID_UNSUPPORTED, "spgemm.host.nonsense");
    X.ld = 0;
    assert_message(hybrid_spmm(engine, 1, &A, &X, 0, &Y), HYBRID_BAD_ARGUMENT, "ld 0");
}

/* A matrix without entries needs no arrays for them, and one without rows may have any
   number of columns. */
static void what_is_empty_has_no_arrays_and_few_columns(void **state)
{
    static int64_t zeros[4];
    const hybrid_csr A       = small_matrix();
    const hybrid_csr none    = {3, 2, 0, HYBRID_I64, zeros, NULL, NULL, HYBRID_F64};
    const hybrid_csr no_rows = {0, 0, 0, HYBRID_I64, zeros, NULL, NULL, HYBRID_F64};
    hybrid_plan *plan;
    hybrid_csr C;

    (void)state;
    assert_int_equal(hybrid_spgemm(engine, &A, &none, &C), HYBRID_OK);
    assert_true(C.rows == 3 && C.cols == 2 && C.nnz == 0);
    hybrid_csr_free(engine, &C);
    for (int bit = 54; bit < 63; bit++)
        assert_message(hybrid_spmm_plan(engine, &no_rows, (int64_t)1 << bit, NULL, &plan),
                       HYBRID_BAD_ARGUMENT, "dense_cols is ");
    assert_int_equal(hybrid_spmm_plan(engine, &no_rows, 1 << 30, NULL, &plan), HYBRID_OK);
    hybrid_plan_destroy(plan);
}

static void files_are_read_as_f32_or_f64(void **state)
{
    const hybrid_type none = (hybrid_type)0;
    hybrid_csr A           = {.rows = -1};
    hybrid_dense X         = {.rows = -1};

    (void)state;
    assert_message(hybrid_read_mtx(engine, "a.mtx", none, &A), HYBRID_BAD_ARGUMENT,
                   "a.mtx: type 0 is neither HYBRID_F32 nor HYBRID_F64");
    assert_message(hybrid_read_dense(engine, "x.npy", none, &X), HYBRID_BAD_ARGUMENT,
                   "x.npy: type 0 is neither HYBRID_F32 nor HYBRID_F64");
    assert_true(A.rows == -1 && X.rows == -1);
}

static void an_engine_that_cannot_open_says_why(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *other;
    char text[128] = "";

    (void)state;
    options.threads      = -1;
    options.message      = text;
    options.message_size = sizeof text;
    assert_int_equal(hybrid_engine_create(&options, &other), HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(text, "threads is -1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_a_matrix_worked_by_hand),
        cmocka_unit_test(takes_offsets_of_both_widths),
        cmocka_unit_test(multiplies_a_vector_with_alpha_and_beta),
        cmocka_unit_test(beta_zero_does_not_read_y),
        cmocka_unit_test(nan_and_infinity_follow_ieee),
        cmocka_unit_test(cancelled_sums_stay_stored),
        cmocka_unit_test(sizes_of_zero_work),
        cmocka_unit_test(rows_without_entries_still_scale_y),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(check_names_row_and_entry),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(what_is_empty_has_no_arrays_and_few_columns),
        cmocka_unit_test(files_are_read_as_f32_or_f64),
        cmocka_unit_test(an_engine_that_cannot_open_says_why),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
