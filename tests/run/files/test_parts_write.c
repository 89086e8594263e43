/* tests/run/files/test_parts_write.c - matrices that are written in several parts: their
   rows, the folder of the parts, and what stays after a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "io/results/new_file.h"
#include "support/engines/io_fixture.h"
#include "support/files/io_status.h"
#include "support/inputs/cases.h"

enum { ROWS = 100, COLS = 40 };

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

static int exists(const char *name)
{
    struct stat st;

    return lstat(io_temp(name), &st) == 0;
}

static void clean(void)
{
    char command[1200];

    snprintf(command, sizeof command, "rm -rf '%s'*", io_temp("C"));
    assert_int_equal(system(command), 0);
}

/* ---- writing -------------------------------------------------------------------------
 */

static hybrid_status open_file(hy_file_shape shape, int64_t part_rows, hy_new_file *file)
{
    static char path[1024];

    snprintf(path, sizeof path, "%s", io_temp("C.json"));
    shape.nnz       = -1;
    shape.target    = path;
    shape.part_rows = part_rows;
    return hy_new_file_open(io_ctx, &hy_format_raw, path, &shape, file);
}

static hybrid_status open_sparse(const hybrid_csr *A, int64_t part_rows,
                                 hy_new_file *file)
{
    const hy_file_shape shape = {
        .sparse = 1, .rows = A->rows, .cols = A->cols, .type = A->type};

    return open_file(shape, part_rows, file);
}

/* Appends the rows of A, `step` at a time. */
static hybrid_status append(const hybrid_csr *A, int64_t step, hy_new_file *file)
{
    hybrid_status status = HYBRID_OK;
    int64_t offsets[ROWS + 1];

    for (int64_t i = 0; i < A->rows && status == HYBRID_OK; i += step) {
        const int64_t first = hy_offset(A, i);
        hybrid_csr rows     = *A;
        rows.rows           = hy_min(step, A->rows - i);
        for (int64_t k = 0; k <= rows.rows; k++)
            offsets[k] = hy_offset(A, i + k) - first;
        rows.nnz     = offsets[rows.rows];
        rows.row_ptr = offsets;
        rows.col     = (int32_t *)A->col + first;
        rows.val     = (double *)A->val + first;
        status       = file->writer.ops->sparse(&file->writer, &rows);
    }
    return status;
}

static hybrid_status write_sparse(const hybrid_csr *A, int64_t part_rows, int64_t step)
{
    hy_new_file file;

    HY_TRY(open_sparse(A, part_rows, &file));
    return hy_new_file_close(&file, append(A, step, &file));
}

/* ---- reading -------------------------------------------------------------------------
 */

/* Checks that the file has rows [begin, end) of A. */
static void check_rows(const char *name, const hybrid_csr *A, int64_t begin, int64_t end)
{
    const int64_t first = hy_offset(A, begin);
    hybrid_csr B;

    io_ok(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp(name), &B));
    assert_true(B.rows == end - begin && B.cols == A->cols && B.type == A->type);
    assert_int_equal(B.nnz, hy_offset(A, end) - first);
    for (int64_t row = begin; row <= end; row++)
        assert_int_equal(hy_offset(A, row) - first, hy_offset(&B, row - begin));
    if (B.nnz > 0) {
        assert_memory_equal((int32_t *)A->col + first, B.col, (size_t)B.nnz * 4);
        assert_memory_equal((double *)A->val + first, B.val, (size_t)B.nnz * 8);
    }
    hy_csr_free(io_ctx, &B);
}

static void check(const hybrid_csr *A)
{
    check_rows("C.json", A, 0, A->rows);
}

/* ---- rows ----------------------------------------------------------------------------
 */

static void each_part_has_its_rows(void **state)
{
    static const int64_t sizes[] = {9, 50, 99, 100, 1000}, steps[] = {1, 13, 100};
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, COLS, 5, 1, f64, &A);
    for (int i = 0; i < 15; i++) {
        const int64_t size = sizes[i / 3], parts = (ROWS - 1) / size + 1;
        char name[64];
        io_ok(write_sparse(&A, size, steps[i % 3]));
        check(&A);
        for (int64_t p = 0; p <= parts; p++) {
            snprintf(name, sizeof name, "C.rows/part-%06lld.json", (long long)p);
            assert_int_equal(exists(name), p < parts);
            if (p < parts)
                check_rows(name, &A, p * size, hy_min(ROWS, (p + 1) * size));
        }
        assert_false(exists("C.rows/partial"));
        clean();
    }
    matrix_free(&A);
}

static void a_matrix_without_rows_has_one_part(void **state)
{
    hybrid_csr A;

    (void)state;
    matrix_random(0, COLS, 0, 1, f64, &A);
    io_ok(write_sparse(&A, 7, 1));
    check(&A);
    check_rows("C.rows/part-000000.json", &A, 0, 0);
    matrix_free(&A);
    clean();
}

static void check_dense(const double *X, hybrid_order order)
{
    double Y[ROWS * 3];
    hy_matrix_file file;

    io_ok(hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("C.json"), &file));
    assert_true(file.dense.rows == ROWS && file.dense.cols == 3);
    io_ok(hy_stored_read(&file.values, 0, ROWS * 3, Y));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 3; j++)
            assert_true(Y[i * 3 + j] ==
                        X[order == HYBRID_ROW_MAJOR ? i * 3 + j : j * ROWS + i]);
    hy_matrix_file_close(&file);
}

static void dense_rows_are_divided(void **state)
{
    const hy_file_shape shape = {
        .rows = ROWS, .cols = 3, .type = HYBRID_F64, .order = HYBRID_ROW_MAJOR};
    double X[ROWS * 3];

    (void)state;
    for (int k = 0; k < ROWS * 3; k++)
        X[k] = k;
    for (int i = 0; i < 2; i++) {
        const hybrid_order order = i ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
        const hybrid_dense rows  = {ROWS, 3, i ? ROWS : 3, order, X, HYBRID_F64};
        hy_new_file file;
        io_ok(open_file(shape, 7, &file));
        io_ok(hy_new_file_close(&file, file.writer.ops->dense(&file.writer, &rows)));
        check_dense(X, order);
        clean();
    }
}

/* ---- the folder ----------------------------------------------------------------------
 */

/* The old matrix is whole until the new description replaces the old one. Two folders
   take turns, and no part of an earlier matrix stays in them. */
static void an_old_matrix_is_whole_until_it_is_replaced(void **state)
{
    hybrid_csr A, before;

    (void)state;
    matrix_random(ROWS, COLS, 3, 9, f64, &before);
    io_ok(write_sparse(&before, 7, ROWS));
    for (unsigned i = 1; i < 4; i++) {
        hy_new_file file;
        matrix_random(ROWS / (int)i, COLS, 5, i, f64, &A);
        io_ok(open_sparse(&A, 7, &file));
        const hybrid_status status = append(&A, 9, &file);
        check(&before);
        io_ok(hy_new_file_close(&file, status));
        check(&A);
        assert_true(exists("C.rows") && exists("C.1.rows") && !exists("C.2.rows"));
        matrix_free(&before);
        before = A;
    }
    assert_true(exists("C.1.rows/part-000004.json"));
    assert_false(exists("C.1.rows/part-000005.json"));
    matrix_free(&before);
    clean();
}

static void make_folder(const char *name, const char *file)
{
    char path[1200];

    assert_int_equal(mkdir(io_temp(name), 0777), 0);
    snprintf(path, sizeof path, "%s/%s", io_temp(name), file);
    io_store(path, "x", 1);
}

/* Without C.json, C.rows may belong to a description of another name. A file of that name
   and a link stay, too. */
static void what_belongs_to_others_stays(void **state)
{
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, COLS, 5, 1, f64, &A);
    make_folder("C.rows", "part-000000.json");
    io_store(io_temp("C.1.rows"), "x", 1);
    assert_int_equal(symlink("C.rows", io_temp("C.2.rows")), 0);
    io_ok(write_sparse(&A, 7, ROWS));
    check(&A);
    assert_true(exists("C.rows/part-000000.json") && exists("C.1.rows"));
    assert_true(exists("C.3.rows/part-000000.json"));
    assert_false(exists("C.rows/part-000001.json"));
    matrix_free(&A);
    clean();
}

static void folders_of_killed_processes_are_replaced(void **state)
{
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, COLS, 5, 1, f64, &A);
    for (int locked = 0; locked < 2; locked++) {
        make_folder("C.rows", "partial");
        io_store(io_temp("C.rows/part-000099.json"), "x", 1);
        const int fd = open(io_temp("C.rows"), O_RDONLY | O_DIRECTORY);
        assert_int_equal(locked ? flock(fd, LOCK_EX) : 0, 0);
        io_ok(write_sparse(&A, 7, ROWS));
        check(&A);
        assert_int_equal(exists("C.rows/part-000099.json"), locked);
        assert_int_equal(exists("C.1.rows"), locked);
        close(fd);
        clean();
    }
    matrix_free(&A);
}

/* ---- failures ------------------------------------------------------------------------
 */

static void an_abandoned_matrix_leaves_nothing(void **state)
{
    hy_new_file file;
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, COLS, 5, 1, f64, &A);
    io_ok(open_sparse(&A, 7, &file));
    io_ok(append(&A, 10, &file));
    assert_true(exists("C.rows/part-000013.json"));
    assert_true(exists("C.rows/partial"));
    assert_int_equal(hy_new_file_close(&file, HYBRID_CANCELLED), HYBRID_CANCELLED);
    assert_false(exists("C.rows") || exists("C.json"));
    matrix_free(&A);
}

static void wrong_numbers_of_rows_are_refused(void **state)
{
    hybrid_csr A, more;
    hy_new_file file;

    (void)state;
    matrix_random(ROWS, COLS, 5, 1, f64, &A);
    more      = A;
    more.rows = ROWS / 2;
    io_ok(open_sparse(&more, 25, &file));
    io_expect(hy_new_file_close(&file, append(&A, ROWS, &file)), HYBRID_BAD_ARGUMENT,
              "the matrix has more rows than were announced");
    io_ok(open_sparse(&A, 25, &file));
    io_expect(hy_new_file_close(&file, append(&more, ROWS, &file)), HYBRID_BAD_ARGUMENT,
              "fewer rows or entries than were announced");
    assert_false(exists("C.rows") || exists("C.json"));
    matrix_free(&A);
}

static void impossible_folders_are_refused(void **state)
{
    const hy_file_shape shape = {
        .sparse = 1, .rows = 4096, .cols = 3, .type = HYBRID_F64};
    char path[1024];
    hy_file_writer writer;

    (void)state;
    snprintf(path, sizeof path, "%s", io_temp(""));
    const size_t folder = strlen(path);
    memset(path + folder, '"', 240);
    snprintf(path + folder + 240, 8, ".json");
    hy_file_shape s = shape;
    s.part_rows     = 1;
    io_expect(hy_format_raw.create(io_ctx, path, &s, &writer), HYBRID_BAD_ARGUMENT,
              "a description has no room for 4096 parts with such a long name");
    s.part_rows = 1000;
    io_ok(hy_format_raw.create(io_ctx, path, &s, &writer));
    writer.ops->abort(&writer);
    unlink(path);
    io_expect(hy_format_raw.create(io_ctx, "/absent/C.json", &s, &writer),
              HYBRID_IO_FAILED,
              "cannot make the folder '/absent/C.rows': No such file or directory");
}

/* All names that are tried belong to others. */
static void names_may_be_taken(void **state)
{
    static const char *const endings[] = {"rows", "values.bin"};
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, COLS, 5, 1, f64, &A);
    for (int k = 0; k < 2; k++) {
        char name[64];
        for (int i = 0; i < 1000; i++) {
            snprintf(name, sizeof name, i ? "C.%d.%s" : "C.%.0d%s", i, endings[k]);
            io_store(io_temp(name), "x", 1);
        }
        io_expect(write_sparse(&A, k ? 0 : 7, ROWS), HYBRID_BAD_STATE,
                  "C.json: the names of its numbers are taken up to '");
        assert_false(exists("C.json"));
        clean();
    }
    matrix_free(&A);
}

static hybrid_csr A;

static hybrid_status write_again(void)
{
    const hybrid_status status = write_sparse(&A, 40, 30);

    assert_true(exists("C.rows/part-000014.json"));
    assert_int_equal(exists("C.1.rows"), status == HYBRID_OK);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    matrix_random(ROWS, COLS, 5, 1, f64, &A);
    io_ok(write_sparse(&A, 7, ROWS)); /* an old matrix, which is searched for names */
    assert_true(io_fail_each(write_again) > 20);
    check(&A);
    matrix_free(&A);
    clean();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_has_its_rows),
        cmocka_unit_test(a_matrix_without_rows_has_one_part),
        cmocka_unit_test(dense_rows_are_divided),
        cmocka_unit_test(an_old_matrix_is_whole_until_it_is_replaced),
        cmocka_unit_test(what_belongs_to_others_stays),
        cmocka_unit_test(folders_of_killed_processes_are_replaced),
        cmocka_unit_test(an_abandoned_matrix_leaves_nothing),
        cmocka_unit_test(wrong_numbers_of_rows_are_refused),
        cmocka_unit_test(impossible_folders_are_refused),
        cmocka_unit_test(names_may_be_taken),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
