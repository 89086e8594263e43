/* tests/test_host_spmm.c - Y = alpha*A*X + beta*Y on the CPU, in all layouts, with every
   instruction set that this CPU has. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/csr.h"
#include "base/variant.h"
#include "host/host_lane.h"
#include "host/target.h"
#include "tests/support/cases.h"
#include "tests/support/context.h"
#include "tests/support/oracle.h"

extern const hy_variant hy_spmm_host_rows;

static hy_context *ctx;
static hy_backend *host;
static hy_lane *lane;
static hy_mark *mark;

static int open_host(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    (void)state;
    ctx = test_context(3);
    if (hy_host_backend_ops.open(ctx, &options, &host) != HYBRID_OK ||
        host->ops->lane_open(host, "run", &lane) != HYBRID_OK)
        return -1;
    return host->ops->mark_new(host, &mark) == HYBRID_OK ? 0 : -1;
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

/* Both types and widths of offsets, whole numbers and others. */
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
    double alpha, beta;
} layout;

static const layout layouts[] = {
    {HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR, 1, 0},
    {HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR, 2, -3},
    {HYBRID_COL_MAJOR, HYBRID_COL_MAJOR, -1, 1},
    {HYBRID_ROW_MAJOR, HYBRID_COL_MAJOR, 3, 0},
    {HYBRID_COL_MAJOR, HYBRID_ROW_MAJOR, 0, 2},
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

    dense_make(A->cols, n, 3, l->x, 21, kind, &X);
    dense_make(A->rows, n, 5, l->y, 22, kind, &Y);
    if (l->beta == 0)
        dense_set(&Y, NAN); /* must not be read */
    dense_copy(&Y, &before);
    const hy_chunk all = {.row_end = A->rows, .col_end = n};
    assert_int_equal(spmm(A, &X, &Y, l->alpha, l->beta, &all), HYBRID_OK);
    assert_null(oracle_check_spmm(l->alpha, A, &X, l->beta, &before, &Y, kind.integers));
    assert_true(dense_gaps_intact(&Y));
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
}

static void dense_products(test_kind kind)
{
    static const int64_t widths[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 64, 129, 290};
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
}

/* A chunk in the middle leaves the rest of Y alone. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spmm),
        cmocka_unit_test(test_spmm_rectangle),
        cmocka_unit_test(test_spmm_nan),
    };
    return cmocka_run_group_tests(tests, open_host, close_host);
}
