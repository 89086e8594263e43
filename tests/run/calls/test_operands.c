/* tests/run/calls/test_operands.c - types and memory spaces of operands.

   Each call that takes sparse operands takes 64-bit column indices and names those that
   are out of range. Each call refuses arrays on a device if it does not support them.
   Results state their types and memory space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "support/engines/host_engine.h"
#include "support/engines/io_fixture.h"

/* [1 2 0; 0 0 3; 4 0 5], its square, and a vector. */
static int64_t ptr[] = {0, 2, 3, 5}, square_ptr[] = {0, 3, 5, 8};
static int32_t col[] = {0, 1, 2, 0, 2}, square_col[] = {0, 1, 2, 0, 2, 0, 1, 2};
static double val[] = {1, 2, 3, 4, 5}, square_val[] = {1, 2, 6, 12, 15, 24, 8, 25};
static double x[] = {1, 10, 100}, y[3];
static const char dense_json[] =
    "{\"format\": \"hybrid-dense\", \"version\": 1, \"rows\": 3, \"cols\": 1, "
    "\"type\": \"f64\", \"order\": \"row\", \"values\": {\"file\": \"x.bin\"}}\n";
static const char csr_json[] =
    "{\"format\": \"hybrid-csr\", \"version\": 1, \"rows\": 3, \"cols\": 3, \"nnz\": 5, "
    "\"type\": \"f64\", \"row_ptr\": {\"file\": \"ptr.bin\", \"type\": \"i64\"}, "
    "\"col\": {\"file\": \"col.bin\", \"type\": \"i32\"}, "
    "\"values\": {\"file\": \"val.bin\"}}\n";

static hybrid_csr A, B, C, out;
static hybrid_dense X, Y;
static hybrid_plan *square, *times_x, *made;
static hybrid_file *file;

static void restore(void)
{
    A = B = (hybrid_csr){3, 3, 5, HYBRID_I64, ptr, col, val, HYBRID_F64};
    C = (hybrid_csr){3, 3, 8, HYBRID_I64, square_ptr, square_col, square_val, HYBRID_F64};
    X = (hybrid_dense){3, 1, 1, HYBRID_ROW_MAJOR, x, HYBRID_F64};
    Y = (hybrid_dense){3, 1, 1, HYBRID_ROW_MAJOR, y, HYBRID_F64};
}

static int set_up(void **state)
{
    restore();
    io_store(io_temp("x.bin"), x, sizeof x);
    io_store(io_temp("x.json"), dense_json, sizeof dense_json - 1);
    io_store(io_temp("ptr.bin"), ptr, sizeof ptr);
    io_store(io_temp("col.bin"), col, sizeof col);
    io_store(io_temp("val.bin"), val, sizeof val);
    io_store(io_temp("a.json"), csr_json, sizeof csr_json - 1);
    return open_engine(state) != 0 ||
           hybrid_file_open(engine, io_temp("x.json"), &file) != HYBRID_OK ||
           hybrid_spgemm_plan(engine, &A, &B, NULL, &square) != HYBRID_OK ||
           hybrid_spmm_plan(engine, &A, 1, NULL, &times_x) != HYBRID_OK;
}

static int tear_down(void **state)
{
    hybrid_plan_destroy(square);
    hybrid_plan_destroy(times_x);
    hybrid_file_close(file);
    io_remove_temp();
    return close_engine(state);
}

/* ---- calls, and the operands that each reads ---- */

enum {
    READS_A    = 1,
    READS_B    = 2,
    READS_C    = 4,
    READS_X    = 8,
    HAS_Y      = 16,
    NO_COLUMNS = 32 /* the call reads only shape and types of A, not its columns */
};

/* Checks that `out` is A*A, or the transpose of A, if a call that returned `status`
   succeeded. */
static hybrid_status expect_out(hybrid_status status, const int64_t *row_ptr,
                                const int32_t *cols, const double *values)
{
    if (status != HYBRID_OK)
        return status;
    assert_memory_equal(out.row_ptr, row_ptr, sizeof square_ptr);
    assert_memory_equal(out.col, cols, (size_t)row_ptr[3] * sizeof *cols);
    assert_memory_equal(out.val, values, (size_t)row_ptr[3] * sizeof *values);
    hybrid_csr_free(engine, &out);
    return status;
}

static hybrid_status expect_square(hybrid_status status)
{
    return expect_out(status, square_ptr, square_col, square_val);
}

/* Checks that y is A*x if a call that returned `status` succeeded. Returns `status`. */
static hybrid_status expect_y(hybrid_status status)
{
    static const double right[] = {21, 300, 504};

    if (status == HYBRID_OK)
        assert_memory_equal(y, right, sizeof right);
    memset(y, 0, sizeof y);
    return status;
}

static hybrid_status spgemm(void)
{
    return expect_square(hybrid_spgemm(engine, &A, &B, &out));
}

static hybrid_status spmm(void)
{
    return expect_y(hybrid_spmm(engine, 1, &A, &X, 0, &Y));
}

static hybrid_status scale(void)
{
    return hybrid_spmm(engine, 0, &A, &X, 0, &Y);
}

static hybrid_status spmv(void)
{
    return expect_y(hybrid_spmv(engine, 1, &A, x, 0, y));
}

static hybrid_status spgemm_plan(void)
{
    const hybrid_status status = hybrid_spgemm_plan(engine, &A, &B, NULL, &made);
    if (status == HYBRID_OK)
        hybrid_plan_destroy(made);
    return status;
}

static hybrid_status spmm_plan(void)
{
    const hybrid_status status = hybrid_spmm_plan(engine, &A, 1, NULL, &made);
    if (status == HYBRID_OK)
        hybrid_plan_destroy(made);
    return status;
}

static hybrid_status spgemm_run(void)
{
    return expect_square(hybrid_spgemm_run(square, &A, &B, &out));
}

/* Receives rows of C, which state their types and memory space. */
static int look(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    (void)user;
    (void)row_begin;
    return rows->col_type != HYBRID_I32 || rows->space != HYBRID_SPACE_HOST;
}

static hybrid_status spgemm_each(void)
{
    return hybrid_spgemm_each(square, &A, &B, look, NULL);
}

static hybrid_status spmm_run(void)
{
    return expect_y(hybrid_spmm_run(times_x, 1, &A, &X, 0, &Y));
}

static hybrid_status spmm_run_file(void)
{
    return expect_y(hybrid_spmm_run_file(times_x, 1, &A, file, 0, &Y));
}

static hybrid_status csr_check(void)
{
    return hybrid_csr_check(engine, &A);
}

static hybrid_status csr_transpose(void)
{
    static const int64_t t_ptr[] = {0, 2, 3, 5};
    static const int32_t t_col[] = {0, 2, 0, 1, 2};
    static const double t_val[]  = {1, 4, 2, 3, 5};

    return expect_out(hybrid_csr_transpose(engine, &A, &out), t_ptr, t_col, t_val);
}

static hybrid_status csr_info(void)
{
    hybrid_matrix_info info;
    const hybrid_status status = hybrid_csr_info(engine, &A, &info);

    if (status == HYBRID_OK)
        assert_true(info.bandwidth == 2 && info.products == 9 && !info.pattern_symmetric);
    return status;
}

static hybrid_status verify_spgemm(void)
{
    int64_t row                = -1;
    const hybrid_status status = hybrid_verify_spgemm(engine, &A, &B, &C, 1, 1, &row);

    assert_int_equal(row, -1);
    return status;
}

static hybrid_status verify_spmm(void)
{
    int64_t row;
    return hybrid_verify_spmm(engine, &A, &X, &Y, 1, 1, &row);
}

static hybrid_status verify_spmm_tf32(void)
{
    int64_t row;
    return hybrid_verify_spmm_tf32(engine, &A, &X, &Y, 1, 1, &row);
}

static hybrid_status write_mtx(void)
{
    return hybrid_write_mtx(engine, io_temp("A.mtx"), &A);
}

static hybrid_status write_npy(void)
{
    return hybrid_write_npy(engine, io_temp("Y.npy"), &Y);
}

static hybrid_status dense_random(void)
{
    return hybrid_dense_random(engine, 1, &Y);
}

static const struct {
    hybrid_status (*call)(void);
    int reads;
} calls[] = {{spgemm, READS_A | READS_B},
             {spmm, READS_A | READS_X | HAS_Y},
             {scale, READS_A | READS_X | HAS_Y | NO_COLUMNS},
             {spmv, READS_A},
             {spgemm_plan, READS_A | READS_B},
             {spmm_plan, READS_A},
             {spgemm_run, READS_A | READS_B},
             {spgemm_each, READS_A | READS_B},
             {spmm_run, READS_A | READS_X | HAS_Y},
             {spmm_run_file, READS_A | HAS_Y},
             {csr_check, READS_A},
             {csr_transpose, READS_A},
             {csr_info, READS_A},
             {verify_spgemm, READS_A | READS_B | READS_C},
             {verify_spmm, READS_A | READS_X | HAS_Y},
             {verify_spmm_tf32, READS_A | READS_X | HAS_Y},
             {write_mtx, READS_A},
             {write_npy, HAS_Y},
             {dense_random, HAS_Y}};

enum { CALLS = sizeof calls / sizeof *calls };

/* Makes all calls. Those that read `operand` and lack the flag `but` must return `status`
   and a message with `words`. All other calls must succeed. */
static void refused_by(int operand, int but, hybrid_status status, const char *words)
{
    for (int i = 0; i < CALLS; i++) {
        const int refuses       = calls[i].reads & operand && !(calls[i].reads & but);
        const hybrid_status got = calls[i].call();
        if (got != (refuses ? status : HYBRID_OK) ||
            (got != HYBRID_OK && !strstr(hybrid_engine_message(engine), words)))
            fail_msg("call %d returns %d: '%s'", i, (int)got,
                     hybrid_engine_message(engine));
    }
    restore();
}

static void refused_by_readers(int operand, hybrid_status status, const char *words)
{
    refused_by(operand, 0, status, words);
}

/* ---- tests ---- */

static void columns_of_32_bits_have_two_names(void **state)
{
    (void)state;
    refused_by_readers(0, HYBRID_OK, "");
    A.col_type = B.col_type = C.col_type = HYBRID_I32;
    refused_by_readers(0, HYBRID_OK, "");
}

static int64_t wide[] = {0, 1, 2, 0, 2}, square_wide[] = {0, 1, 2, 0, 2, 0, 1, 2};
static hybrid_csr *const sparse[] = {&A, &B, &C};
static int64_t *const columns[]   = {wide, wide, square_wide};
static const int reads[]          = {READS_A, READS_B, READS_C};

static void widen(int m)
{
    sparse[m]->col      = columns[m];
    sparse[m]->col_type = HYBRID_I64;
}

static void columns_of_64_bits_are_taken(void **state)
{
    (void)state;
    for (int which = 1; which < 8; which++) {
        for (int m = 0; m < 3; m++)
            if (which >> m & 1)
                widen(m);
        refused_by_readers(0, HYBRID_OK, "");
    }
}

/* Calls that read column indices must name entry 1 of row 2, which is out of range. */
static void columns_out_of_range_are_named(void **state)
{
    static const int64_t bad[] = {-1,        3,        INT32_MAX, (int64_t)1 << 32,
                                  INT64_MAX, INT64_MIN};
    static const int at[]      = {4, 4, 6};
    char words[64];

    (void)state;
    for (int m = 0; m < 3; m++)
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            const int64_t right = columns[m][at[m]];
            snprintf(words, sizeof words, ": row 2, entry 1: column %lld is not in 0..2",
                     (long long)bad[i]);
            columns[m][at[m]] = bad[i];
            widen(m);
            refused_by(reads[m], NO_COLUMNS, HYBRID_BAD_MATRIX, words);
            columns[m][at[m]] = right;
        }
}

static void columns_of_other_types_are_refused(void **state)
{
    (void)state;
    for (int m = 0; m < 3; m++) {
        sparse[m]->col_type = HYBRID_INDEX_AUTO;
        refused_by_readers(reads[m], HYBRID_BAD_ARGUMENT, "col_type 3 is neither");
        sparse[m]->col      = (int32_t *)(void *)wide + 1;
        sparse[m]->col_type = HYBRID_I64;
        refused_by_readers(reads[m], HYBRID_BAD_ARGUMENT, "not aligned to the 8 bytes");
    }
}

static void operands_on_a_device_are_refused(void **state)
{
    hybrid_space *const spaces[] = {&A.space, &B.space, &C.space, &X.space, &Y.space};

    (void)state;
    for (int m = 0; m < 5; m++) {
        *spaces[m] = HYBRID_SPACE_DEVICE;
        refused_by_readers(1 << m, HYBRID_UNSUPPORTED, "is in device memory, but");
        *spaces[m] = (hybrid_space)2;
        refused_by_readers(1 << m, HYBRID_BAD_ARGUMENT, "space 2 is neither");
    }
}

/* Checks that the call succeeded and set `out` to A*A; `out` had other bytes before the
   call. */
static void expect_csr(hybrid_status status)
{
    assert_int_equal(status, HYBRID_OK);
    assert_int_equal(out.col_type, HYBRID_I32);
    assert_int_equal(out.space, HYBRID_SPACE_HOST);
    hybrid_csr_free(engine, &out);
    memset(&out, 0x55, sizeof out);
}

static void expect_dense(hybrid_status status, hybrid_dense *matrix)
{
    assert_int_equal(status, HYBRID_OK);
    assert_int_equal(matrix->space, HYBRID_SPACE_HOST);
    hybrid_dense_free(engine, matrix);
    memset(matrix, 0x55, sizeof *matrix);
}

static void results_tell_what_they_are(void **state)
{
    const hybrid_type f64 = HYBRID_F64;
    hybrid_dense D;

    (void)state;
    memset(&out, 0x55, sizeof out);
    memset(&D, 0x55, sizeof D);
    expect_csr(hybrid_spgemm(engine, &A, &B, &out));
    expect_csr(hybrid_spgemm_run(square, &A, &B, &out));
    expect_csr(hybrid_csr_transpose(engine, &A, &out));
    expect_csr(hybrid_generate(engine, "er:10,2", f64, 1, &out));
    expect_csr(hybrid_read_mtx(engine, io_data("good_general.mtx"), f64, &out));
    expect_csr(hybrid_read_csr(engine, io_temp("a.json"), &out));
    expect_dense(hybrid_dense_create(engine, 2, 2, HYBRID_ROW_MAJOR, f64, &D), &D);
    expect_dense(hybrid_read_dense(engine, io_data("good_version2.npy"), f64, &D), &D);
    assert_int_equal(hybrid_file_dense(file).space, HYBRID_SPACE_HOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_32_bits_have_two_names),
        cmocka_unit_test(columns_of_64_bits_are_taken),
        cmocka_unit_test(columns_out_of_range_are_named),
        cmocka_unit_test(columns_of_other_types_are_refused),
        cmocka_unit_test(operands_on_a_device_are_refused),
        cmocka_unit_test(results_tell_what_they_are),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
