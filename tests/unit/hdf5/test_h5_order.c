/* tests/unit/hdf5/test_h5_order.c - rows whose columns do not ascend, and matrices of
   which a file holds one half. */
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
#include "support/engines/io_fixture.h"
#include "support/hdf5/h5_make.h"
#include "support/inputs/cases.h"

static const h5_form packed        = {.chunk = 50, .deflate = 1, .shuffle = 1};
static const test_kind double_kind = {HYBRID_F64, HYBRID_I64, 0};

/* ---- rows in any order --------------------------------------------------------------
 */

/* Reverses the entries of rows [begin, end). */
static void reverse_rows(const hybrid_csr *A, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; row++)
        for (int64_t i = hy_offset(A, row), k = hy_offset(A, row + 1) - 1; i < k;
             i++, k--) {
            const int32_t col  = hy_cols(A)[i];
            double *values     = A->val;
            const double value = values[i];
            hy_cols(A)[i]      = hy_cols(A)[k];
            hy_cols(A)[k]      = col;
            values[i]          = values[k];
            values[k]          = value;
        }
}

static void check_rows_from(int64_t rows, int64_t begin)
{
    hybrid_csr A, B;

    matrix_random(rows, 400, 5, 1, double_kind, &A);
    reverse_rows(&A, begin, rows);
    h5_store_cells(io_temp("a.h5"), &A, &packed);
    reverse_rows(&A, begin, rows);
    if (hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("a.h5"), &B) != HYBRID_OK)
        fail_msg("from row %d on: %s", (int)begin, io_ctx->message.text);
    assert_true(A.nnz == B.nnz);
    assert_memory_equal(hy_cols(&A), hy_cols(&B), (size_t)A.nnz * 4);
    assert_memory_equal(A.val, B.val, (size_t)A.nnz * 8);
    hy_csr_free(io_ctx, &B);
    matrix_free(&A);
}

static void columns_may_have_any_order(void **state)
{
    (void)state;
    check_rows_from(60, 0);
    check_rows_from(60, 59);
    check_rows_from(100000, 90000); /* behind the rows that are all examined */
}

/* Reads the file with another engine's context, once. */
static int read_again(void *user, int64_t done, int64_t bytes)
{
    hy_context **other = user, *ctx = *other;
    hybrid_csr A;

    (void)done, (void)bytes;
    *other = NULL;
    if (!ctx)
        return 0;
    assert_int_equal(hy_matrix_file_read(ctx, hy_file_formats, io_temp("a.h5"), &A),
                     HYBRID_OK);
    hy_csr_free(ctx, &A);
    return 0;
}

/* While columns are examined, the caller's function may read a file with another
   engine. */
static void the_function_may_read_a_file(void **state)
{
    hy_context *other = io_open(1), *unused = other;
    hybrid_csr A;

    (void)state;
    matrix_random(60, 400, 5, 1, double_kind, &A);
    h5_store_cells(io_temp("a.h5"), &A, &packed);
    matrix_free(&A);
    io_ctx->progress = (hy_progress){.fn = read_again, .user = &unused};
    assert_int_equal(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("a.h5"), &A),
                     HYBRID_OK);
    assert_null(unused);
    hy_progress_init(&io_ctx->progress);
    hy_csr_free(io_ctx, &A);
    io_close(other);
}

/* ---- one half -----------------------------------------------------------------------
 */

enum { SIZE = 30 };

/* The entries of one half, by rows or by columns. */
typedef struct half {
    int64_t pointers[SIZE + 1], lines[SIZE * SIZE], indices[SIZE * SIZE];
    double values[SIZE * SIZE], dense[SIZE][SIZE];
    int64_t count;
} half;

/* Fills the half, and the whole matrix, whose other half is `sign` times the first. */
static void fill_half(int is_upper, double sign, half *h)
{
    memset(h, 0, sizeof *h);
    for (int line = 0; line < SIZE; line++) {
        for (int i = 0; i < SIZE; i++) {
            if ((is_upper ? i < line : i > line) || (i == line && sign < 0) ||
                (7 * i + 3 * line) % 5 > 1)
                continue;
            const double value    = (double)(h->count + 1);
            h->dense[line][i]     = value;
            h->dense[i][line]     = i == line ? value : sign * value;
            h->lines[h->count]    = line;
            h->indices[h->count]  = i;
            h->values[h->count++] = value;
        }
        h->pointers[line + 1] = h->count;
    }
}

static void store_half(const half *h, const char *format, const char *structure)
{
    const int is_coo    = strcmp(format, "COO") == 0;
    const hid_t file    = h5_new(io_temp("b.h5"));
    const hsize_t count = (hsize_t)h->count;
    char text[300];

    snprintf(text, sizeof text,
             "{\"binsparse\": {\"version\": \"0.1\", \"format\": \"%s\", \"shape\": "
             "[%d, %d], \"number_of_stored_values\": %d, \"structure\": \"%s\", "
             "\"data_types\": {\"values\": \"float64\"}}}",
             format, SIZE, SIZE, (int)h->count, structure);
    h5_text(file, "/", "binsparse", text);
    h5_numbers(file, is_coo ? "indices_0" : "pointers_to_1", H5T_NATIVE_INT64,
               is_coo ? count : SIZE + 1, is_coo ? h->lines : h->pointers, &packed);
    h5_numbers(file, "indices_1", H5T_NATIVE_INT64, count, h->indices, &packed);
    h5_numbers(file, "values", H5T_NATIVE_DOUBLE, count, h->values, &packed);
    h5_end(file);
}

/* Reads b.h5 and compares it with the whole matrix. */
static void check_whole(const half *h, const char *format)
{
    double found[SIZE][SIZE] = {{0}};
    hybrid_csr A;

    if (hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("b.h5"), &A) != HYBRID_OK)
        fail_msg("%s: %s", format, io_ctx->message.text);
    for (int64_t row = 0; row < A.rows; row++)
        for (int64_t k = hy_offset(&A, row); k < hy_offset(&A, row + 1); k++)
            found[row][hy_cols(&A)[k]] = ((const double *)A.val)[k];
    for (int i = 0; i < SIZE; i++)
        for (int k = 0; k < SIZE; k++) /* lines of CSC are columns */
            assert_true(found[i][k] ==
                        (format[2] == 'C' ? h->dense[k][i] : h->dense[i][k]));
    hy_csr_free(io_ctx, &A);
}

static void the_other_half_is_added(void **state)
{
    static const char *const formats[]    = {"CSR", "CSC", "COO"};
    static const char *const structures[] = {
        "symmetric_lower", "symmetric_upper",      "hermitian_lower",
        "hermitian_upper", "skew_symmetric_lower", "skew_symmetric_upper"};
    half h;

    (void)state;
    for (int i = 0; i < 18; i++) {
        const double sign = i / 3 < 4 ? 1 : -1;
        fill_half(i / 3 % 2 != (i % 3 == 1), sign, &h);
        store_half(&h, formats[i % 3], structures[i / 3]);
        check_whole(&h, formats[i % 3]);
    }
}

static void refuse(const half *h, const char *structure, const char *sentence)
{
    hybrid_csr A;

    store_half(h, "COO", structure);
    assert_int_equal(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("b.h5"), &A),
                     HYBRID_BAD_FILE);
    if (!strstr(io_ctx->message.text, sentence))
        fail_msg("'%s' is not in '%s'", sentence, io_ctx->message.text);
    hy_message_clear(&io_ctx->message);
}

static void bad_halves_are_refused(void **state)
{
    half h;

    (void)state;
    fill_half(0, 1, &h);
    refuse(&h, "skew_symmetric_lower",
           "entry 0 is on the diagonal of a skew-symmetric matrix");
    const int64_t last = h.count - 1;
    h.lines[last]      = h.indices[last - 1];
    h.indices[last]    = h.lines[last - 1];
    refuse(&h, "symmetric_lower", "are both");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_may_have_any_order),
        cmocka_unit_test(the_function_may_read_a_file),
        cmocka_unit_test(the_other_half_is_added),
        cmocka_unit_test(bad_halves_are_refused),
    };

    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
