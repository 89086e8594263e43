/* tests/variants/test_host_spmm_bits.c - chunks, threads and the order of X change no bit
   of Y = A*X on the host. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory/results.h"
#include "base/data/csr.h"
#include "host/backend/target.h"
#include "tests/support/subjects/host_spmm.h"

/* Computes Y = A*X in chunks of `rows` rows. */
static void in_chunks(const hybrid_csr *A, const hybrid_dense *X, hybrid_dense *Y,
                      int64_t rows)
{
    for (int64_t i = 0; i < A->rows; i += rows) {
        const hy_chunk chunk = {.row_begin = i,
                                .row_end   = i + rows < A->rows ? i + rows : A->rows,
                                .col_end   = X->cols,
                                .features  = {.row_max = A->nnz}};
        assert_int_equal(host_spmm(A, X, Y, 1, 0, &chunk), HYBRID_OK);
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
    hy_meter *meter   = &host_spmm_ctx->memory.meter;
    const int64_t cap = meter->cap;

    hy_results_trim(host_spmm_ctx);
    host_spmm_ctx->memory.failures = 1;
    check_transposed(A, cols, Y, A->rows);
    assert_int_equal(host_spmm_ctx->memory.failures, 0);
    hy_results_trim(host_spmm_ctx);
    meter->cap = hy_meter_used(meter) + 1;
    check_transposed(A, cols, Y, A->rows);
    meter->cap = cap;
    assert_string_equal(host_spmm_ctx->message.text, "");
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

    host_spmm_long_rows(kind, &A);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        dense_make(A.cols, widths[w], 0, HYBRID_ROW_MAJOR, 1, kind, &X);
        dense_make(A.rows, widths[w], 0, HYBRID_ROW_MAJOR, 2, kind, &Y);
        in_chunks(&A, &X, &Y, A.rows);
        for (int threads = 1; threads <= 7; threads += 3) {
            host_spmm_close_group(state);
            assert_int_equal(host_spmm_open(threads), 0);
            check_bits(&A, &X, &Y);
        }
        dense_free(&X);
        dense_free(&Y);
    }
    matrix_free(&A);
    host_spmm_close_group(state);
    assert_int_equal(host_spmm_open_group(state), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_transposed),
    };
    return cmocka_run_group_tests(tests, host_spmm_open_group, host_spmm_close_group);
}
