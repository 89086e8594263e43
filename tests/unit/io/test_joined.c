/* tests/unit/io/test_joined.c - matrices whose rows are ranges of rows of other files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "io/parts/window.h"
#include "support/engines/io_fixture.h"
#include "support/files/io_status.h"
#include "support/inputs/stored.h"

enum { ROWS = 90, COLS = 40 };

static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 1},
                                  {HYBRID_F64, HYBRID_I64, 1}};

/* Rows [begin, end) of the matrix in a file; end is -1 for all rows from `begin` on. */
typedef struct rows_part {
    const char *file;
    int64_t begin, end;
} rows_part;

/* Writes a description of the matrix whose rows are those of the parts. */
static void write_rows(const rows_part *parts, int64_t count)
{
    FILE *file = fopen(io_temp("rows.json"), "w");

    assert_non_null(file);
    fputs("{\"format\": \"hybrid-rows\", \"version\": 1, \"parts\": [\n", file);
    for (const rows_part *p = parts; p < parts + count; p++) {
        fprintf(file, "  {\"file\": \"%s\"", p->file);
        if (p->begin > 0)
            fprintf(file, ", \"begin\": %lld", (long long)p->begin);
        if (p->end >= 0)
            fprintf(file, ", \"end\": %lld", (long long)p->end);
        fputs(p + 1 < parts + count ? "},\n" : "}\n]}\n", file);
    }
    assert_int_equal(fclose(file), 0);
}

/* Checks that rows of B from row `at` on are rows [begin, end) of A. */
static void check_rows(const hybrid_csr *B, int64_t at, const hybrid_csr *A,
                       int64_t begin, int64_t end)
{
    const size_t size = hy_value_size(A->type);

    for (int64_t row = begin; row < end; row++, at++) {
        const int64_t from = hy_offset(A, row), to = hy_offset(B, at);
        const int64_t count = hy_offset(A, row + 1) - from;
        assert_int_equal(hy_offset(B, at + 1) - to, count);
        assert_memory_equal(hy_cols(B) + to, hy_cols(A) + from, (size_t)count * 4);
        assert_memory_equal((char *)B->val + (size_t)to * size,
                            (char *)A->val + (size_t)from * size, (size_t)count * size);
    }
}

/* A matrix is read whose rows are parts of two files: whole files, windows, and windows
   without rows. */
static void sparse_parts_are_joined(void **state)
{
    static const struct {
        int file;
        int64_t begin, end;
    } list[] = {{0, 0, ROWS}, {1, 7, 8},   {1, 30, 30}, {0, 0, 11}, {1, 80, ROWS},
                {1, 0, ROWS}, {0, 90, 90}, {0, 5, 60},  {1, 90, 90}};
    enum { PARTS = sizeof list / sizeof *list };

    (void)state;
    for (int k = 0; k < 4; k++) {
        rows_part parts[PARTS];
        hybrid_csr A[2], B;
        for (int f = 0; f < 2; f++) {
            matrix_random(ROWS, COLS,
                          f == 0  ? 4
                          : k & 2 ? 0
                                  : 9,
                          3 + (unsigned)f, kinds[k & 1], &A[f]);
            stored_write_csr(f ? "b" : "a", &A[f]);
        }
        for (int p = 0; p < PARTS; p++)
            parts[p] = (rows_part){list[p].file ? "b.json" : "a.json", list[p].begin,
                                   list[p].end == ROWS ? -1 : list[p].end};
        for (int first = 0; first < PARTS; first++) {
            int64_t row = 0;
            write_rows(parts + first, PARTS - first);
            io_ok(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("rows.json"), &B));
            for (int p = first; p < PARTS; row += list[p].end - list[p].begin, p++)
                check_rows(&B, row, &A[list[p].file], list[p].begin, list[p].end);
            assert_true(B.rows == row && B.cols == COLS && B.type == A->type);
            hy_csr_free(io_ctx, &B);
        }
        matrix_free(&A[0]);
        matrix_free(&A[1]);
    }
}

static const char *element(const hybrid_dense *X, const char *data, int64_t row,
                           int64_t col)
{
    const int64_t at =
        X->order == HYBRID_ROW_MAJOR ? row * X->ld + col : col * X->ld + row;

    return data + (size_t)at * hy_value_size(X->type);
}

/* Opens rows.json, whose rows are rows from[0], from[1] ... of X. */
static void check_dense(const hybrid_dense *X, const int64_t *from, int64_t rows)
{
    hy_matrix_file file;

    io_ok(hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("rows.json"), &file));
    const size_t bytes = (size_t)file.values.count * file.values.size;
    char *data         = malloc(bytes);
    assert_non_null(data);
    io_ok(hy_stored_read(&file.values, 0, file.values.count, data));
    assert_true(!file.sparse && file.dense.rows == rows && file.dense.cols == X->cols);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t col = 0; col < X->cols; col++)
            assert_memory_equal(element(&file.dense, data, row, col),
                                element(X, X->data, from[row], col), file.values.size);
    hy_matrix_file_close(&file);
    free(data);
}

static void dense_parts_are_joined(void **state)
{
    static const rows_part one[] = {{"x.json", 2, 5}};
    static const rows_part two[] = {{"x.json", 2, 5}, {"x.json", 0, 1}};
    static const int64_t from[]  = {2, 3, 4, 0};

    (void)state;
    for (int i = 0; i < 8; i++) {
        const hybrid_order order = i & 1 ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR;
        hybrid_dense X;
        dense_make(6, 5, i & 2 ? 3 : 0, order, 1, kinds[i / 4], &X);
        stored_write(&X);
        write_rows(one, 1);
        check_dense(&X, from, 3);
        write_rows(two, 2);
        if (i % 4 == 1)
            check_dense(&X, from, 4);
        else
            io_expect(hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("rows.json"),
                                          &(hy_matrix_file){.ctx = NULL}),
                      HYBRID_BAD_FILE,
                      "a part of a dense matrix must be in rows without gaps");
        dense_free(&X);
    }
}

/* SciPy's arrays may be longer than the last offset says. Entries behind it do not belong
   to the matrix. */
static void entries_behind_a_part_are_left_out(void **state)
{
    char name[4096];
    rows_part parts[2] = {{name, 0, -1}, {name, 0, -1}};
    hybrid_csr A, B;

    (void)state;
    assert_non_null(realpath(io_data("good_longer.npz"), name));
    io_ok(hy_matrix_file_read(io_ctx, hy_file_formats, name, &A));
    assert_int_equal(A.nnz, 6);
    write_rows(parts, 2);
    io_ok(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("rows.json"), &B));
    assert_true(B.rows == 2 * A.rows && B.nnz == 2 * A.nnz);
    check_rows(&B, 0, &A, 0, A.rows);
    check_rows(&B, A.rows, &A, 0, A.rows);
    hy_csr_free(io_ctx, &A);
    hy_csr_free(io_ctx, &B);
}

/* ---- faults ---- */

static void refuse(const rows_part *parts, int64_t count, hybrid_status wanted,
                   const char *sentence)
{
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    hy_matrix_file file;

    write_rows(parts, count);
    io_expect(hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("rows.json"), &file),
              wanted, sentence);
    assert_null(file.ctx);
    assert_true(hy_meter_used(&io_ctx->memory.meter) <= used);
}

static void parts_that_differ_are_refused(void **state)
{
    hybrid_csr A, B, C;
    hybrid_dense X;

    (void)state;
    matrix_random(ROWS, COLS, 4, 1, kinds[0], &A);
    matrix_random(ROWS, COLS + 1, 4, 1, kinds[0], &B);
    matrix_random(ROWS, COLS, 4, 1, kinds[1], &C);
    dense_make(6, COLS, 0, HYBRID_ROW_MAJOR, 1, kinds[0], &X);
    stored_write_csr("a", &A);
    stored_write_csr("b", &B);
    stored_write_csr("c", &C);
    stored_write(&X);
    refuse((rows_part[]){{"a.json", 0, -1}, {"b.json", 0, -1}}, 2, HYBRID_BAD_FILE,
           "b.json: cannot be joined to the rows of ");
    refuse((rows_part[]){{"a.json", 0, -1}, {"b.json", 0, -1}}, 2, HYBRID_BAD_FILE,
           "a.json: they differ in columns");
    refuse((rows_part[]){{"c.json", 0, -1}, {"a.json", 0, -1}}, 2, HYBRID_BAD_FILE,
           "they differ in type");
    refuse((rows_part[]){{"a.json", 0, -1}, {"x.json", 0, -1}}, 2, HYBRID_BAD_FILE,
           "one is sparse and one is dense");
    refuse((rows_part[]){{"a.json", 7, 91}}, 1, HYBRID_BAD_FILE,
           "a.json: rows 7 to 91 are wanted, and the matrix has rows 0 to 90");
    refuse((rows_part[]){{"a.json", 91, -1}}, 1, HYBRID_BAD_FILE,
           "a.json: rows 91 to 90 are wanted");
    refuse((rows_part[]){{"a.json", 0, -1}, {"absent\\n\\\"\\\\.json", 0, -1}}, 2,
           HYBRID_IO_FAILED, "absent\\n\"\\.json': No such file or directory");
    refuse((rows_part[]){{"rows.json", 0, -1}}, 1, HYBRID_BAD_FILE,
           "rows.json: is a list of parts, and cannot be a part of another matrix");
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
    dense_free(&X);
}

static void absurd_sizes_are_refused(void **state)
{
    static const char text[] =
        "{\"format\": \"hybrid-dense\", \"version\": 1, \"rows\": 400000000000000000,\n"
        " \"cols\": 0, \"type\": \"f32\", \"order\": \"row\",\n"
        " \"values\": {\"file\": \"x.bin\"}}";

    (void)state;
    io_store(io_temp("x.bin"), "", 0);
    io_store(io_temp("x.json"), text, strlen(text));
    refuse((rows_part[]){{"x.json", 0, -1}, {"x.json", 0, -1}}, 2, HYBRID_BAD_FILE,
           "rows.json: the parts have 2^59 rows or entries together");
}

/* Opening parts or windows must fail if offset 20 of a.json, or its first or last offset,
   is wrong. */
static void broken_offsets_are_refused(void **state)
{
    const rows_part whole = {"a.json", 0, -1}, upto = {"a.json", 0, 20},
                    from = {"a.json", 20, -1};
    hybrid_csr A, B;

    (void)state;
    for (int k = 0; k < 2; k++) {
        matrix_random(ROWS, COLS, 4, 1, kinds[k], &A);
        stored_write_csr("good", &A);
        const int64_t nnz = A.nnz, at[] = {20, 20, 0, ROWS};
        const int64_t bad[] = {-1, nnz + 1, 1, nnz - 1};
        for (int i = 0; i < 4; i++) {
            const int64_t right = hy_offset(&A, at[i]);
            if (k)
                ((int64_t *)A.row_ptr)[at[i]] = bad[i];
            else
                ((int32_t *)A.row_ptr)[at[i]] = (int32_t)bad[i];
            stored_write_csr("a", &A);
            if (i < 2) {
                refuse(&upto, 1, HYBRID_BAD_MATRIX, "a.json: rows 0..20: offsets 0 and ");
                refuse(&from, 1, HYBRID_BAD_MATRIX, "a.json: rows 20..90: offsets ");
                write_rows((rows_part[]){whole, {"good.json", 0, -1}}, 2);
                io_expect(hy_matrix_file_read(io_ctx, hy_file_formats,
                                              io_temp("rows.json"), &B),
                          HYBRID_BAD_MATRIX, "rows.json: part 0: offset ");
            } else {
                refuse((rows_part[]){whole, {"good.json", 0, -1}}, 2, HYBRID_BAD_MATRIX,
                       i == 2 ? "offset 0 is 1, and must be 0" : "a.json: offset 90 is ");
            }
            if (k)
                ((int64_t *)A.row_ptr)[at[i]] = right;
            else
                ((int32_t *)A.row_ptr)[at[i]] = (int32_t)right;
        }
        matrix_free(&A);
    }
}

/* The offsets of a window are relative to its first row, so that one below that row's
   offset must not become valid. */
static void offsets_below_a_window_are_refused(void **state)
{
    hybrid_csr A, B;

    (void)state;
    for (int k = 0; k < 2; k++) {
        matrix_random(ROWS, COLS, 4, 1, kinds[k], &A);
        if (k)
            ((int64_t *)A.row_ptr)[40] = 3;
        else
            ((int32_t *)A.row_ptr)[40] = 3;
        stored_write_csr("a", &A);
        write_rows((rows_part[]){{"a.json", 20, 60}}, 1);
        io_expect(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("rows.json"), &B),
                  HYBRID_BAD_MATRIX, "decrease or are not in 0..");
        matrix_free(&A);
    }
}

/* A matrix of 200 parts, each with its own arrays, can be read if the process may have
   only 64 open files. */
static void many_parts_need_few_descriptors(void **state)
{
    enum { PARTS = 200, LIMIT = 64 };
    static rows_part parts[PARTS];
    struct rlimit before, limit;
    hybrid_csr A, B;

    (void)state;
    matrix_random(ROWS, COLS, 4, 1, kinds[0], &A);
    stored_write_csr("a", &A);
    for (int p = 0; p < PARTS; p++)
        parts[p] = (rows_part){"a.json", p % ROWS, p % ROWS + 1};
    write_rows(parts, PARTS);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit          = before;
    limit.rlim_cur = LIMIT;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    const hybrid_status status =
        hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("rows.json"), &B);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    io_ok(status);
    assert_int_equal(B.rows, PARTS);
    for (int64_t row = 0; row < PARTS; row++)
        check_rows(&B, row, &A, row % ROWS, row % ROWS + 1);
    hy_csr_free(io_ctx, &B);
    matrix_free(&A);
}

static void each_allocation_may_fail(void **state)
{
    hybrid_status status = HYBRID_NO_MEMORY;
    int64_t failed       = 0;
    hybrid_csr A, B;

    (void)state;
    matrix_random(ROWS, COLS, 4, 1, kinds[0], &A);
    stored_write_csr("a", &A);
    write_rows((rows_part[]){{"a.json", 0, 50}, {"a.json", 50, -1}}, 2);
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    for (int64_t n = 1; n < 100 && status != HYBRID_OK; n++, failed++) {
        io_ctx->memory.failures = n;
        status = hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("rows.json"), &B);
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        if (status != HYBRID_OK)
            assert_true(hy_meter_used(&io_ctx->memory.meter) <= used);
        hy_message_clear(&io_ctx->message);
    }
    io_ctx->memory.failures = 0;
    assert_int_equal(status, HYBRID_OK);
    assert_true(failed > 20);
    check_rows(&B, 0, &A, 0, ROWS);
    hy_csr_free(io_ctx, &B);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_parts_are_joined),
        cmocka_unit_test(dense_parts_are_joined),
        cmocka_unit_test(entries_behind_a_part_are_left_out),
        cmocka_unit_test(parts_that_differ_are_refused),
        cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(broken_offsets_are_refused),
        cmocka_unit_test(offsets_below_a_window_are_refused),
        cmocka_unit_test(many_parts_need_few_descriptors),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
