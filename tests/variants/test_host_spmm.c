/* tests/variants/test_host_spmm.c - Y = alpha*A*X + beta*Y on the host.

   Tests all layouts with every instruction set of this CPU. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "host/backend/target.h"
#include "tests/support/check/oracle.h"
#include "tests/support/subjects/host_spmm.h"

/* Calls a test with both value types, both offset types, and whole or real numbers. */
typedef void (*test_body)(test_kind kind);

static void every_kind(test_body body)
{
    for (int type = HYBRID_F32; type <= HYBRID_F64; type++)
        for (int width = HYBRID_I32; width <= HYBRID_I64; width++)
            for (int integers = 0; integers < 2; integers++)
                body((test_kind){(hybrid_type)type, (hybrid_index)width, integers});
}

typedef struct layout {
    hybrid_order x, y;
    int64_t x_gap, y_gap;
    double alpha, beta;
    int64_t stream_from;
} layout;

static const layout layouts[] = {
    {HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR, 3, 5, 1, 0, -1},
    {HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR, 0, 1, 2, -3, 0},
    {HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR, 1, 0, 2, 0, 0}, /* no gap between rows of Y */
    {HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR, 0, 7, 1, 0, 0},
    {HYBRID_COL_MAJOR, HYBRID_COL_MAJOR, 3, 5, -1, 1, -1},
    {HYBRID_ROW_MAJOR, HYBRID_COL_MAJOR, 3, 5, 3, 0, 0},
    {HYBRID_COL_MAJOR, HYBRID_ROW_MAJOR, 3, 5, 0, 2, -1},
    {HYBRID_COL_MAJOR, HYBRID_ROW_MAJOR, 0, 0, 1, 0, 0},
};

static void check_layout(const hybrid_csr *A, int64_t n, test_kind kind, const layout *l)
{
    hybrid_dense X, Y, before;

    hy_target_stream_from(l->stream_from);
    dense_make(A->cols, n, l->x_gap, l->x, 21, kind, &X);
    dense_make(A->rows, n, l->y_gap, l->y, 22, kind, &Y);
    if (l->beta == 0)
        dense_set(&Y, NAN); /* Y must not be read, because beta is 0 */
    dense_copy(&Y, &before);
    const hy_chunk all = {
        .row_end = A->rows, .col_end = n, .features = {.row_max = A->nnz}};
    assert_int_equal(host_spmm(A, &X, &Y, l->alpha, l->beta, &all), HYBRID_OK);
    assert_null(oracle_check_spmm(l->alpha, A, &X, l->beta, &before, &Y, kind.integers));
    assert_true(dense_gaps_intact(&Y));
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
}

static void dense_products(test_kind kind)
{
    static const int64_t widths[] = {0,  1,  2,  3,   4,   5,   8,   9,   16, 31,
                                     32, 33, 64, 100, 128, 129, 192, 256, 512};
    hybrid_csr A;

    matrix_random(70, 45, 7, 9, kind, &A);
    for (int target = HY_TARGET_PORTABLE; target <= HY_TARGET_AVX512; target++) {
        hy_target_limit((hy_target)target);
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++)
                check_layout(&A, widths[w], kind, &layouts[l]);
    }
    matrix_free(&A);
}

static void test_spmm(void **state)
{
    (void)state;
    every_kind(dense_products);
    hy_target_stream_from(-1);
}

enum { WIDTHS = 108 };

/* Tests every number of SIMD vectors of columns that are computed at once, with the last
   vector full or not, for every instruction set. */
static void test_widths(void **state)
{
    const int64_t count = sizeof layouts / sizeof *layouts;

    (void)state;
    for (int target = HY_TARGET_PORTABLE; target <= HY_TARGET_AVX512; target++)
        for (int type = HYBRID_F32; type <= HYBRID_F64; type++) {
            const test_kind kind = {(hybrid_type)type, HYBRID_I32, 1};
            hybrid_csr A;
            hy_target_limit((hy_target)target);
            matrix_random(19, 45, 7, 9, kind, &A);
            for (int64_t n = 1; n <= WIDTHS; n++)
                for (int64_t l = n % 2; l < count; l += 2)
                    check_layout(&A, n, kind, &layouts[l]);
            matrix_free(&A);
        }
    hy_target_stream_from(-1);
}

static void test_long_rows(void **state)
{
    static const int64_t widths[] = {1, 3, 33, 130};

    (void)state;
    for (int type = HYBRID_F32; type <= HYBRID_F64; type++)
        for (int integers = 0; integers < 2; integers++) {
            const test_kind kind = {(hybrid_type)type, HYBRID_I64, integers};
            hybrid_csr A;
            host_spmm_long_rows(kind, &A);
            for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
                for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++)
                    check_layout(&A, widths[w], kind, &layouts[l]);
            matrix_free(&A);
        }
    hy_target_stream_from(-1);
}

/* A chunk in the middle must not change the rest of Y. */
static void test_spmm_rectangle(void **state)
{
    (void)state;
    const test_kind kind = {HYBRID_F64, HYBRID_I32, 1};
    hybrid_csr A;
    hybrid_dense X, Y, before, whole;
    matrix_random(40, 30, 5, 4, kind, &A);
    dense_make(30, 20, 0, HYBRID_ROW_MAJOR, 1, kind, &X);
    dense_make(40, 20, 2, HYBRID_ROW_MAJOR, 2, kind, &Y);
    dense_copy(&Y, &before);
    dense_copy(&Y, &whole);
    const hy_chunk all  = {.row_end = 40, .col_end = 20};
    const hy_chunk part = {.row_begin = 10, .row_end = 25, .col_begin = 3, .col_end = 17};
    assert_int_equal(host_spmm(&A, &X, &whole, 2, 1, &all), HYBRID_OK);
    assert_int_equal(host_spmm(&A, &X, &Y, 2, 1, &part), HYBRID_OK);
    for (int64_t i = 0; i < 40; i++)
        for (int64_t j = 0; j < 20; j++) {
            const int inside = i >= 10 && i < 25 && j >= 3 && j < 17;
            assert_true(dense_at(&Y, i, j) == dense_at(inside ? &whole : &before, i, j));
        }
    matrix_free(&A);
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
    dense_free(&whole);
}

/* A stored zero times infinity is NaN, for any number of columns. */
static void test_spmm_nan(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 70; n += 17) {
        const test_kind kind = {HYBRID_F32, HYBRID_I64, 1};
        hybrid_csr A;
        hybrid_dense X, Y;
        matrix_random(6, 6, 6, 4, kind, &A);
        for (int64_t k = 0; k < A.nnz; k++)
            value_set(A.val, A.type, k, 0);
        dense_make(6, n, 0, HYBRID_ROW_MAJOR, 1, kind, &X);
        dense_make(6, n, 0, HYBRID_ROW_MAJOR, 2, kind, &Y);
        dense_set(&X, INFINITY);
        const hy_chunk all = {.row_end = 6, .col_end = n};
        assert_int_equal(host_spmm(&A, &X, &Y, 1, 0, &all), HYBRID_OK);
        for (int64_t i = 0; i < 6; i++)
            for (int64_t j = 0; j < n && hy_offset(&A, i) < hy_offset(&A, i + 1); j++)
                assert_true(isnan(dense_at(&Y, i, j)));
        matrix_free(&A);
        dense_free(&X);
        dense_free(&Y);
    }
}

/* NaN in rows of A must not spread to neighbouring rows of Y, whatever their lengths.
   With one column, X and Y may have gaps, as if it belonged to a wider matrix. */
static void check_neighbours(const hybrid_csr *A, int64_t n, int64_t gap)
{
    const test_kind kind = {A->type, HYBRID_I32, 1};
    const hy_chunk all   = {.row_end = A->rows, .col_end = n};
    hybrid_dense X, Y;

    dense_make(A->cols, n, gap, HYBRID_ROW_MAJOR, 1, kind, &X);
    dense_make(A->rows, n, gap, HYBRID_ROW_MAJOR, 2, kind, &Y);
    assert_int_equal(host_spmm(A, &X, &Y, 1, 0, &all), HYBRID_OK);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t j = 0; j < n; j++)
            assert_int_equal(isnan(dense_at(&Y, i, j)) != 0,
                             i % 2 == 1 && hy_offset(A, i) < hy_offset(A, i + 1));
    dense_free(&X);
    dense_free(&Y);
}

static void test_neighbours(void **state)
{
    static const int64_t widths[] = {1, 2, 4, 8, 16};

    (void)state;
    for (int target = HY_TARGET_PORTABLE; target <= HY_TARGET_AVX512; target++)
        for (int type = HYBRID_F32; type <= HYBRID_F64; type++) {
            hybrid_csr A;
            hy_target_limit((hy_target)target);
            matrix_random(300, 40, 11, 4, (test_kind){(hybrid_type)type, HYBRID_I32, 1},
                          &A);
            for (int64_t i = 1; i < A.rows; i += 2)
                for (int64_t k = hy_offset(&A, i); k < hy_offset(&A, i + 1); k++)
                    value_set(A.val, A.type, k, NAN);
            for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
                for (int64_t gap = 0; gap < 2; gap++)
                    check_neighbours(&A, widths[w], gap);
            matrix_free(&A);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spmm),      cmocka_unit_test(test_widths),
        cmocka_unit_test(test_long_rows), cmocka_unit_test(test_spmm_rectangle),
        cmocka_unit_test(test_spmm_nan),  cmocka_unit_test(test_neighbours),
    };
    return cmocka_run_group_tests(tests, host_spmm_open_group, host_spmm_close_group);
}
