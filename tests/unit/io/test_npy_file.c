/* tests/unit/io/test_npy_file.c - .npy files as operands, and written by rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "support/engines/io_fixture.h"
#include "support/files/io_status.h"
#include "support/inputs/cases.h"

static const test_kind f32 = {HYBRID_F32, HYBRID_I32, 1};
static const test_kind f64 = {HYBRID_F64, HYBRID_I32, 1};

/* Returns the rows [begin, end) of X in either order. They share the memory of X or, in
   another order, are a copy in `memory`. */
static hybrid_dense rows_of(const hybrid_dense *X, int64_t begin, int64_t end,
                            hybrid_order order, double *memory)
{
    const size_t size = hy_value_size(X->type);
    hybrid_dense part = *X;
    const int in_rows = X->order == HYBRID_ROW_MAJOR;

    part.rows = end - begin;
    part.data = (char *)X->data + (size_t)(begin * (in_rows ? X->ld : 1)) * size;
    if (order == X->order)
        return part;
    part.order = order;
    part.ld    = in_rows ? part.rows + 1 : X->cols + 2;
    part.data  = memory;
    for (int64_t i = 0; i < part.rows; i++)
        for (int64_t j = 0; j < X->cols; j++)
            memcpy((char *)memory +
                       (size_t)(in_rows ? j * part.ld + i : i * part.ld + j) * size,
                   (char *)X->data + (size_t)(in_rows ? (begin + i) * X->ld + j
                                                      : j * X->ld + begin + i) *
                                         size,
                   size);
    return part;
}

static hybrid_status create(const hybrid_dense *X, hybrid_order order,
                            hy_file_writer *out)
{
    const hy_file_format *format = hy_format_of_name(hy_file_formats, "X.NPY");
    const hy_file_shape shape    = {
           .rows = X->rows, .cols = X->cols, .type = X->type, .order = order};

    assert_string_equal(format->name, "npy");
    return format->create(io_ctx, io_temp("y.npy"), &shape, out);
}

/* Checks that a .npy file written panel by panel has the bytes that hy_write_npy()
   writes, whatever the storage order of the panels. */
static void check_bytes(const hybrid_dense *X, hybrid_order order)
{
    static double memory[10000];
    size_t ours, theirs;

    const hybrid_dense whole = rows_of(X, 0, X->rows, order, memory);
    io_ok(hy_write_npy(io_ctx, io_temp("x.npy"), &whole));
    char *x = io_load(io_temp("x.npy"), &theirs), *y = io_load(io_temp("y.npy"), &ours);
    assert_int_equal(ours, theirs);
    assert_memory_equal(x, y, ours);
    free(x);
    free(y);
}

static void panels_are_written_in_both_orders(void **state)
{
    enum { ROWS = 61, COLS = 37 };
    static double memory[10000];

    (void)state;
    for (int i = 0; i < 32; i++) {
        const hybrid_order order = i & 1 ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR;
        const hybrid_order panel = i & 2 ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR;
        hy_file_writer writer;
        hybrid_dense X;
        dense_make(ROWS, COLS, i & 4 ? 3 : 0, i & 8 ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR,
                   2, i & 16 ? f32 : f64, &X);
        io_ok(create(&X, order, &writer));
        for (int64_t row = 0, step = 1; row < ROWS; row += step, step = step * 3 % 17) {
            const int64_t end       = row + step < ROWS ? row + step : ROWS;
            const hybrid_dense part = rows_of(&X, row, end, panel, memory);
            io_ok(writer.ops->dense(&writer, &part));
            assert_int_equal(writer.rows, end);
        }
        assert_int_equal(writer.bytes, ROWS * COLS * (i & 16 ? 4 : 8));
        io_ok(writer.ops->finish(&writer));
        assert_null(writer.ops);
        check_bytes(&X, order);
        dense_free(&X);
    }
}

static void wrong_rows_are_refused(void **state)
{
    const hy_file_shape sparse = {.sparse = 1, .rows = 3, .cols = 3, .type = HYBRID_F32};
    hybrid_dense X, Z;
    hy_file_writer writer;

    (void)state;
    dense_make(5, 4, 0, HYBRID_ROW_MAJOR, 1, f64, &X);
    dense_make(5, 4, 0, HYBRID_ROW_MAJOR, 1, f32, &Z);
    io_expect(hy_format_npy.create(io_ctx, io_temp("y.npy"), &sparse, &writer),
              HYBRID_BAD_ARGUMENT, "a .npy file cannot hold a sparse matrix");
    io_ok(create(&X, HYBRID_ROW_MAJOR, &writer));
    io_expect(writer.ops->dense(&writer, &Z), HYBRID_BAD_ARGUMENT,
              "of another length or type");
    X.rows = 3;
    io_ok(writer.ops->dense(&writer, &X));
    io_expect(writer.ops->dense(&writer, &X), HYBRID_BAD_ARGUMENT,
              "has more rows than were announced");
    io_expect(writer.ops->finish(&writer), HYBRID_BAD_ARGUMENT,
              "has fewer rows than were announced");
    writer.ops->abort(&writer);
    X.rows = 5;
    dense_free(&X);
    dense_free(&Z);
}

/* ---- reading ---- */

/* Opens a file and compares its values with those of tests/data/good_c_f8.npy. */
static void check_open(const char *path)
{
    static const double wanted[] = {1, 2.5, -3, 4, 5, 6e10};
    double found[6];
    hy_matrix_file file;

    io_ok(hy_matrix_file_open(io_ctx, hy_file_formats, path, &file));
    assert_true(!file.sparse && file.dense.rows == 2 && file.dense.cols == 3 &&
                file.dense.type == HYBRID_F64 && file.values.count == 6);
    assert_true(file.dense.order == HYBRID_ROW_MAJOR && file.dense.ld == 3);
    for (int64_t i = 5; i >= 0; i--)
        io_ok(hy_stored_read(&file.values, i, 1, &found[i]));
    assert_memory_equal(found, wanted, sizeof wanted);
    hy_matrix_file_close(&file);
}

static void files_are_read_in_place_or_spilled(void **state)
{
    size_t bytes;

    (void)state;
    check_open(io_data("good_c_f8.npy"));
    char *all   = io_load(io_data("good_c_f8.npy"), &bytes);
    gzFile gzip = gzopen(io_temp("x.npy.gz"), "wb");
    assert_int_equal(gzwrite(gzip, all, (unsigned)bytes), bytes);
    assert_int_equal(gzclose(gzip), Z_OK);
    check_open(io_temp("x.npy.gz"));
    setenv("TMPDIR", "/absent", 1);
    hy_matrix_file file;
    io_expect(hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("x.npy.gz"), &file),
              HYBRID_IO_FAILED,
              "cannot create a temporary file in the folder '/absent': No such file");
    unsetenv("TMPDIR");
    free(all);
}

/* Gzip data of many windows are decompressed to a temporary file. */
static void long_streams_are_spilled(void **state)
{
    hybrid_dense X;
    hy_matrix_file file;
    size_t bytes;

    (void)state;
    io_sizes.window = 4096;
    dense_make(700, 500, 0, HYBRID_COL_MAJOR, 1, f64, &X);
    io_ok(hy_write_npy(io_ctx, io_temp("x.npy"), &X));
    char *all = io_load(io_temp("x.npy"), &bytes), *found = malloc(bytes);
    gzFile gzip = gzopen(io_temp("x.gz"), "wb1");
    assert_int_equal(gzwrite(gzip, all, (unsigned)bytes), bytes);
    assert_int_equal(gzclose(gzip), Z_OK);
    io_ok(hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("x.gz"), &file));
    assert_true(file.dense.ld == 700 && file.values.count == 700 * 500);
    io_ok(hy_stored_read(&file.values, 0, file.values.count, found));
    assert_memory_equal(found, X.data, bytes - 128);
    hy_matrix_file_close(&file);
    io_sizes = hy_usual_io_sizes;
    free(found);
    free(all);
    dense_free(&X);
}

static void sizes_are_checked(void **state)
{
    hy_matrix_file file;

    (void)state;
    io_expect(
        hy_matrix_file_open(io_ctx, hy_file_formats, io_data("bad_data_long.npy"), &file),
        HYBRID_BAD_FILE, "49 bytes of data where the shape needs 48");
    io_expect(hy_matrix_file_open(io_ctx, hy_file_formats, io_data("bad_data_short.npy"),
                                  &file),
              HYBRID_BAD_FILE, "bad_data_short.npy: ");
}

static hybrid_status write_and_open(const hybrid_dense *X, hy_file_writer *writer,
                                    hy_matrix_file *file)
{
    hybrid_status status = create(X, HYBRID_ROW_MAJOR, writer);

    if (status != HYBRID_OK)
        return status;
    status = writer->ops->dense(writer, X);
    if (status != HYBRID_OK) {
        writer->ops->abort(writer);
        return status;
    }
    io_ok(writer->ops->finish(writer));
    return hy_matrix_file_open(io_ctx, hy_file_formats, io_data("good_i4.npy"), file);
}

static void each_allocation_may_fail(void **state)
{
    hybrid_status status = HYBRID_NO_MEMORY;
    int64_t failed       = 0;
    hy_file_writer writer;
    hy_matrix_file file;
    hybrid_dense X;

    (void)state;
    dense_make(5, 4, 0, HYBRID_COL_MAJOR, 1, f64, &X);
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    for (int64_t n = 1; n < 100 && status != HYBRID_OK; n++, failed++) {
        io_ctx->memory.failures = n;
        status                  = write_and_open(&X, &writer, &file);
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        hy_message_clear(&io_ctx->message);
    }
    io_ctx->memory.failures = 0;
    assert_int_equal(status, HYBRID_OK);
    assert_true(failed > 5);
    hy_matrix_file_close(&file);
    assert_true(hy_meter_used(&io_ctx->memory.meter) <= used);
    dense_free(&X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_are_written_in_both_orders),
        cmocka_unit_test(wrong_rows_are_refused),
        cmocka_unit_test(files_are_read_in_place_or_spilled),
        cmocka_unit_test(long_streams_are_spilled),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
