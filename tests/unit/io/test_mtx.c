/* tests/unit/io/test_mtx.c - reading Matrix Market files: accepted files, and messages
   for refused ones. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "base/memory/results.h"
#include "io/text/io.h"
#include "tests/support/engines/io_fixture.h"
#include "tests/support/files/io_status.h"

/* ---- files that are refused ---- */

static const struct refusal {
    const char *file, *sentence;
} refusals[] = {
    {"bad_empty.mtx", ":1: the file is empty"},
    {"bad_banner.mtx", ":1: the banner '%%MatrixMarket matrix ...' is missing"},
    {"bad_no_banner.mtx", ":1: the banner '%%MatrixMarket matrix ...' is missing"},
    {"bad_object.mtx", ":1: object 'vector' of the banner is not 'matrix'"},
    {"bad_format.mtx", ":1: format 'sparse' of the banner is unknown"},
    {"bad_field.mtx", ":1: field 'quaternion' of the banner is unknown"},
    {"bad_complex.mtx", ":1: field 'complex' is not supported"},
    {"bad_hermitian.mtx", ":1: symmetry 'hermitian' is not supported"},
    {"bad_symmetry.mtx", ":1: symmetry 'diagonal' of the banner is unknown"},
    {"bad_banner_short.mtx", ":1: symmetry '' of the banner is unknown"},
    {"bad_banner_long.mtx", ":1: unexpected 'sorted' at the end of the banner"},
    {"bad_pattern_skew.mtx", ":1: a pattern cannot be skew-symmetric"},
    {"bad_no_sizes.mtx", ":3: the file ends before the sizes"},
    {"bad_sizes_missing.mtx", ":2: the number of entries is missing"},
    {"bad_sizes_word.mtx", ":3: the number of columns, 'three', is not an integer"},
    {"bad_sizes_real.mtx", ":2: the number of columns, '3.0', is not an integer"},
    {"bad_banner_nul.mtx", ":1: the line holds a zero byte"},
    {"bad_sizes_nul.mtx", ":2: the line holds a zero byte"},
    {"bad_sizes_extra.mtx", ":2: unexpected '7' after the sizes"},
    {"bad_sizes_negative.mtx", ":2: the number of columns is negative: -3"},
    {"bad_entries_negative.mtx", ":2: the number of entries is negative: -1"},
    {"bad_rows_huge.mtx", ":2: the number of rows is too large: 1000000000000"},
    {"bad_cols_huge.mtx", ":2: the number of columns is too large: 2147483648"},
    {"bad_sizes_overflow.mtx", ":2: the number of columns is too large: 9999999999"},
    {"bad_entries_overflow.mtx", ":2: the number of entries is too large: 922337"},
    {"bad_entries_huge.mtx",
     ":3: the file ends after 1 of the 4000000000000000000 entries"},
    {"bad_row_zero.mtx", ":4: row index 0 is below 1"},
    {"bad_col_zero.mtx", ":6: column index 0 is below 1"},
    {"bad_row_negative.mtx", ":3: row index -2 is below 1"},
    {"bad_row_beyond.mtx", ":3: row index 4 is beyond the 3 rows"},
    {"bad_col_beyond.mtx", ":3: column index 5 is beyond the 4 columns"},
    {"bad_index_overflow.mtx", ":3: column index 18446744073709551617 is beyond"},
    {"bad_index_word.mtx", ":3: row index 'x' is not an integer"},
    {"bad_index_real.mtx", ":3: column index '1.5' is not an integer"},
    {"bad_col_missing.mtx", ":3: the column index is missing"},
    {"bad_value_missing.mtx", ":4: the value is missing"},
    {"bad_value_word.mtx", ":4: value 'one' is not a number"},
    {"bad_value_tail.mtx", ":3: value '1.5x' is not a number"},
    {"bad_value_comma.mtx", ":3: value '1,5' is not a number"},
    {"bad_value_hex.mtx", ":3: value '0x10' is not a number"},
    {"bad_value_exponent.mtx", ":3: value '1e+' is not a number"},
    {"bad_value_sign.mtx", ":3: value '-' is not a number"},
    {"bad_value_point.mtx", ":3: value '.' is not a number"},
    {"bad_value_nan.mtx", ":3: value 'nan(1)' is not a number"},
    {"bad_value_large.mtx", ":3: value '1e309' is too large for 64 bits"},
    {"bad_integer.mtx", ":3: value '1.0' is not an integer"},
    {"bad_integer_inf.mtx", ":4: value '-inf' is not an integer"},
    {"bad_extra_token.mtx", ":3: unexpected '4' at the end of the line"},
    {"bad_pattern_value.mtx", ":4: unexpected '1.0' at the end of the line"},
    {"bad_too_few.mtx", ":5: the file ends after 3 of the 4 entries announced"},
    {"bad_too_many.mtx", ":5: there are more than the 2 entries announced"},
    {"bad_symmetric_both.mtx", ":6: entry (1,2) and its mirror (2,1) are both stored"},
    {"bad_symmetric_wide.mtx", ":2: a symmetric matrix must be square, not 3 x 4"},
    {"bad_skew_diagonal.mtx", ":4: diagonal entry (2,2) of a skew-symmetric matrix"},
    {"bad_skew_both.mtx", ":3: entry (1,2) and its mirror (2,1) are both stored"},
    {"bad_first_of_two.mtx", ":4: row index 9 is beyond the 3 rows"},
    {"bad_nul.mtx", ":4: the line holds a zero byte"},
    {"bad_array.mtx", ":1: an array file is dense"},
    {"bad_gzip_truncated.mtx.gz", ": the gzip data are truncated"},
    {"bad_gzip_damaged.mtx.gz", ": the gzip data are damaged"},
    {"bad_gzip_tail.mtx.gz", ": bytes follow the gzip data"},
#if HYBRID_WITH_ZSTD
    {"bad_zstd_truncated.mtx.zst", ": the zstd data are truncated"},
    {"bad_zstd_damaged.mtx.zst", ": the zstd data are damaged: "},
    {"bad_zstd_tail.mtx.zst", ": the zstd data are damaged: Unknown frame descriptor"},
#endif
};

static void check_refusal(const char *name, hybrid_status expected, const char *sentence)
{
    hybrid_csr A = {.rows = -1};

    hy_message_clear(&io_ctx->message);
    const hybrid_status status = hy_read_mtx(io_ctx, name, HYBRID_F64, &A);
    if (status != expected || !strstr(io_ctx->message.text, sentence) ||
        !strstr(io_ctx->message.text, name))
        fail_msg("%s: status %d, '%s', not '%s'", name, status, io_ctx->message.text,
                 sentence);
    assert_int_equal(A.rows, -1);
}

static void refused_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        check_refusal(io_data(refusals[i].file), HYBRID_BAD_FILE, refusals[i].sentence);
}

static void unreadable_files(void **state)
{
    (void)state;
    check_refusal(io_temp("missing.mtx"), HYBRID_IO_FAILED, strerror(ENOENT));
    check_refusal("/", HYBRID_IO_FAILED, strerror(EISDIR));
    if (geteuid() != 0) {
        const int fd = open(io_temp("secret.mtx"), O_CREAT | O_WRONLY, 0);
        assert_true(fd >= 0);
        close(fd);
        check_refusal(io_temp("secret.mtx"), HYBRID_IO_FAILED, strerror(EACCES));
    }
}

/* ---- files that are accepted ---- */

/* Entries by row as (row, column, value), counted from 0. */
static const struct acceptance {
    const char *file;
    int64_t rows, cols, nnz;
    double entries[6][3];
} acceptances[] = {
    {"good_general.mtx", 2, 3, 4, {{0, 0, 1}, {0, 1, .25}, {1, 0, -4}, {1, 2, 6.5}}},
    {"good_tolerated.mtx", 2, 3, 4, {{0, 0, 1}, {0, 1, .25}, {1, 0, -4}, {1, 2, 6.5}}},
    {"good_gzip.mtx.gz", 2, 3, 4, {{0, 0, 1}, {0, 1, .25}, {1, 0, -4}, {1, 2, 6.5}}},
    {"good_gzip_members.mtx.gz",
     2,
     3,
     4,
     {{0, 0, 1}, {0, 1, .25}, {1, 0, -4}, {1, 2, 6.5}}},
#if HYBRID_WITH_ZSTD
    {"good_zstd.mtx.zst", 2, 3, 4, {{0, 0, 1}, {0, 1, .25}, {1, 0, -4}, {1, 2, 6.5}}},
#endif
    {"good_integer.mtx", 2, 2, 3, {{0, 0, 7}, {0, 1, 3}, {1, 1, -9007199254740992.0}}},
    {"good_pattern.mtx", 3, 2, 3, {{0, 1, 1}, {2, 0, 1}, {2, 1, 1}}},
    {"good_pattern_symmetric.mtx",
     3,
     3,
     5,
     {{0, 0, 1}, {0, 2, 1}, {1, 2, 1}, {2, 0, 1}, {2, 1, 1}}},
    {"good_symmetric.mtx",
     3,
     3,
     6,
     {{0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {1, 0, 2}, {2, 0, 3}, {2, 2, 4}}},
    {"good_symmetric_upper.mtx",
     3,
     3,
     6,
     {{0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {1, 0, 2}, {2, 0, 3}, {2, 2, 4}}},
    {"good_symmetric_mixed.mtx",
     3,
     3,
     6,
     {{0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {1, 0, 2}, {2, 0, 3}, {2, 2, 4}}},
    {"good_skew.mtx",
     3,
     3,
     5,
     {{0, 1, -5}, {1, 0, 5}, {1, 2, 1.5}, {2, 1, -1.5}, {2, 2, 0}}},
    {"good_duplicates.mtx", 2, 2, 3, {{0, 0, 5}, {0, 1, 7}, {1, 0, 0}}},
    {"good_zeros.mtx", 2, 2, 3, {{0, 0, 0}, {1, 0, 0}, {1, 1, -0.0}}},
    {"good_special.mtx",
     1,
     5,
     5,
     {{0, 0, NAN}, {0, 1, INFINITY}, {0, 2, -INFINITY}, {0, 3, INFINITY}, {0, 4, NAN}}},
    {"good_empty.mtx", 0, 0, 0, {{0}}},
    {"good_no_entries.mtx", 3, 5, 0, {{0}}},
    {"good_no_columns.mtx", 3, 0, 0, {{0}}},
};

static double value_at(const hybrid_csr *A, int64_t k)
{
    return A->type == HYBRID_F64 ? ((double *)A->val)[k] : ((float *)A->val)[k];
}

static int same_value(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void check_acceptance(const struct acceptance *want, hybrid_type type)
{
    hybrid_csr A;
    int64_t row = 0;

    hy_message_clear(&io_ctx->message);
    if (hy_read_mtx(io_ctx, io_data(want->file), type, &A) != HYBRID_OK)
        fail_msg("%s: %s", want->file, io_ctx->message.text);
    assert_int_equal(hy_csr_check(io_ctx, &A, "A"), HYBRID_OK);
    assert_int_equal(A.type, type);
    assert_int_equal(A.rows, want->rows);
    assert_int_equal(A.cols, want->cols);
    assert_int_equal(A.nnz, want->nnz);
    for (int64_t k = 0; k < A.nnz; k++) {
        while (hy_offset(&A, row + 1) <= k)
            row++;
        if ((double)row != want->entries[k][0] || hy_cols(&A)[k] != want->entries[k][1] ||
            !same_value(value_at(&A, k), want->entries[k][2]))
            fail_msg("%s: entry %d is (%d,%d) %g", want->file, (int)k, (int)row,
                     (int)hy_cols(&A)[k], value_at(&A, k));
    }
    hy_csr_free(io_ctx, &A);
}

static void accepted_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof acceptances / sizeof *acceptances; i++) {
        check_acceptance(&acceptances[i], HYBRID_F64);
        check_acceptance(&acceptances[i], HYBRID_F32);
    }
}

static void too_large_for_32_bits(void **state)
{
    const char text[] =
        "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e39\n";
    hybrid_csr A;
    (void)state;

    hy_message_clear(&io_ctx->message);
    assert_int_equal(
        hy_read_mtx_memory(io_ctx, "x", text, sizeof text - 1, HYBRID_F32, &A),
        HYBRID_BAD_FILE);
    assert_string_equal(io_ctx->message.text,
                        "x:3: value '1e39' is too large for 32 bits");
    assert_int_equal(
        hy_read_mtx_memory(io_ctx, "x", text, sizeof text - 1, HYBRID_F64, &A),
        HYBRID_OK);
    hy_csr_free(io_ctx, &A);
}

/* Reads a matrix of `rows` rows with one entry, in the last row. */
static void check_empty_rows(int64_t rows)
{
    char text[128];
    hybrid_csr A;
    const int bytes =
        snprintf(text, sizeof text,
                 "%%%%MatrixMarket matrix coordinate real general\n%lld 3 1\n%lld 2 5\n",
                 (long long)rows, (long long)rows);

    hy_message_clear(&io_ctx->message);
    if (hy_read_mtx_memory(io_ctx, "x", text, (size_t)bytes, HYBRID_F32, &A) != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    assert_int_equal(A.rows, rows);
    assert_int_equal(A.nnz, 1);
    assert_int_equal(hy_csr_check(io_ctx, &A, "A"), HYBRID_OK);
    assert_int_equal(hy_offset(&A, rows - 1), 0);
    assert_int_equal(hy_offset(&A, rows), 1);
    hy_csr_free(io_ctx, &A);
    hy_results_trim(io_ctx);

    A                        = (hybrid_csr){.rows = -1};
    io_ctx->memory.meter.cap = hy_meter_used(&io_ctx->memory.meter) + rows * 8;
    assert_int_equal(hy_read_mtx_memory(io_ctx, "x", text, (size_t)bytes, HYBRID_F32, &A),
                     HYBRID_NO_MEMORY);
    io_ctx->memory.meter.cap = 0;
    assert_int_equal(A.rows, -1);
}

static void many_empty_rows(void **state)
{
    (void)state;
    check_empty_rows((1 << 26) + 1);
}

static void a_billion_empty_rows(void **state)
{
    (void)state;
    check_empty_rows(1 << 30);
}

/* A matrix can be read from a pipe, which has no size and cannot be mapped. */
static void read_from_pipe(void **state)
{
    char path[32];
    int ends[2];
    size_t bytes;
    char *text = io_load(io_data("good_symmetric.mtx"), &bytes);
    hybrid_csr A;
    (void)state;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, bytes), bytes);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(hy_read_mtx(io_ctx, path, HYBRID_F64, &A), HYBRID_OK);
    assert_int_equal(A.nnz, 6);
    hy_csr_free(io_ctx, &A);
    close(ends[0]);
    free(text);
}

/* ---- memory ---- */

/* Every allocation fails once. The status is NO_MEMORY, and the result is unchanged. */
static void allocations_fail(void **state)
{
    hybrid_status status = HYBRID_NO_MEMORY;
    int failed           = 0;
    (void)state;

    for (int64_t n = 1; status != HYBRID_OK; n++) {
        hybrid_csr A = {.rows = -1};
        hy_results_trim(io_ctx); /* so that pages are allocated anew */
        io_ctx->memory.failures = n;
        hy_message_clear(&io_ctx->message);
        status = hy_read_mtx(io_ctx, io_data("good_gzip.mtx.gz"), HYBRID_F64, &A);
        if (status == HYBRID_OK) {
            hy_csr_free(io_ctx, &A);
            break;
        }
        failed++;
        assert_int_equal(status, HYBRID_NO_MEMORY);
        assert_int_equal(A.rows, -1);
    }
    io_ctx->memory.failures = 0;
    assert_true(failed >= 10); /* allocations: at least 8 arrays and 3 results */
}

static hybrid_status read_list(void)
{
    hybrid_csr A;

    HY_TRY(hy_read_mtx(io_ctx, io_temp("l.tsv"), HYBRID_F32, &A));
    assert_int_equal(A.type, HYBRID_F32);
    assert_int_equal(A.rows, 3);
    assert_int_equal(A.cols, 3);
    assert_int_equal(A.nnz, 2);
    assert_int_equal(hy_cols(&A)[1], 0);
    assert_true(((const float *)A.val)[1] == 6);
    hy_csr_free(io_ctx, &A);
    return HYBRID_OK;
}

/* A list of entries is read like a Matrix Market file. */
static void lists(void **state)
{
    static const char good[] = "0 1 5\n2 0 6\n", bad[] = "0 1\n2 x\n";

    (void)state;
    io_store(io_temp("l.tsv"), good, strlen(good));
    assert_in_range(io_fail_each(read_list), 14, 1000);
    io_store(io_temp("l.tsv"), bad, strlen(bad));
    check_refusal(io_temp("l.tsv"), HYBRID_BAD_FILE, "l.tsv:2: column index 'x'");
    io_store(io_temp("l.tsv"), "# c\n\n", 5);
    check_refusal(io_temp("l.tsv"), HYBRID_BAD_FILE, "l.tsv:1: no line of numbers");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest slow[] = {
        cmocka_unit_test(a_billion_empty_rows), /* its offsets take 8 GiB */
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_files),   cmocka_unit_test(unreadable_files),
        cmocka_unit_test(accepted_files),  cmocka_unit_test(too_large_for_32_bits),
        cmocka_unit_test(read_from_pipe),  cmocka_unit_test(allocations_fail),
        cmocka_unit_test(many_empty_rows), cmocka_unit_test(lists),
    };

    if (argc > 1 && strcmp(argv[1], "slow") == 0)
        return cmocka_run_group_tests(slow, io_group_open, io_group_close);
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
