/* tests/unit/io/test_raw_write.c - matrices that are written as raw numbers: names of the
   files, and files that are replaced or abandoned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "io/formats/raw_write.h"
#include "support/engines/io_fixture.h"
#include "support/files/io_status.h"
#include "support/inputs/cases.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

/* Writes A to NAME.part, as if the file should be renamed to NAME. */
static hybrid_status write_rows(const hybrid_csr *A, const char *name,
                                hy_file_writer *writer)
{
    char target[1024], part[1100];
    const hy_file_shape shape = {.sparse = 1,
                                 .rows   = A->rows,
                                 .cols   = A->cols,
                                 .nnz    = -1,
                                 .type   = A->type,
                                 .target = target};

    snprintf(target, sizeof target, "%s", io_temp(name));
    snprintf(part, sizeof part, "%s.part", target);
    HY_TRY(hy_raw_create(io_ctx, part, &shape, writer));
    const hybrid_status status = writer->ops->sparse(writer, A);
    if (status != HYBRID_OK)
        writer->ops->abort(writer);
    return status;
}

static void put_in_place(const char *name)
{
    char target[1024], part[1100];

    snprintf(target, sizeof target, "%s", io_temp(name));
    snprintf(part, sizeof part, "%s.part", target);
    assert_int_equal(rename(part, target), 0);
}

static void check(const hybrid_csr *A, const char *name)
{
    hybrid_csr B;

    io_ok(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp(name), &B));
    assert_true(A->rows == B.rows && A->cols == B.cols && A->nnz == B.nnz);
    for (int64_t row = 0; row <= A->rows; row++)
        assert_int_equal(hy_offset(A, row), hy_offset(&B, row));
    assert_memory_equal(A->col, B.col, (size_t)A->nnz * 4);
    assert_memory_equal(A->val, B.val, (size_t)A->nnz * 8);
    hy_csr_free(io_ctx, &B);
}

/* Writing a matrix over an old one creates new files beside it. The old matrix must be
   readable until its description is replaced. */
static void an_old_matrix_is_whole_until_it_is_replaced(void **state)
{
    static const char *const names[] = {"C.json", "a \"b\"\\.json", "plain"};

    (void)state;
    for (int n = 0; n < 3; n++) {
        hybrid_csr A, before;
        matrix_random(30, 40, 0, 1, f64, &before);
        for (unsigned i = 0; i < 5; i++) {
            hy_file_writer writer;
            matrix_random(300, 40, 5, i, f64, &A);
            io_ok(write_rows(&A, names[n], &writer));
            if (i > 0)
                check(&before, names[n]);
            io_ok(writer.ops->finish(&writer));
            if (i > 0)
                check(&before, names[n]);
            put_in_place(names[n]);
            check(&A, names[n]);
            matrix_free(&before);
            before = A;
        }
        matrix_free(&before);
    }
}

static void an_abandoned_file_leaves_no_numbers(void **state)
{
    hy_file_writer writer;
    hybrid_csr A;

    (void)state;
    matrix_random(300, 40, 5, 1, f64, &A);
    io_ok(write_rows(&A, "gone.json", &writer));
    assert_int_equal(access(io_temp("gone.index.bin"), F_OK), 0);
    writer.ops->abort(&writer);
    assert_int_equal(access(io_temp("gone.index.bin"), F_OK), -1);
    assert_int_equal(access(io_temp("gone.values.bin"), F_OK), -1);
    matrix_free(&A);
}

static void impossible_files_are_refused(void **state)
{
    hy_file_shape shape = {.sparse = 1, .rows = 3, .cols = INT64_C(1) << 31};
    char name[5000];
    hy_file_writer writer;

    (void)state;
    io_expect(hy_raw_create(io_ctx, "C.json", &shape, &writer), HYBRID_BAD_ARGUMENT,
              "C.json: the matrix is too large for a file");
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    shape.cols            = 3;
    io_expect(hy_raw_create(io_ctx, name, &shape, &writer), HYBRID_BAD_ARGUMENT,
              "a path of 4999 bytes is too long for a file");
    io_expect(hy_raw_create(io_ctx, "/absent/C.json", &shape, &writer), HYBRID_IO_FAILED,
              "cannot write '/absent/C.values.bin': No such file or directory");
}

static void each_allocation_may_fail(void **state)
{
    hybrid_status status = HYBRID_NO_MEMORY;
    int64_t failed       = 0;
    hy_file_writer writer;
    hybrid_csr A;

    (void)state;
    matrix_random(30, 40, 5, 1, f64, &A);
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    for (int64_t n = 1; n < 100 && status != HYBRID_OK; n++, failed++) {
        io_ctx->memory.failures = n;
        status                  = write_rows(&A, "D.json", &writer);
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        if (status != HYBRID_OK)
            assert_int_equal(access(io_temp("D.values.bin"), F_OK), -1);
        hy_message_clear(&io_ctx->message);
    }
    io_ctx->memory.failures = 0;
    io_ok(status);
    io_ok(writer.ops->finish(&writer));
    assert_true(failed > 7);
    assert_true(hy_meter_used(&io_ctx->memory.meter) <= used);
    put_in_place("D.json");
    check(&A, "D.json");
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_matrix_is_whole_until_it_is_replaced),
        cmocka_unit_test(an_abandoned_file_leaves_no_numbers),
        cmocka_unit_test(impossible_files_are_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
