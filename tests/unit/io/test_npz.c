/* tests/unit/io/test_npz.c - .npz files that are read: members of ZIP files, sparse
   matrices, and each possible fault. */
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
#include "io/npz/npz.h"
#include "io/npz/zip_file.h"
#include "support/engines/io_fixture.h"
#include "support/files/io_status.h"
#include "support/inputs/cases.h"

/* ---- reading: all good files have the same 4 x 4 matrix ---- */

static const int64_t offsets[] = {0, 2, 2, 4, 6};
static const int32_t columns[] = {0, 2, 1, 3, 0, 3};
static const double values[]   = {1, 2.5, -3, 4, 5, 6e10};

static void rows_are_read(void **state)
{
    static const char *const names[] = {"good_csr.npz", "good_csr_deflated.npz",
                                        "good_csr_i8.npz"};

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

/* Opens a file as its format does, without the sort of entries that follows. */
static hybrid_status open_entries(const char *name, hy_entry_reader *entries)
{
    char path[]         = "file";
    hy_matrix_file file = {.ctx = io_ctx, .name = path};
    hy_input input;

    *entries = (hy_entry_reader){.ops = NULL};
    io_ok(hy_input_open(io_ctx, io_data(name), &input));
    const hy_opening opening   = {&input, NULL};
    const hybrid_status status = hy_format_npz.open(io_ctx, &opening, &file, entries);
    hy_input_close(io_ctx, &input);
    assert_true(status != HYBRID_OK || !file.row_ptr.ops);
    hy_stored_close(&file.row_ptr);
    hy_stored_close(&file.col);
    hy_stored_close(&file.values);
    return status;
}

static double wanted(int64_t row, int64_t col)
{
    for (int64_t k = offsets[row]; k < offsets[row + 1]; k++)
        if (columns[k] == col)
            return values[k];
    return 0;
}

static void entries_are_read(void **state)
{
    static const char *const names[] = {"good_csc.npz", "good_coo.npz",
                                        "good_unsorted.npz"};

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int64_t most = 1; most < 8; most++) {
            hy_entry_reader entries;
            hy_entry entry[8];
            int64_t count, all = 0;
            double sum = 0;
            io_ok(open_entries(names[i], &entries));
            assert_true(entries.rows == 4 && entries.cols == 4 && entries.nnz == 6 &&
                        entries.type == HYBRID_F64);
            do {
                io_ok(entries.ops->next(&entries, most, entry, &count));
                assert_true(count <= most && (count > 0 || all == 6));
                for (int64_t k = 0; k < count; k++) {
                    assert_true(entry[k].value == wanted(entry[k].row, entry[k].col));
                    sum += entry[k].value;
                }
                all += count;
            } while (count > 0);
            assert_true(all == 6 && sum == 60000000009.5);
            hy_entry_reader_close(&entries);
        }
}

/* The members of a COO matrix are inflated while its entries are read, and those of a CSR
   matrix to a temporary file. */
static void members_are_streamed(void **state)
{
    const char *const usual = io_ctx->spill_path;
    hybrid_csr A;

    (void)state;
    io_ctx->spill_path = "/absent";
    io_ok(hy_matrix_file_read(io_ctx, hy_file_formats, io_data("good_coo.npz"), &A));
    assert_true(A.nnz == 6 && ((double *)A.val)[5] == values[5]);
    hy_csr_free(io_ctx, &A);
    io_expect(hy_matrix_file_read(io_ctx, hy_file_formats,
                                  io_data("good_csr_deflated.npz"), &A),
              HYBRID_IO_FAILED, "cannot create a temporary file in the folder '/absent'");
    io_ctx->spill_path = usual;
}

/* Changes the checksum that the directory of a file has for one of its members. */
static void checksums_of_streams_are_verified(void **state)
{
    size_t bytes;
    char *all = io_load(io_data("good_coo.npz"), &bytes);
    char why[64];
    hybrid_csr A;
    int members = 0;

    (void)state;
    for (size_t i = 0; i + 46 < bytes; i++) {
        const size_t length = (unsigned char)all[i + 28];
        if (memcmp(all + i, "PK\1\2", 4) != 0 || length < 7 ||
            memcmp(all + i + 46, "format", 6) == 0 ||
            memcmp(all + i + 46, "shape", 5) == 0)
            continue;
        all[i + 16] ^= 1;
        io_store(io_temp("wrong.npz"), all, bytes);
        all[i + 16] ^= 1;
        snprintf(why, sizeof why, "member '%.*s' has a wrong checksum", (int)length,
                 all + i + 46);
        io_expect(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("wrong.npz"), &A),
                  HYBRID_BAD_FILE, why);
        members++;
    }
    assert_int_equal(members, 3);
    free(all);
}

static void dense_members_are_read(void **state)
{
    char name[1024];
    hy_matrix_file file;
    double value;

    (void)state;
    snprintf(name, sizeof name, "%s::Y", io_data("good_dense.npz"));
    io_ok(hy_matrix_file_open(io_ctx, hy_file_formats, name, &file));
    assert_true(!file.sparse && file.dense.rows == 4 && file.dense.cols == 2 &&
                file.dense.order == HYBRID_COL_MAJOR && file.values.count == 8);
    io_ok(hy_stored_read(&file.values, 3, 1, &value));
    assert_true(value == 5);
    hy_matrix_file_close(&file);
}

/* ---- faults ---- */

static const struct refusal {
    const char *name, *sentence;
} refusals[] = {
    {"bad_end", "the ZIP file is damaged: its end is missing"},
    {"bad_directory_place", "damaged: its directory is not within the file"},
    {"bad_zip64_missing", "damaged: its ZIP64 record is missing"},
    {"bad_entry", "damaged: an entry of its directory is invalid"},
    {"bad_entry_long", "damaged: an entry of its directory is invalid"},
    {"bad_size64", "damaged: a size in its directory is invalid"},
    {"bad_size_packed", "damaged: a size in its directory is invalid"},
    {"bad_encrypted", "member 'indices.npy' is encrypted"},
    {"bad_method", "member 'indices.npy' is neither stored nor deflated"},
    {"bad_header_place", "member 'indices.npy' is not within the file"},
    {"bad_header_mark", "member 'indptr.npy' is not within the file"},
    {"bad_size_stored", "member 'indices.npy' has an impossible size"},
    {"bad_size_deflated", "member 'indices.npy' has an impossible size"},
    {"bad_deflate", "member 'data.npy' has damaged data"},
    {"bad_deflate_cut", "member 'data.npy' has damaged data"},
    {"bad_checksum", "member 'data.npy' has a wrong checksum"},
    {"bad_longer", "member 'data.npy' is longer than announced"},
    {"bad_shorter", "member 'data.npy' is shorter than announced"},
    {"bad_twice", "has several members 'data.npy'"},
    {"bad_no_format", "is not a sparse matrix of SciPy, because it has no member "
                      "'format.npy'; a dense array is selected by its name, as in '"},
    {"bad_no_data", "has no member 'data.npy'"},
    {"bad_format", "has the sparse format 'bsr', and only csr, csc and coo are read; "
                   "convert it with tocsr()"},
    {"bad_shape_one", "::shape: must be the numbers of rows and columns"},
    {"bad_shape_float", "::shape: must be the numbers of rows and columns"},
    {"bad_shape_negative", "::shape: must be the numbers of rows and columns"},
    {"bad_shape_rows", "::indptr: has 5 numbers, and the matrix needs 6"},
    {"bad_cols", "has 2147483648 columns, and the limit is 2^31 - 1"},
    {"bad_counts", "::data: has 5 numbers, and the matrix needs 6"},
    {"bad_axes", "::data: must have one axis, but has 2"},
    {"bad_indices_float", "::indices: holds no whole numbers"},
    {"bad_member", "::data: is not a .npy file"},
    {"bad_header", "::data: dtype '<c8' is not supported"},
    {"bad_member_bytes", "::data: 49 bytes of data where the shape needs 48"},
    {"bad_columns_wide", "::indices: number 3 does not fit 32 bits"},
    {"bad_coo_row", "entry 5: row 4 is not in 0..3"},
    {"bad_coo_col", "entry 3: column -1 is not in 0..3"},
    {"bad_csc_first", "column offsets begin with 1 instead of 0"},
    {"bad_csc_order", "column 1: its offsets decrease or do not end with the number of "
                      "entries, 6"},
    {"bad_csc_end", "column 3: its offsets decrease or do not end"},
    {"bad_csc_last", "column 3: its offsets decrease or do not end"},
    {"bad_csc_counts", "::indptr: has 5 numbers, and the matrix needs 6"},
};

/* Reads the whole file in the way that its layout allows. */
static hybrid_status read_any(const char *name)
{
    hy_entry_reader entries;
    hy_entry entry[8];
    int64_t count = 1;
    hybrid_csr A;

    if (!strstr(name, "csc") && !strstr(name, "coo") && !strstr(name, "unsorted"))
        return hy_matrix_file_read(io_ctx, hy_file_formats, io_data(name), &A);
    hybrid_status status = open_entries(name, &entries);
    while (status == HYBRID_OK && count > 0)
        status = entries.ops->next(&entries, 4, entry, &count);
    hy_entry_reader_close(&entries);
    return status;
}

static void each_fault_is_named(void **state)
{
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.npz", refusals[i].name);
        const hybrid_status status = read_any(name);
        if (status != HYBRID_BAD_MATRIX)
            io_expect(status, HYBRID_BAD_FILE, refusals[i].sentence);
        else
            io_expect(status, HYBRID_BAD_MATRIX, refusals[i].sentence);
        assert_true(hy_meter_used(&io_ctx->memory.meter) <= used);
    }
}

/* A file that is cut at any byte is refused. */
static void truncated_files_are_refused(void **state)
{
    hybrid_csr A;
    size_t bytes;

    (void)state;
    char *all = io_load(io_data("good_csr_deflated.npz"), &bytes);
    for (size_t length = 100; length < bytes; length += 7) {
        io_store(io_temp("cut.npz"), all, length);
        io_expect(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("cut.npz"), &A),
                  HYBRID_BAD_FILE,
                  "cut.npz: the ZIP file is damaged: its end is missing");
    }
    free(all);
}

static void a_file_without_a_place_is_refused(void **state)
{
    hy_zip zip;
    char byte;

    (void)state;
    io_expect(hy_zip_open(io_ctx, "/absent/a.npz", &zip), HYBRID_IO_FAILED,
              "cannot open '/absent/a.npz': No such file or directory");
    io_expect(hy_zip_open(io_ctx, "/dev/null", &zip), HYBRID_BAD_FILE,
              "a ZIP file must be a regular file, because its directory is at its end");
    io_ok(hy_zip_open(io_ctx, io_data("good_csr.npz"), &zip));
    io_expect(hy_zip_read(&zip, zip.size, &byte, 1), HYBRID_IO_FAILED,
              "cannot be read: the file has become shorter");
    hy_zip_close(&zip);
}

/* A small file that announces a large central directory must be refused. */
static void a_large_directory_is_refused(void **state)
{
    enum { BYTES = (16 << 20) + 100 };
    static const unsigned char end[22] = {'P', 'K', 5, 6, 0, 0, 0, 0,
                                          0,   0,   0, 0, 1, 0, 0, 1};
    char *all                          = calloc(1, BYTES + 22);
    hy_zip zip;

    (void)state;
    assert_non_null(all);
    memcpy(all + BYTES, end, sizeof end);
    io_store(io_temp("large.npz"), all, BYTES + 22);
    io_expect(hy_zip_open(io_ctx, io_temp("large.npz"), &zip), HYBRID_BAD_FILE,
              "its directory has more than 16 MiB");
    free(all);
}

static hybrid_status read_all(void)
{
    hybrid_csr A;

    HY_TRY(hy_matrix_file_read(io_ctx, hy_file_formats, io_data("good_csr_i8.npz"), &A));
    hy_csr_free(io_ctx, &A);
    HY_TRY(read_any("good_unsorted.npz"));
    return read_any("good_coo.npz");
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(io_fail_each(read_all) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read),
        cmocka_unit_test(entries_are_read),
        cmocka_unit_test(members_are_streamed),
        cmocka_unit_test(checksums_of_streams_are_verified),
        cmocka_unit_test(dense_members_are_read),
        cmocka_unit_test(each_fault_is_named),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(a_file_without_a_place_is_refused),
        cmocka_unit_test(a_large_directory_is_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
