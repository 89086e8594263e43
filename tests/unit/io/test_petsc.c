/* tests/unit/io/test_petsc.c - PETSc's binary matrices: offsets from lengths of rows,
   each possible fault, and writing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "io/petsc/petsc.h"
#include "support/engines/io_fixture.h"
#include "support/files/io_status.h"
#include "support/inputs/builder.h"

static const int64_t offsets[] = {0, 2, 2, 4, 6};
static const int32_t columns[] = {0, 2, 1, 3, 0, 3};
static const double values[]   = {1, 2.5, -3, 4, 5, 6e10};

static void matrices_are_read(void **state)
{
    static const char *const names[] = {"good_i4.petsc", "good_i8.petsc",
                                        "good_f4.petsc"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        hybrid_csr A;
        io_ok(hy_matrix_file_read(io_ctx, hy_file_formats, io_data(names[i]), &A));
        assert_true(A.rows == 4 && A.cols == 4 && A.nnz == 6);
        assert_int_equal(A.type, i == 2 ? HYBRID_F32 : HYBRID_F64);
        for (int64_t row = 0; row <= 4; row++)
            assert_int_equal(hy_offset(&A, row), offsets[row]);
        assert_memory_equal(A.col, columns, sizeof columns);
        for (int64_t k = 0; k < 6; k++)
            assert_true(i == 2 ? ((float *)A.val)[k] == (float)values[k]
                               : ((double *)A.val)[k] == values[k]);
        hy_csr_free(io_ctx, &A);
    }
}

static void dense_matrices_are_read(void **state)
{
    hy_matrix_file file;
    double found[4];

    (void)state;
    io_ok(
        hy_matrix_file_open(io_ctx, hy_file_formats, io_data("good_dense.petsc"), &file));
    assert_true(!file.sparse && file.dense.rows == 4 && file.dense.cols == 4 &&
                file.dense.order == HYBRID_ROW_MAJOR && file.values.count == 16);
    io_ok(hy_stored_read(&file.values, 8, 4, found));
    assert_true(found[0] == 0 && found[1] == -3 && found[2] == 0 && found[3] == 4);
    hy_matrix_file_close(&file);
}

/* ---- faults ---- */

static const struct refusal {
    const char *name;
    hybrid_status status;
    const char *sentence;
} refusals[] = {
    {"bad_complex", HYBRID_BAD_FILE,
     "holds complex numbers, and only real ones are read"},
    {"bad_rows", HYBRID_BAD_FILE, "its header has a negative size"},
    {"bad_nnz", HYBRID_BAD_FILE, "its header has a negative size"},
    {"bad_rows_huge", HYBRID_BAD_FILE, "its header has an impossible size"},
    {"bad_nnz_huge", HYBRID_BAD_FILE, "its header has an impossible size"},
    {"bad_dense", HYBRID_BAD_FILE, "its header has an impossible size"},
    {"bad_cols_huge", HYBRID_BAD_FILE, "has more than 2^31 - 1 columns"},
    {"bad_short", HYBRID_BAD_FILE, "is shorter than its header announces"},
    {"bad_dense_short", HYBRID_BAD_FILE, "is shorter than its header announces"},
    {"bad_length", HYBRID_BAD_MATRIX, "row 1: a length of -1 is negative, or exceeds"},
    {"bad_length_large", HYBRID_BAD_MATRIX,
     "row 2: a length of 5 is negative, or exceeds the 4 entries that are left"},
    {"bad_sum", HYBRID_BAD_MATRIX, "its rows have 5 entries, and it announces 6"},
    {"bad_column", HYBRID_BAD_MATRIX, "column 4 is not in 0..3"},
    {"bad_column_wide", HYBRID_BAD_FILE, "number 3 does not fit 32 bits"},
};

static void each_fault_is_named(void **state)
{
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        char name[64];
        hybrid_csr A;
        snprintf(name, sizeof name, "%s.petsc", refusals[i].name);
        io_expect(hy_matrix_file_read(io_ctx, hy_file_formats, io_data(name), &A),
                  refusals[i].status, refusals[i].sentence);
        assert_true(hy_meter_used(&io_ctx->memory.meter) <= used);
    }
}

static void other_files_are_refused(void **state)
{
    hy_matrix_file file = {.ctx = io_ctx};
    hy_entry_reader entries;
    size_t bytes;
    hy_input input;

    (void)state;
    char *all                = io_load(io_data("good_i4.petsc"), &bytes);
    const hy_opening opening = {&input, NULL};
    io_ok(hy_input_copy(io_ctx, "/dev/null", all, bytes, &input));
    io_expect(hy_format_petsc.open(io_ctx, &opening, &file, &entries), HYBRID_BAD_FILE,
              "/dev/null: a PETSc matrix must be in a regular file");
    hy_input_close(io_ctx, &input);
    io_ok(hy_input_copy(io_ctx, "short", all, 14, &input));
    assert_int_equal(hy_format_petsc.is(&input), 0);
    io_expect(hy_format_petsc.open(io_ctx, &opening, &file, &entries), HYBRID_BAD_FILE,
              "short: is not a matrix of PETSc");
    hy_input_close(io_ctx, &input);
    free(all);
}

/* ---- writing ---- */

static hybrid_status write_matrix(const hybrid_csr *A, hy_file_writer *writer)
{
    const hy_file_shape shape = {
        .sparse = 1, .rows = A->rows, .cols = A->cols, .nnz = A->nnz, .type = A->type};

    HY_TRY(hy_petsc_create(io_ctx, io_temp("b.petsc"), &shape, writer));
    const hybrid_status status = writer->ops->sparse(writer, A);
    if (status != HYBRID_OK) {
        writer->ops->abort(writer);
        return status;
    }
    assert_true(writer->rows == A->rows && writer->nnz == A->nnz);
    return writer->ops->finish(writer);
}

/* Makes a matrix of many blocks of 4096 rows, some of them without entries. */
static hybrid_csr tall_matrix(int64_t rows, test_kind kind)
{
    builder b = build_start(rows, 50);

    for (int64_t row = 0; row < rows; row++, build_end_row(&b))
        for (int64_t k = 0; row / 4096 % 3 != 1 && k < row % 4; k++)
            build_add(&b, (row * 7 + k * 11) % 50);
    return build_finish(&b, 1, kind);
}

/* Reads pieces of the offsets that begin and end anywhere in the blocks. */
static void check_offsets(const hybrid_csr *A)
{
    hy_matrix_file file;

    io_ok(hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("b.petsc"), &file));
    int64_t *found = malloc((size_t)(A->rows + 1) * 8);
    assert_non_null(found);
    assert_int_equal(file.row_ptr.count, A->rows + 1);
    for (uint64_t k = 0; k < 40; k++) {
        const int64_t first = k % 4 == 0 ? 0 : test_below(1, k, A->rows + 1);
        const int64_t count =
            k % 4 < 2 ? A->rows + 1 - first : test_below(2, k, A->rows + 2 - first);
        io_ok(hy_stored_read(&file.row_ptr, first, count, found));
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(found[i], hy_offset(A, first + i));
    }
    hy_matrix_file_close(&file);
    free(found);
}

static void lengths_become_offsets(void **state)
{
    static const int64_t rows[] = {0, 1, 4095, 4096, 4097, 20000};

    (void)state;
    for (int i = 0; i < 12; i++) {
        const test_kind kind = {i & 1 ? HYBRID_F32 : HYBRID_F64, HYBRID_I64, 1};
        hy_file_writer writer;
        hybrid_csr A = tall_matrix(rows[i / 2], kind), B;
        io_ok(write_matrix(&A, &writer));
        check_offsets(&A);
        io_ok(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("b.petsc"), &B));
        assert_true(B.nnz == A.nnz && B.type == HYBRID_F64);
        assert_memory_equal(A.col, B.col, (size_t)A.nnz * 4);
        for (int64_t k = 0; k < A.nnz; k++)
            assert_true(((double *)B.val)[k] ==
                        (i & 1 ? (double)((float *)A.val)[k] : ((double *)A.val)[k]));
        hy_csr_free(io_ctx, &B);
        matrix_free(&A);
    }
}

static void impossible_files_are_refused(void **state)
{
    hy_file_shape shape = {
        .sparse = 1, .rows = 3, .cols = 3, .nnz = -1, .type = HYBRID_F32};
    hy_file_writer writer;

    (void)state;
    io_expect(
        hy_petsc_create(io_ctx, io_temp("b.petsc"), &shape, &writer), HYBRID_BAD_ARGUMENT,
        "a sparse matrix of PETSc begins with its number of entries, which is not known");
    shape.nnz = INT64_MAX / 32;
    io_expect(hy_petsc_create(io_ctx, io_temp("b.petsc"), &shape, &writer),
              HYBRID_BAD_ARGUMENT, "b.petsc: the matrix is too large for a file");
    shape.nnz = 5;
    io_ok(hy_petsc_create(io_ctx, io_temp("b.petsc"), &shape, &writer));
    io_expect(writer.ops->finish(&writer), HYBRID_BAD_ARGUMENT,
              "the matrix has fewer rows or entries than were announced");
    writer.ops->abort(&writer);
}

static hybrid_status write_and_read(const hybrid_csr *A)
{
    hy_file_writer writer;
    hybrid_csr B;

    HY_TRY(write_matrix(A, &writer));
    HY_TRY(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("b.petsc"), &B));
    hy_csr_free(io_ctx, &B);
    return HYBRID_OK;
}

static void each_allocation_may_fail(void **state)
{
    hybrid_status status = HYBRID_NO_MEMORY;
    const int64_t used   = hy_meter_used(&io_ctx->memory.meter);
    int64_t failed       = 0;
    hybrid_csr A         = tall_matrix(100, (test_kind){HYBRID_F64, HYBRID_I64, 1});

    (void)state;
    for (int64_t n = 1; n < 200 && status != HYBRID_OK; n++, failed++) {
        io_ctx->memory.failures = n;
        status                  = write_and_read(&A);
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        hy_message_clear(&io_ctx->message);
        assert_true(hy_meter_used(&io_ctx->memory.meter) <= used);
    }
    io_ctx->memory.failures = 0;
    assert_int_equal(status, HYBRID_OK);
    assert_true(failed > 12);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_are_read),
        cmocka_unit_test(dense_matrices_are_read),
        cmocka_unit_test(each_fault_is_named),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(lengths_become_offsets),
        cmocka_unit_test(impossible_files_are_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
