/* tests/unit/io/test_npy.c - reading dense matrices (.npy, Matrix Market arrays) and
   writing .npy. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory/results.h"
#include "io/text/io.h"
#include "tests/support/engines/io_fixture.h"

/* ---- files that are refused ---- */

static const struct refusal {
    const char *file, *sentence;
} refusals[] = {
    {"bad_magic.npy", "is neither a .npy file nor a Matrix Market file"},
    {"bad_text.npy", "is neither a .npy file nor a Matrix Market file"},
    {"bad_version3.npy", ".npy version 3.0 is not supported, only 1.0 and 2.0 are"},
    {"bad_version_minor.npy", ".npy version 1.1 is not supported"},
    {"bad_short.npy", "the .npy header is truncated"},
    {"bad_header_long.npy",
     "the .npy header of 60000 bytes does not end within the first"},
    {"bad_header_huge.npy",
     "the .npy header of 4294967295 bytes does not end within the first"},
    {"bad_dtype_c8.npy", "dtype '<c8' is not supported"},
    {"bad_dtype_struct.npy", "dtype '' is not supported"},
    {"bad_order.npy", "fortran_order is neither True nor False"},
    {"bad_axes3.npy", "the array has more than 2 axes, and a matrix has 1 or 2"},
    {"bad_axes4.npy", "the array has more than 2 axes, and a matrix has 1 or 2"},
    {"bad_axes0.npy", "the array has no axes"},
    {"bad_shape_word.npy", "the shape is not a tuple of sizes"},
    {"bad_shape_negative.npy", "the shape is not a tuple of sizes"},
    {"bad_shape_overflow.npy", "the shape is too large"},
    {"bad_shape_digits.npy", "the shape is too large"},
    {"bad_shape_bytes.npy", "the shape is too large"},
    {"bad_data_short.npy", "47 bytes of data where the shape needs 48"},
    {"bad_data_long.npy", "49 bytes of data where the shape needs 48"},
    {"bad_key.npy", "the .npy header has an unexpected key 'form'"},
    {"bad_key_twice.npy", "the .npy header has an unexpected key 'descr'"},
    {"bad_key_missing.npy", "the .npy header lacks descr, fortran_order or shape"},
    {"bad_dictionary.npy", "the .npy header lacks '{' at byte 10"},
    {"bad_dictionary_open.npy", "the .npy header lacks '}' at byte"},
    {"bad_dictionary_tail.npy", "text follows the dictionary"},
    {"bad_large.npy", "value 1e+300 of element 0 is too large for 32 bits"},
    {"bad_empty.mtx", ":1: the file is empty"},
    {"good_general.mtx", ":1: a coordinate file is sparse"},
    {"bad_array_few.mtx", ":5: the file ends after 3 of the 4 values announced"},
    {"bad_array_many.mtx", ":7: there are more than the 4 values announced"},
    {"bad_array_word.mtx", ":5: value 'x' is not a number"},
    {"bad_array_two.mtx", ":3: unexpected '2' at the end of the line"},
    {"bad_array_pattern.mtx", ":1: an array cannot have the field 'pattern'"},
    {"bad_array_huge.mtx", ":3: the file ends after 1 of the 4611686014132420609 values"},
    {"bad_array_integer_inf.mtx", ":4: value '-inf' is not an integer"},
    {"bad_array_symmetric_wide.mtx", ":2: a symmetric matrix must be square, not 2 x 3"},
};

static void check_refusal(const char *path, hybrid_status expected, const char *sentence)
{
    hybrid_dense X = {.rows = -1};

    hy_message_clear(&io_ctx->message);
    const hybrid_status status = hy_read_dense(io_ctx, path, HYBRID_F32, &X);
    if (status != expected || !strstr(io_ctx->message.text, sentence) ||
        !strstr(io_ctx->message.text, path))
        fail_msg("%s: status %d, '%s', not '%s'", path, status, io_ctx->message.text,
                 sentence);
    assert_int_equal(X.rows, -1);
}

static void refused_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        check_refusal(io_data(refusals[i].file), HYBRID_BAD_FILE, refusals[i].sentence);
    check_refusal(io_temp("missing.npy"), HYBRID_IO_FAILED, strerror(ENOENT));
    check_refusal("/", HYBRID_IO_FAILED, strerror(EISDIR));
}

/* ---- files that are accepted ---- */

static const struct acceptance {
    const char *file;
    int64_t rows, cols;
    hybrid_order order;
    double values[9]; /* expected values, row by row */
} acceptances[] = {
    {"good_c_f8.npy", 2, 3, HYBRID_ROW_MAJOR, {1, 2.5, -3, 4, 5, 6e10}},
    {"good_f_f8.npy", 2, 3, HYBRID_COL_MAJOR, {1, 2.5, -3, 4, 5, 6e10}},
    {"good_c_f4.npy", 2, 3, HYBRID_ROW_MAJOR, {1, 2.5, -3, 4, 5, 6e10F}},
    {"good_f_f4.npy", 2, 3, HYBRID_COL_MAJOR, {1, 2.5, -3, 4, 5, 6e10F}},
    {"good_version2.npy", 2, 3, HYBRID_ROW_MAJOR, {1, 2.5, -3, 4, 5, 6e10}},
    {"good_spelling.npy", 2, 1, HYBRID_COL_MAJOR, {1, 2}},
    {"good_vector.npy", 3, 1, HYBRID_ROW_MAJOR, {1, 2, 3}},
    {"good_big.npy", 2, 3, HYBRID_COL_MAJOR, {1, 2.5, -3, 4, 5, 6e10}},
    {"good_half.npy", 2, 2, HYBRID_ROW_MAJOR, {1, 2.5, -3, 65504}},
    {"good_i4.npy", 1, 3, HYBRID_ROW_MAJOR, {1, -2, 3}},
    {"good_bool.npy", 2, 2, HYBRID_ROW_MAJOR, {1, 0, 0, 1}},
    {"good_no_rows.npy", 0, 5, HYBRID_ROW_MAJOR, {0}},
    {"good_array.mtx", 2, 3, HYBRID_COL_MAJOR, {1, 3.5, 5, 2, -4, 6}},
    {"good_array_symmetric.mtx", 3, 3, HYBRID_COL_MAJOR, {1, 2, 3, 2, 4, 5, 3, 5, 6}},
    {"good_array_skew.mtx", 3, 3, HYBRID_COL_MAJOR, {0, -2, -3, 2, 0, -5, 3, 5, 0}},
};

static double element(const hybrid_dense *X, int64_t i, int64_t j)
{
    const int64_t at = X->order == HYBRID_ROW_MAJOR ? i * X->ld + j : i + j * X->ld;
    return X->type == HYBRID_F64 ? ((double *)X->data)[at] : ((float *)X->data)[at];
}

static void check_acceptance(const struct acceptance *want, hybrid_type type)
{
    hybrid_dense X;

    hy_message_clear(&io_ctx->message);
    if (hy_read_dense(io_ctx, io_data(want->file), type, &X) != HYBRID_OK)
        fail_msg("%s: %s", want->file, io_ctx->message.text);
    assert_int_equal(X.type, type);
    assert_int_equal(X.rows, want->rows);
    assert_int_equal(X.cols, want->cols);
    assert_int_equal(X.order, want->order);
    for (int64_t i = 0; i < X.rows; i++)
        for (int64_t j = 0; j < X.cols; j++) {
            const double value = want->values[i * X.cols + j];
            const double found = element(&X, i, j);
            if (found != (type == HYBRID_F64 ? value : (double)(float)value))
                fail_msg("%s: (%d,%d) is %g", want->file, (int)i, (int)j, found);
        }
    hy_results_release(io_ctx, X.data);
}

static void accepted_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof acceptances / sizeof *acceptances; i++) {
        check_acceptance(&acceptances[i], HYBRID_F64);
        check_acceptance(&acceptances[i], HYBRID_F32);
    }
}

/* ---- writing ---- */

/* Makes a matrix with element (i, j) = 1000 i + j. Gaps are -1. */
static hybrid_dense make_dense(int64_t rows, int64_t cols, int64_t gap,
                               hybrid_order order, hybrid_type type)
{
    const int by_row   = order == HYBRID_ROW_MAJOR;
    hybrid_dense X     = {rows, cols, (by_row ? cols : rows) + gap, order, NULL, type};
    const size_t count = (size_t)(X.ld * (by_row ? rows : cols));

    X.data = malloc(count * 8 + 1);
    assert_non_null(X.data);
    for (size_t at = 0; at < count; at++) {
        const int64_t line = (int64_t)at / X.ld, place = (int64_t)at % X.ld;
        const int64_t i = by_row ? line : place, j = by_row ? place : line;
        const double value = i < rows && j < cols ? (double)(1000 * i + j) : -1;
        if (type == HYBRID_F64)
            ((double *)X.data)[at] = value;
        else
            ((float *)X.data)[at] = (float)value;
    }
    return X;
}

static void check_round_trip(int64_t rows, int64_t cols, int64_t gap, hybrid_order order,
                             hybrid_type type)
{
    hybrid_dense X = make_dense(rows, cols, gap, order, type), Y;

    assert_int_equal(hy_write_npy(io_ctx, io_temp("trip.npy"), &X), HYBRID_OK);
    assert_int_equal(access(io_partial("trip.npy"), F_OK), -1);
    assert_int_equal(hy_read_dense(io_ctx, io_temp("trip.npy"), type, &Y), HYBRID_OK);
    assert_int_equal(Y.rows, rows);
    assert_int_equal(Y.cols, cols);
    assert_int_equal(Y.order, order);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            assert_true(element(&Y, i, j) == (double)(1000 * i + j));
    hy_results_release(io_ctx, Y.data);
    free(X.data);
}

static void round_trips(void **state)
{
    (void)state;
    for (int type = HYBRID_F32; type <= HYBRID_F64; type++)
        for (int order = HYBRID_ROW_MAJOR; order <= HYBRID_COL_MAJOR; order++)
            for (int64_t gap = 0; gap < 2; gap++) {
                check_round_trip(5, 3, gap, (hybrid_order)order, (hybrid_type)type);
                check_round_trip(3, 5, gap, (hybrid_order)order, (hybrid_type)type);
                check_round_trip(0, 5, gap, (hybrid_order)order, (hybrid_type)type);
                check_round_trip(5, 0, gap, (hybrid_order)order, (hybrid_type)type);
                check_round_trip(1000, 999, gap, (hybrid_order)order, (hybrid_type)type);
            }
}

/* hy_write_npy() writes the same bytes as NumPy (file good_f_f4.npy). */
static void same_bytes_as_numpy(void **state)
{
    hybrid_dense X;
    size_t ours, theirs;
    (void)state;

    assert_int_equal(hy_read_dense(io_ctx, io_data("good_f_f4.npy"), HYBRID_F32, &X),
                     HYBRID_OK);
    assert_int_equal(hy_write_npy(io_ctx, io_temp("same.npy"), &X), HYBRID_OK);
    char *a = io_load(io_temp("same.npy"), &ours);
    char *b = io_load(io_data("good_f_f4.npy"), &theirs);
    assert_int_equal(ours, theirs);
    assert_memory_equal(a, b, ours);
    free(a);
    free(b);
    hy_results_release(io_ctx, X.data);
}

static void failed_writes(void **state)
{
    hybrid_dense X = make_dense(1000, 1000, 0, HYBRID_ROW_MAJOR, HYBRID_F64);
    (void)state;

    hy_message_clear(&io_ctx->message);
    assert_int_equal(hy_write_npy(io_ctx, "/nonexistent/x.npy", &X), HYBRID_IO_FAILED);
    assert_non_null(strstr(io_ctx->message.text, strerror(ENOENT)));
    hy_message_clear(&io_ctx->message);
    assert_int_equal(hy_write_npy(io_ctx, "/dev/full", &X), HYBRID_IO_FAILED);
    assert_non_null(strstr(io_ctx->message.text, strerror(ENOSPC)));
    free(X.data);
}

static void allocations_fail(void **state)
{
    const char *files[] = {"good_c_f8.npy", "good_array_symmetric.mtx"};
    (void)state;

    for (int i = 0; i < 2; i++) {
        hybrid_dense X = {.rows = -1};
        int64_t failed = 0;
        for (;;) {
            hy_results_trim(io_ctx); /* so that pages are allocated anew */
            io_ctx->memory.failures = failed + 1;
            const hybrid_status status =
                hy_read_dense(io_ctx, io_data(files[i]), HYBRID_F64, &X);
            if (status == HYBRID_OK)
                break;
            failed++;
            assert_int_equal(status, HYBRID_NO_MEMORY);
            assert_int_equal(X.rows, -1);
        }
        io_ctx->memory.failures = 0;
        assert_true(failed >= (i == 0 ? 1 : 4));
        hy_results_release(io_ctx, X.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_files), cmocka_unit_test(accepted_files),
        cmocka_unit_test(round_trips),   cmocka_unit_test(same_bytes_as_numpy),
        cmocka_unit_test(failed_writes), cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
