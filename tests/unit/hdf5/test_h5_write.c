/* tests/unit/hdf5/test_h5_write.c - libhdf5 reads what the library writes; a file that
   cannot be written is given up with a sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "support/engines/io_fixture.h"
#include "support/files/io_status.h"
#include "support/hdf5/h5_make.h"
#include "support/inputs/cases.h"

#if HYBRID_WITH_ZSTD
enum { COMPRESSIONS = HY_ZSTD + 1 };
#else
enum { COMPRESSIONS = HY_ZSTD };
#endif

/* ---- writing ---- */

static hy_file_shape shape_of(const hybrid_csr *A)
{
    return (hy_file_shape){.sparse  = 1,
                           .rows    = A->rows,
                           .cols    = A->cols,
                           .nnz     = A->nnz,
                           .type    = A->type,
                           .offsets = HYBRID_I64,
                           .columns = HYBRID_I32,
                           .order   = HYBRID_ROW_MAJOR};
}

/* Appends rows [begin, end) of A to the file. */
static hybrid_status append_rows(hy_file_writer *to, const hybrid_csr *A, int64_t begin,
                                 int64_t end)
{
    const int64_t first = hy_offset(A, begin);
    int64_t offsets[200];
    hybrid_csr rows = *A;

    for (int64_t i = begin; i <= end; i++)
        offsets[i - begin] = hy_offset(A, i) - first;
    rows.rows        = end - begin;
    rows.nnz         = hy_offset(A, end) - first;
    rows.offset_type = HYBRID_I64;
    rows.row_ptr     = offsets;
    rows.col         = hy_cols(A) + first;
    rows.val         = (char *)A->val + (size_t)first * hy_value_size(A->type);
    return to->ops->sparse(to, &rows);
}

static void write_csr(const hybrid_csr *A, const hy_file_shape *shape, int64_t step)
{
    hy_file_writer to;

    io_ok(hy_format_hdf5.create(io_ctx, io_temp("c.h5"), shape, &to));
    for (int64_t row = 0; row < A->rows; row += step)
        io_ok(append_rows(&to, A, row, row + step < A->rows ? row + step : A->rows));
    io_ok(to.ops->finish(&to));
    assert_null(to.ops);
}

/* ---- reading by libhdf5 ---- */

/* Checks that a dataset has the `count` numbers of `size` bytes at `wanted`. */
static void check_dataset(hid_t file, const char *name, hid_t type, int64_t count,
                          size_t size, const void *wanted)
{
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT),
                space   = H5Dget_space(dataset);
    char *found         = malloc((size_t)count * size + 1);

    assert_true(found && dataset >= 0);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
    assert_memory_equal(found, wanted, (size_t)count * size);
    free(found);
    H5Sclose(space);
    H5Dclose(dataset);
}

static void check_description(hid_t file, const hybrid_csr *A, const hy_file_shape *shape)
{
    const hid_t made = H5Aopen(file, "binsparse", H5P_DEFAULT), type = H5Aget_type(made);
    char wanted[512], found[512]                                     = "";

    snprintf(wanted, sizeof wanted,
             "{\"binsparse\": {\"version\": \"0.1.0\", \"format\": \"CSR\", \"shape\": "
             "[%d, %d], \"number_of_stored_values\": %d, \"data_types\": "
             "{\"pointers_to_1\": \"int%d\", \"indices_1\": \"int%d\", \"values\": "
             "\"float%d\"}}}",
             (int)A->rows, (int)A->cols, (int)A->nnz,
             shape->offsets == HYBRID_I32 ? 32 : 64,
             shape->columns == HYBRID_I64 ? 64 : 32, A->type == HYBRID_F64 ? 64 : 32);
    assert_int_equal(H5Tget_size(type), strlen(wanted));
    assert_true(H5Aread(made, type, found) >= 0);
    assert_string_equal(found, wanted);
    H5Tclose(type);
    H5Aclose(made);
}

static void check_by_libhdf5(const hybrid_csr *A, const hy_file_shape *shape)
{
    const hid_t file = H5Fopen(io_temp("c.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    int64_t offsets[200];

    assert_true(file >= 0);
    check_description(file, A, shape);
    for (int64_t i = 0; i <= A->rows; i++)
        offsets[i] = hy_offset(A, i);
    check_dataset(file, "pointers_to_1", H5T_NATIVE_INT64, A->rows + 1, 8, offsets);
    check_dataset(file, "indices_1", H5T_NATIVE_INT32, A->nnz, 4, A->col);
    check_dataset(file, "values",
                  A->type == HYBRID_F64 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT, A->nnz,
                  hy_value_size(A->type), A->val);
    H5Fclose(file);
}

static void check_by_library(const hybrid_csr *A)
{
    hybrid_csr B;

    io_ok(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("c.h5"), &B));
    assert_true(A->rows == B.rows && A->cols == B.cols && A->nnz == B.nnz);
    assert_true(A->type == B.type);
    assert_memory_equal(A->col, B.col, (size_t)A->nnz * 4);
    assert_memory_equal(A->val, B.val, (size_t)A->nnz * hy_value_size(A->type));
    hy_csr_free(io_ctx, &B);
}

/* ---- tests ---- */

/* Writes sparse matrices with all options. libhdf5 does not read those compressed by
   zstd, because it has no filter for zstd here. */
static void sparse_matrices_are_written(void **state)
{
    hybrid_csr A;

    (void)state;
    for (int i = 0; i < 2 * 2 * 2 * 2 * COMPRESSIONS; i++) {
        const test_kind kind = {i & 1 ? HYBRID_F32 : HYBRID_F64, HYBRID_I64, 0};
        matrix_random(150, 40, i & 2 ? 20 : 0, 1, kind, &A);
        hy_file_shape shape = shape_of(&A);
        shape.compression   = (hy_compression)(i / 16);
        shape.shuffle       = i & 4 ? 1 : 0;
        shape.nnz           = i & 8 ? -1 : A.nnz;
        shape.offsets       = i & 1 ? HYBRID_I32 : HYBRID_I64;
        shape.columns       = i & 2 ? HYBRID_I64 : HYBRID_I32;
        write_csr(&A, &shape, i % 5 ? 1 + i : 150);
        if (shape.compression != HY_ZSTD)
            check_by_libhdf5(&A, &shape);
        check_by_library(&A);
        matrix_free(&A);
    }
}

/* A dense matrix is right even if it fills more chunks than are compressed at a time. */
static void large_dense_matrices_are_written(void **state)
{
    enum { ROWS = 1000, COLS = 1700 };
    float *values       = malloc(ROWS * COLS * sizeof *values);
    hybrid_dense Y      = {ROWS, COLS, COLS, HYBRID_ROW_MAJOR, values, HYBRID_F32, 0};
    hy_file_shape shape = {.rows = ROWS, .cols = COLS, .nnz = -1, .type = HYBRID_F32};
    hy_file_writer to;

    (void)state;
    assert_non_null(values);
    for (int i = 0; i < ROWS * COLS; i++)
        values[i] = (float)(i % 1021);
    for (int i = 0; i < 2; i++) {
        shape.compression = i ? HY_DEFLATE : HY_STORED;
        shape.shuffle     = i;
        io_ok(hy_format_hdf5.create(io_ctx, io_temp("y.h5"), &shape, &to));
        for (Y.rows = 500; Y.data; Y.data = to.rows < ROWS ? values + 500 * COLS : NULL)
            io_ok(to.ops->dense(&to, &Y));
        io_ok(to.ops->finish(&to));
        Y.data           = values;
        const hid_t file = H5Fopen(io_temp("y.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
        check_dataset(file, "values", H5T_NATIVE_FLOAT, ROWS * COLS, 4, values);
        H5Fclose(file);
    }
    free(values);
}

static void columns_become_rows(void **state)
{
    static const double columns[] = {1, 4, -1, 2, 5, -1, 3, 6, -1};
    static const double rows[]    = {1, 2, 3, 4, 5, 6};
    const hybrid_dense Y          = {
                 2, 3, 3, HYBRID_COL_MAJOR, (void *)(uintptr_t)columns, HYBRID_F64, 0};
    const hy_file_shape shape = {.rows = 2, .cols = 3, .type = HYBRID_F64};
    hy_file_writer to;
    hy_matrix_file file;
    double found[6];

    (void)state;
    io_ok(hy_format_hdf5.create(io_ctx, io_temp("y.h5"), &shape, &to));
    io_ok(to.ops->dense(&to, &Y));
    io_ok(to.ops->finish(&to));
    io_ok(hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("y.h5"), &file));
    assert_true(file.dense.rows == 2 && file.dense.cols == 3);
    io_ok(hy_stored_read(&file.values, 0, 6, found));
    assert_memory_equal(found, rows, sizeof rows);
    hy_matrix_file_close(&file);
}

static void expect(hybrid_status status, hybrid_status wanted, const char *sentence)
{
    if (status != wanted || !strstr(io_ctx->message.text, sentence))
        fail_msg("%d: '%s' is not in '%s'", status, sentence, io_ctx->message.text);
    hy_message_clear(&io_ctx->message);
}

static void bad_shapes_are_refused(void **state)
{
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    hy_file_writer to;
    hybrid_csr A;

    (void)state;
    matrix_random(60, 40, 5, 1, (test_kind){HYBRID_F32, HYBRID_I64, 0}, &A);
    hy_file_shape shape = shape_of(&A);
    io_ok(hy_format_hdf5.create(io_ctx, io_temp("c.h5"), &shape, &to));
    io_ok(append_rows(&to, &A, 0, 50));
    expect(to.ops->finish(&to), HYBRID_BAD_ARGUMENT, "the matrix does not have 60 rows");
    expect(append_rows(&to, &A, 0, 11), HYBRID_BAD_ARGUMENT, "does not have 60 rows");
    to.ops->abort(&to);
    shape.nnz--;
    io_ok(hy_format_hdf5.create(io_ctx, io_temp("c.h5"), &shape, &to));
    expect(append_rows(&to, &A, 0, 60), HYBRID_BAD_ARGUMENT, " entries");
    to.ops->abort(&to);
    shape = (hy_file_shape){.rows = 1ll << 40, .cols = 1ll << 40, .type = HYBRID_F32};
    expect(hy_format_hdf5.create(io_ctx, io_temp("c.h5"), &shape, &to),
           HYBRID_BAD_ARGUMENT, "the matrix takes 2^63 bytes or more");
    expect(hy_format_hdf5.create(io_ctx, io_temp("no/c.h5"), &(hy_file_shape){.rows = 1},
                                 &to),
           HYBRID_IO_FAILED, "c.h5': No such file or directory");
#if !HYBRID_WITH_ZSTD
    shape = (hy_file_shape){.compression = HY_ZSTD};
    expect(hy_format_hdf5.create(io_ctx, io_temp("c.h5"), &shape, &to),
           HYBRID_BAD_ARGUMENT, "this build has no zstd: it was made without libzstd");
#endif
    assert_true(hy_meter_used(&io_ctx->memory.meter) <= used);
    matrix_free(&A);
}

static void offsets_may_need_64_bits(void **state)
{
    int64_t offsets[]         = {0, 3ll << 30};
    const hybrid_csr rows     = {1,    1,    3ll << 30,  HYBRID_I64, offsets,
                                 NULL, NULL, HYBRID_F32, HYBRID_I32, 0};
    const hy_file_shape shape = {.sparse  = 1,
                                 .rows    = 1,
                                 .cols    = 1,
                                 .nnz     = -1,
                                 .type    = HYBRID_F32,
                                 .offsets = HYBRID_I32};
    hy_file_writer to;

    (void)state;
    io_ok(hy_format_hdf5.create(io_ctx, io_temp("c.h5"), &shape, &to));
    expect(to.ops->sparse(&to, &rows), HYBRID_BAD_ARGUMENT,
           "a number of 'pointers_to_1' needs 64 bits");
    to.ops->abort(&to);
}

/* For every limit on file sizes up to the size of the file, writing must fail with a
   sentence. */
static void a_full_disk_is_reported(void **state)
{
    struct rlimit old, limit;
    int failed = 0;
    hybrid_csr A;

    (void)state;
    matrix_random(150, 40, 20, 1, (test_kind){HYBRID_F64, HYBRID_I64, 0}, &A);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    for (int i = 0; i < 300; i++) {
        hy_file_shape shape = shape_of(&A);
        hy_file_writer to;
        shape.nnz         = i % 2 ? -1 : A.nnz;
        shape.compression = i % 3 ? HY_STORED : HY_DEFLATE;
        limit             = old;
        limit.rlim_cur    = (rlim_t)i * 200;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        hybrid_status status =
            hy_format_hdf5.create(io_ctx, io_temp("c.h5"), &shape, &to);
        if (status == HYBRID_OK) {
            status = append_rows(&to, &A, 0, 150);
            if (status == HYBRID_OK)
                status = to.ops->finish(&to);
            if (status != HYBRID_OK)
                to.ops->abort(&to);
        }
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        if (status == HYBRID_OK) {
            check_by_library(&A);
            continue;
        }
        expect(status, HYBRID_IO_FAILED, "c.h5': File too large");
        failed++;
    }
    assert_in_range(failed, 10, 299);
    matrix_free(&A);
}

static void each_allocation_may_fail(void **state)
{
    hybrid_status status = HYBRID_NO_MEMORY;
    hy_file_writer to;
    hybrid_csr A;

    (void)state;
    matrix_random(150, 40, 20, 1, (test_kind){HYBRID_F64, HYBRID_I64, 0}, &A);
    const hy_file_shape shape = shape_of(&A);
    for (int n = 1; n < 100 && status != HYBRID_OK; n++) {
        io_ctx->memory.failures = n;
        status = hy_format_hdf5.create(io_ctx, io_temp("c.h5"), &shape, &to);
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        hy_message_clear(&io_ctx->message);
    }
    io_ctx->memory.failures = 0;
    assert_int_equal(status, HYBRID_OK);
    to.ops->abort(&to);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_matrices_are_written),
        cmocka_unit_test(large_dense_matrices_are_written),
        cmocka_unit_test(columns_become_rows),
        cmocka_unit_test(bad_shapes_are_refused),
        cmocka_unit_test(offsets_may_need_64_bits),
        cmocka_unit_test(a_full_disk_is_reported),
        cmocka_unit_test(each_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
