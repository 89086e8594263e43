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
#include "base/memory/results.h"
#include "base/contract/variant.h"
#include "host/backend/host_lane.h"
#include "host/backend/target.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/engines/context.h"
#include "tests/support/check/oracle.h"

extern const hy_variant hy_spmm_host_rows;

static hy_context *ctx;
static hy_backend *host;
static hy_lane *lane;
static hy_mark *mark;

static int open_workers(int threads)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    ctx = test_context(threads);
    if (hy_host_backend_ops.open(ctx, &options, &host) != HYBRID_OK ||
        host->ops->lane_open(host, "run", 0, &lane) != HYBRID_OK)
        return -1;
    return host->ops->mark_new(host, &mark) == HYBRID_OK ? 0 : -1;
}

static int open_host(void **state)
{
    (void)state;
    return open_workers(3);
}

static int close_host(void **state)
{
    (void)state;
    host->ops->lane_close(lane);
    host->ops->mark_free(mark);
    host->ops->close(host);
    test_context_free(ctx);
    return 0;
}

static hybrid_status run(const hy_variant *variant, hy_job *job)
{
    assert_int_equal(variant->multiply(lane, job), HYBRID_OK);
    assert_int_equal(host->ops->mark_set(lane, mark), HYBRID_OK);
    return host->ops->host_wait(mark);
}

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

static hybrid_status spmm(const hybrid_csr *A, const hybrid_dense *X, hybrid_dense *Y,
                          double alpha, double beta, const hy_chunk *chunk)
{
    hy_problem problem = {
        .op = HY_SPMM, .ctx = ctx, .A = A, .X = X, .Y = Y, .alpha = alpha, .beta = beta};
    hy_job job = {.problem = &problem, .chunk = chunk};
    return run(&hy_spmm_host_rows, &job);
}

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
    assert_int_equal(spmm(A, &X, &Y, l->alpha, l->beta, &all), HYBRID_OK);
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

/* ---- long rows ---- */

enum { LONG_COLS = 20000, LONG_ROWS = 10 };

/* Rows of 2 * HY_SEGMENT entries or more are cut into segments: one is far longer than
   that, one just long enough, and one has an entry less. Short and empty rows lie between
   them. */
static void long_rows(test_kind kind, hybrid_csr *A)
{
    static const int64_t lengths[LONG_ROWS] = {3, 20000, 4096, 0, 4095,
                                               1, 13001, 6145, 2, 0};
    int64_t *row_ptr                        = calloc(LONG_ROWS + 1, 8);
    int32_t *col                            = calloc((size_t)LONG_ROWS * LONG_COLS, 4);
    void *val                               = calloc((size_t)LONG_ROWS * LONG_COLS, 8);

    assert_true(row_ptr && col && val);
    for (int i = 0; i < LONG_ROWS; i++) {
        row_ptr[i + 1] = row_ptr[i] + lengths[i];
        for (int64_t k = 0; k < lengths[i]; k++)
            col[row_ptr[i] + k] = (int32_t)(k * LONG_COLS / lengths[i]);
    }
    for (int64_t k = 0; k < row_ptr[LONG_ROWS]; k++)
        value_set(val, kind.type, k, test_number(5, k, kind.integers));
    *A = (hybrid_csr){.rows        = LONG_ROWS,
                      .cols        = LONG_COLS,
                      .nnz         = row_ptr[LONG_ROWS],
                      .offset_type = HYBRID_I64,
                      .type        = kind.type,
                      .row_ptr     = row_ptr,
                      .col         = col,
                      .val         = val};
}

static void test_long_rows(void **state)
{
    static const int64_t widths[] = {1, 3, 33, 130};

    (void)state;
    for (int type = HYBRID_F32; type <= HYBRID_F64; type++)
        for (int integers = 0; integers < 2; integers++) {
            const test_kind kind = {(hybrid_type)type, HYBRID_I64, integers};
            hybrid_csr A;
            long_rows(kind, &A);
            for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
                for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++)
                    check_layout(&A, widths[w], kind, &layouts[l]);
            matrix_free(&A);
        }
    hy_target_stream_from(-1);
}

/* Computes Y = A*X in chunks of `rows` rows. */
static void in_chunks(const hybrid_csr *A, const hybrid_dense *X, hybrid_dense *Y,
                      int64_t rows)
{
    for (int64_t i = 0; i < A->rows; i += rows) {
        const hy_chunk chunk = {.row_begin = i,
                                .row_end   = i + rows < A->rows ? i + rows : A->rows,
                                .col_end   = X->cols,
                                .features  = {.row_max = A->nnz}};
        assert_int_equal(spmm(A, X, Y, 1, 0, &chunk), HYBRID_OK);
    }
}

static void check_bits(const hybrid_csr *A, const hybrid_dense *X,
                       const hybrid_dense *expected)
{
    hybrid_dense Y;

    dense_copy(expected, &Y);
    for (int64_t rows = 1; rows <= A->rows; rows += 3) {
        hy_target_stream_from(rows % 2 - 1); /* streaming stores for results beyond the
                                                cache size (-1), or always (0) */
        dense_set(&Y, NAN);
        in_chunks(A, X, &Y, rows);
        assert_memory_equal(expected->data, Y.data,
                            (size_t)(Y.rows * Y.ld) * sizeof(float));
    }
    hy_target_stream_from(-1);
    dense_free(&Y);
}

/* Computes Y again from a column-major X, in chunks of `rows` rows, and compares the
   bits. */
static void check_transposed(const hybrid_csr *A, const hybrid_dense *cols,
                             const hybrid_dense *Y, int64_t rows)
{
    const size_t size = Y->type == HYBRID_F64 ? 8 : 4;
    hybrid_dense again;

    dense_copy(Y, &again);
    dense_set(&again, NAN);
    in_chunks(A, cols, &again, rows);
    assert_memory_equal(Y->data, again.data, (size_t)(Y->rows * Y->ld) * size);
    dense_free(&again);
}

/* Computes Y with memory for none, or for half, of the columns of X that are transposed
   at once. */
static void check_without_room(const hybrid_csr *A, const hybrid_dense *cols,
                               const hybrid_dense *Y)
{
    hy_meter *meter   = &ctx->memory.meter;
    const int64_t cap = meter->cap;

    hy_results_trim(ctx);
    ctx->memory.failures = 1;
    check_transposed(A, cols, Y, A->rows);
    assert_int_equal(ctx->memory.failures, 0);
    hy_results_trim(ctx);
    meter->cap = hy_meter_used(meter) + 1;
    check_transposed(A, cols, Y, A->rows);
    meter->cap = cap;
    assert_string_equal(ctx->message.text, "");
}

static void check_width(int64_t n, test_kind kind)
{
    hybrid_csr A;
    hybrid_dense X, cols, Y;

    matrix_random(90, 3000, 5, 4, kind, &A);
    dense_make(A.cols, n, 0, HYBRID_ROW_MAJOR, 1, kind, &X);
    dense_reorder(&X, HYBRID_COL_MAJOR, 3, &cols);
    dense_make(A.rows, n, 0, HYBRID_ROW_MAJOR, 2, kind, &Y);
    in_chunks(&A, &X, &Y, A.rows);
    for (int64_t rows = 1; rows <= A.rows; rows += 29)
        check_transposed(&A, &cols, &Y, rows);
    check_without_room(&A, &cols, &Y);
    dense_free(&X);
    dense_free(&cols);
    dense_free(&Y);
    matrix_free(&A);
}

/* With two columns or more, the order of X changes no bit. Chunks transpose the rows of X
   that they need, in as many parts as memory requires. With 257 f64 columns the last
   column is transposed alone. */
static void test_transposed(void **state)
{
    static const int64_t widths[] = {2, 3, 4, 17, 33, 100, 257};

    (void)state;
    for (int type = HYBRID_F32; type <= HYBRID_F64; type++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            check_width(widths[w], (test_kind){(hybrid_type)type, HYBRID_I64, 0});
}

/* Threads, chunks and the kind of stores (ordinary or streaming) change no bit. */
static void test_same_bits(void **state)
{
    static const int64_t widths[] = {1, 3, 128};
    const test_kind kind          = {HYBRID_F32, HYBRID_I64, 0};
    hybrid_csr A;
    hybrid_dense X, Y;

    long_rows(kind, &A);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        dense_make(A.cols, widths[w], 0, HYBRID_ROW_MAJOR, 1, kind, &X);
        dense_make(A.rows, widths[w], 0, HYBRID_ROW_MAJOR, 2, kind, &Y);
        in_chunks(&A, &X, &Y, A.rows);
        for (int threads = 1; threads <= 7; threads += 3) {
            close_host(state);
            assert_int_equal(open_workers(threads), 0);
            check_bits(&A, &X, &Y);
        }
        dense_free(&X);
        dense_free(&Y);
    }
    matrix_free(&A);
    close_host(state);
    assert_int_equal(open_host(state), 0);
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
    assert_int_equal(spmm(&A, &X, &whole, 2, 1, &all), HYBRID_OK);
    assert_int_equal(spmm(&A, &X, &Y, 2, 1, &part), HYBRID_OK);
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
        assert_int_equal(spmm(&A, &X, &Y, 1, 0, &all), HYBRID_OK);
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
    assert_int_equal(spmm(A, &X, &Y, 1, 0, &all), HYBRID_OK);
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
        cmocka_unit_test(test_spmm),       cmocka_unit_test(test_widths),
        cmocka_unit_test(test_long_rows),  cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_transposed), cmocka_unit_test(test_spmm_rectangle),
        cmocka_unit_test(test_spmm_nan),   cmocka_unit_test(test_neighbours),
    };
    return cmocka_run_group_tests(tests, open_host, close_host);
}
