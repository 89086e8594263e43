/* tests/support/inputs/stored.c - products A*X of whole numbers with X in a file. */
#include "support/inputs/stored.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "support/engines/io_fixture.h"
#include "support/check/oracle.h"

const test_kind stored_kinds[] = {{HYBRID_F32, HYBRID_I64, 1},
                                  {HYBRID_F64, HYBRID_I32, 1}};

/* ---- a matrix in a file ---- */

size_t stored_bytes(const hybrid_dense *X)
{
    const int in_rows   = X->order == HYBRID_ROW_MAJOR;
    const int64_t lines = in_rows ? X->rows : X->cols, line = in_rows ? X->cols : X->rows;

    return lines * line == 0
               ? 0
               : (size_t)((lines - 1) * X->ld + line) * hy_value_size(X->type);
}

static void store_json(const hybrid_dense *X)
{
    char text[512];

    snprintf(
        text, sizeof text,
        "{\"format\": \"hybrid-dense\", \"version\": 1, \"rows\": %lld,\n"
        " \"cols\": %lld, \"type\": \"%s\", \"order\": \"%s\", \"ld\": %lld,\n"
        " \"values\": {\"file\": \"x.bin\", \"offset\": %d}}\n",
        (long long)X->rows, (long long)X->cols, X->type == HYBRID_F64 ? "f64" : "f32",
        X->order == HYBRID_ROW_MAJOR ? "row" : "col", (long long)X->ld, STORED_FRONT);
    io_store(io_temp("x.json"), text, strlen(text));
}

/* The file begins with STORED_FRONT bytes of junk. It ends with the last element,
   without a gap. */
void stored_write(const hybrid_dense *X)
{
    const size_t bytes = stored_bytes(X);
    char *all          = malloc(STORED_FRONT + bytes);

    assert_non_null(all);
    memset(all, 0x55, STORED_FRONT);
    memcpy(all + STORED_FRONT, X->data, bytes);
    io_store(io_temp("x.bin"), all, STORED_FRONT + bytes);
    free(all);
    store_json(X);
}

static void store_csr_json(const char *name, const hybrid_csr *A)
{
    const size_t cols = STORED_FRONT + (size_t)A->nnz * hy_value_size(A->type);
    char text[512], file[64];

    snprintf(text, sizeof text,
             "{\"format\": \"hybrid-csr\", \"version\": 1, \"rows\": %lld,\n"
             " \"cols\": %lld, \"nnz\": %lld, \"type\": \"%s\",\n"
             " \"row_ptr\": {\"file\": \"%s.bin\", \"offset\": %zu, \"type\": \"%s\"},\n"
             " \"col\": {\"file\": \"%s.bin\", \"offset\": %zu, \"type\": \"i32\"},\n"
             " \"values\": {\"file\": \"%s.bin\", \"offset\": %d}}\n",
             (long long)A->rows, (long long)A->cols, (long long)A->nnz,
             A->type == HYBRID_F64 ? "f64" : "f32", name, cols + (size_t)A->nnz * 4,
             A->offset_type == HYBRID_I64 ? "i64" : "i32", name, cols, name,
             STORED_FRONT);
    snprintf(file, sizeof file, "%s.json", name);
    io_store(io_temp(file), text, strlen(text));
}

void stored_write_csr(const char *name, const hybrid_csr *A)
{
    const size_t values  = (size_t)A->nnz * hy_value_size(A->type);
    const size_t cols    = (size_t)A->nnz * 4;
    const size_t offsets = (size_t)(A->rows + 1) * hy_offset_size(A);
    char *all = malloc(STORED_FRONT + values + cols + offsets), *to = all;
    char file[64];

    assert_non_null(all);
    memset(all, 0x55, STORED_FRONT);
    to += STORED_FRONT;
    if (A->nnz > 0) {
        memcpy(to, A->val, values);
        memcpy(to + values, A->col, cols);
    }
    memcpy(to + values + cols, A->row_ptr, offsets);
    snprintf(file, sizeof file, "%s.bin", name);
    io_store(io_temp(file), all, STORED_FRONT + values + cols + offsets);
    free(all);
    store_csr_json(name, A);
}

hybrid_operand stored_csr(hybrid_engine *engine, const char *name, const hybrid_csr *A,
                          int in_file)
{
    char path[64];
    hybrid_file *file;

    if (!in_file)
        return (hybrid_operand){.csr = A};
    stored_write_csr(name, A);
    snprintf(path, sizeof path, "%s.json", name);
    if (hybrid_file_open(engine, io_temp(path), &file) != HYBRID_OK)
        fail_msg("%s", hybrid_engine_message(engine));
    return (hybrid_operand){.file = file};
}

/* ---- products ---- */

void stored_make(stored_trial *t, hybrid_csr A, int64_t width, int orders, int64_t gap,
                 test_kind kind)
{
    t->A = A;
    dense_make(A.cols, width, gap, orders & 1 ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR, 3,
               kind, &t->X);
    dense_make(A.rows, width, 3, orders & 2 ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR, 4,
               kind, &t->Y);
    dense_copy(&t->Y, &t->before);
    stored_write(&t->X);
}

void stored_free(stored_trial *t)
{
    matrix_free(&t->A);
    dense_free(&t->X);
    dense_free(&t->Y);
    dense_free(&t->before);
}

int stored_run(stored_trial *t, double alpha, double beta)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;
    hybrid_file *file;

    options.order = t->X.order;
    if (hybrid_spmm_plan(t->engine, &t->A, t->X.cols, t->options ? t->options : &options,
                         &plan) != HYBRID_OK)
        return 0;
    assert_int_equal(hybrid_file_open(t->engine, io_temp("x.json"), &file), HYBRID_OK);
    for (int i = 0; i < 2; i++) {
        const size_t bytes = stored_bytes(&t->Y);
        memcpy(t->Y.data, t->before.data, bytes);
        const hybrid_status status =
            hybrid_spmm_run_file(plan, alpha, &t->A, file, beta, &t->Y);
        if (status != HYBRID_OK)
            print_error("%s\n", hybrid_engine_message(t->engine));
        assert_int_equal(status, HYBRID_OK);
        assert_null(oracle_check_spmm(alpha, &t->A, &t->X, beta, &t->before, &t->Y, 1));
        assert_true(dense_gaps_intact(&t->Y));
    }
    hybrid_file_close(file);
    hybrid_plan_destroy(plan);
    return 1;
}

hybrid_csr stored_matrix(int banded, test_kind kind)
{
    hybrid_csr A;

    matrix_random(STORED_ROWS, STORED_COLS, 6, 5, kind, &A);
    for (int64_t i = 0; banded && i < STORED_ROWS; i++) {
        const int64_t begin = hy_offset(&A, i), end = hy_offset(&A, i + 1);
        const int64_t first = i * (STORED_COLS - 40) / STORED_ROWS;
        for (int64_t k = begin; k < end; k++)
            hy_cols(&A)[k] = (int32_t)(first + (k - begin));
    }
    return A;
}
