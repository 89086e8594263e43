/* tests/unit/base/test_csr_transpose.c - transposes of sparse matrices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "base/memory/results.h"
#include "tests/support/engines/group.h"
#include "tests/support/subjects/csr_samples.h"

/* ---- transposing ---- */

static void small_transpose_by_hand(void **state)
{
    static const int64_t ptr[] = {0, 2, 4, 7};
    static const int32_t col[] = {2, 3, 0, 3, 0, 2, 3};
    static const double val[]  = {3, 5, 1, 6, 2, 4, 7};
    hybrid_csr A               = sample_small(), T;

    (void)state;
    assert_int_equal(hy_csr_transpose(ctx, &A, &T), HYBRID_OK);
    assert_true(T.rows == 3 && T.cols == 4 && T.nnz == 7);
    assert_true(T.offset_type == HYBRID_I64 && T.type == HYBRID_F64);
    assert_memory_equal(T.row_ptr, ptr, sizeof ptr);
    assert_memory_equal(T.col, col, sizeof col);
    assert_memory_equal(T.val, val, sizeof val);
    hy_csr_free(ctx, &T);
    assert_null(T.row_ptr);
    assert_int_equal(T.rows, 0);
}

/* Returns how many entries of A are missing in T or at another position. */
static int64_t entries_missing(const hybrid_csr *A, const hybrid_csr *T)
{
    const size_t size = hy_value_size(A->type);
    int64_t *next = calloc((size_t)A->cols, sizeof *next), missing = 0;

    assert_non_null(next);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = hy_offset(A, i); k < hy_offset(A, i + 1); k++) {
            const int32_t j  = hy_cols(A)[k];
            const int64_t at = hy_offset(T, j) + next[j]++;
            missing += at >= hy_offset(T, j + 1) || hy_cols(T)[at] != i ||
                       memcmp((char *)T->val + (size_t)at * size,
                              (char *)A->val + (size_t)k * size, size) != 0;
        }
    free(next);
    return missing;
}

static void large_transposes_hold_the_same(void **state)
{
    static const int64_t shapes[][3] = {
        {30000, 500, 7},  /* transposed by counting columns in bands */
        {40, 9000, 3000}, /* few rows, which are long */
        {3000, 90000, 40} /* too many columns to count them by bands */
    };

    (void)state;
    for (int s = 0; s < 3; s++)
        for (int type = HYBRID_F32; type <= HYBRID_F64; type++) {
            hybrid_csr A = sample_random(shapes[s][0], shapes[s][1], shapes[s][2],
                                         (hybrid_type)type);
            hybrid_csr T;
            assert_true(A.nnz > 1 << 16);
            sample_check(&A, HYBRID_OK, "");
            assert_int_equal(hy_csr_transpose(ctx, &A, &T), HYBRID_OK);
            sample_check(&T, HYBRID_OK, "");
            assert_int_equal(T.nnz, A.nnz);
            assert_int_equal(entries_missing(&A, &T), 0);
            hy_csr_free(ctx, &A);
            hy_csr_free(ctx, &T);
        }
}

static void empty_matrices_transpose(void **state)
{
    static const int64_t shapes[][2] = {{0, 0}, {5, 0}, {0, 5}, {4, 6}};
    int64_t zero[6]                  = {0};

    (void)state;
    for (int s = 0; s < 4; s++) {
        hybrid_csr A = {shapes[s][0], shapes[s][1], 0,    HYBRID_I64,
                        zero,         NULL,         NULL, HYBRID_F64};
        hybrid_csr T;
        assert_int_equal(hy_csr_transpose(ctx, &A, &T), HYBRID_OK);
        assert_int_equal(T.rows, A.cols);
        assert_int_equal(T.cols, A.rows);
        sample_check(&T, HYBRID_OK, "");
        hy_csr_free(ctx, &T);
    }
}

static void too_many_rows_cannot_be_columns(void **state)
{
    hybrid_csr A = sample_small(), T = sample_small();

    (void)state;
    A.rows = (int64_t)1 << 31;
    assert_int_equal(hy_csr_transpose(ctx, &A, &T), HYBRID_BAD_MATRIX);
    assert_ptr_equal(T.col, sample_col); /* the transposed matrix is unchanged */
}

/* ---- memory ---- */

static void sizes_that_overflow_are_refused(void **state)
{
    hybrid_csr A = sample_small();

    (void)state;
    assert_int_equal(hy_csr_alloc(ctx, INT64_MAX, 1, 1, HYBRID_F64, &A),
                     HYBRID_NO_MEMORY);
    assert_int_equal(hy_csr_alloc(ctx, -1, 1, 1, HYBRID_F64, &A), HYBRID_NO_MEMORY);
    assert_int_equal(hy_csr_alloc(ctx, 10, 1, INT64_MAX, HYBRID_F64, &A),
                     HYBRID_NO_MEMORY);
    assert_int_equal(hy_csr_alloc(ctx, 10, 1, -1, HYBRID_F64, &A), HYBRID_NO_MEMORY);
    assert_ptr_equal(A.col, sample_col);
}

static void every_failure_to_transpose_frees(void **state)
{
    const int64_t before = hy_meter_used(&ctx->memory.meter);
    hybrid_csr A = sample_small(), T = sample_small();
    int failed = 0;

    (void)state;
    for (int64_t nth = 1;; nth++) {
        ctx->memory.failures       = nth;
        const hybrid_status status = hy_csr_transpose(ctx, &A, &T);
        ctx->memory.failures       = 0;
        if (status == HYBRID_OK)
            break;
        assert_int_equal(status, HYBRID_NO_MEMORY);
        assert_ptr_equal(T.col, sample_col);
        hy_results_trim(ctx);
        assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
        failed++;
    }
    assert_true(failed >= 7); /* allocations: three results (pages and list each), and the
                                 counts */
    hy_csr_free(ctx, &T);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_four_workers, close_context)
    const struct CMUnitTest tests[] = {
        TEST(small_transpose_by_hand),         TEST(large_transposes_hold_the_same),
        TEST(empty_matrices_transpose),        TEST(too_many_rows_cannot_be_columns),
        TEST(sizes_that_overflow_are_refused), TEST(every_failure_to_transpose_frees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
