/* tests/unit/io/test_npz_write.c - .npz files that are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "io/npz/npz.h"
#include "support/engines/io_fixture.h"
#include "support/files/io_status.h"
#include "support/inputs/cases.h"

static hybrid_status write_matrix(const hybrid_csr *A, hy_file_writer *writer)
{
    const hy_file_shape shape = {
        .sparse = 1, .rows = A->rows, .cols = A->cols, .nnz = A->nnz, .type = A->type};

    HY_TRY(hy_npz_create(io_ctx, io_temp("b.npz"), &shape, writer));
    const hybrid_status status = writer->ops->sparse(writer, A);
    if (status != HYBRID_OK) {
        writer->ops->abort(writer);
        return status;
    }
    assert_true(writer->rows == A->rows && writer->nnz == A->nnz);
    return writer->ops->finish(writer);
}

static void matrices_survive(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const test_kind kind = {i & 1 ? HYBRID_F32 : HYBRID_F64,
                                i & 2 ? HYBRID_I32 : HYBRID_I64, 0};
        hy_file_writer writer;
        hybrid_csr A, B;
        matrix_random(3000, 400, 30, 1, kind, &A);
        io_ok(write_matrix(&A, &writer));
        io_ok(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("b.npz"), &B));
        assert_true(A.rows == B.rows && A.cols == B.cols && A.nnz == B.nnz &&
                    A.type == B.type);
        for (int64_t row = 0; row <= A.rows; row++)
            assert_int_equal(hy_offset(&A, row), hy_offset(&B, row));
        assert_memory_equal(A.col, B.col, (size_t)A.nnz * 4);
        assert_memory_equal(A.val, B.val, (size_t)A.nnz * hy_value_size(A.type));
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
    io_expect(hy_npz_create(io_ctx, io_temp("b.npz"), &shape, &writer),
              HYBRID_BAD_ARGUMENT,
              "a .npz file needs a sparse matrix whose number of entries is known");
    shape.sparse = 0;
    io_expect(hy_npz_create(io_ctx, io_temp("b.npz"), &shape, &writer),
              HYBRID_BAD_ARGUMENT, "b.npz: a .npz file cannot hold a dense matrix");
    shape.sparse = 1;
    shape.nnz    = INT64_MAX / 8;
    io_expect(hy_npz_create(io_ctx, io_temp("b.npz"), &shape, &writer),
              HYBRID_BAD_ARGUMENT, "b.npz: the matrix is too large for a file");
    shape.nnz = 5;
    io_ok(hy_npz_create(io_ctx, io_temp("b.npz"), &shape, &writer));
    io_expect(writer.ops->finish(&writer), HYBRID_BAD_ARGUMENT,
              "the matrix has fewer rows or entries than were announced");
    writer.ops->abort(&writer);
}

static hybrid_csr written;

static hybrid_status write_again(void)
{
    hy_file_writer writer;

    return write_matrix(&written, &writer);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    matrix_random(30, 40, 3, 1, (test_kind){HYBRID_F64, HYBRID_I32, 0}, &written);
    assert_true(io_fail_each(write_again) > 5);
    matrix_free(&written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_survive),
        cmocka_unit_test(impossible_files_are_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
