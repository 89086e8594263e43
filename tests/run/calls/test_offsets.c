/* tests/run/calls/test_offsets.c - invalid offsets of a matrix.

   Offsets that decrease, are negative or exceed the number of entries are refused by
   every call that takes a matrix, before they are used to read anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "support/inputs/cases.h"
#include "support/engines/host_engine.h"

/* SIDE: rows and columns of the matrix, more than the PIECE rows that a worker checks at
   a time. */
enum { SIDE = 150000, PIECE = 1 << 16, WIDTH = 2 };

static hybrid_csr good; /* a valid matrix, SIDE x SIDE, with 64-bit offsets */
static hybrid_csr bad;  /* `good` with offsets that tests change */
static int32_t narrow[SIDE + 1];
static int64_t wide[SIDE + 1];
static hybrid_dense X, Y;

static int set_up(void **state)
{
    const test_kind kind = {HYBRID_F32, HYBRID_I64, 1};

    matrix_random(SIDE, SIDE, 2, 1, kind, &good);
    dense_make(SIDE, WIDTH, 0, HYBRID_ROW_MAJOR, 2, kind, &X);
    dense_make(SIDE, WIDTH, 0, HYBRID_ROW_MAJOR, 3, kind, &Y);
    return open_engine(state);
}

static int tear_down(void **state)
{
    matrix_free(&good);
    dense_free(&X);
    dense_free(&Y);
    return close_engine(state);
}

/* ---- calls that take a matrix ---- */

static hybrid_csr C;
static hybrid_plan *plan;
static int64_t row;

static hybrid_status spgemm_a(void)
{
    return hybrid_spgemm(engine, &bad, &good, &C);
}

static hybrid_status spgemm_b(void)
{
    return hybrid_spgemm(engine, &good, &bad, &C);
}

static hybrid_status square(void)
{
    return hybrid_spgemm(engine, &bad, &bad, &C);
}

static hybrid_status spmm(void)
{
    return hybrid_spmm(engine, 1, &bad, &X, 0, &Y);
}

static hybrid_status spmv(void)
{
    return hybrid_spmv(engine, 1, &bad, X.data, 0, Y.data);
}

static hybrid_status spgemm_plan_a(void)
{
    return hybrid_spgemm_plan(engine, &bad, &good, NULL, &plan);
}

static hybrid_status spgemm_plan_b(void)
{
    return hybrid_spgemm_plan(engine, &good, &bad, NULL, &plan);
}

static hybrid_status spmm_plan(void)
{
    return hybrid_spmm_plan(engine, &bad, WIDTH, NULL, &plan);
}

static hybrid_status checked_plan(void)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;

    o.flags = HYBRID_CHECK;
    return hybrid_spmm_plan(engine, &bad, WIDTH, &o, &plan);
}

static hybrid_status verify_a(void)
{
    return hybrid_verify_spgemm(engine, &bad, &good, &good, 1, 1, &row);
}

static hybrid_status verify_b(void)
{
    return hybrid_verify_spgemm(engine, &good, &bad, &good, 1, 1, &row);
}

static hybrid_status verify_c(void)
{
    return hybrid_verify_spgemm(engine, &good, &good, &bad, 1, 1, &row);
}

static hybrid_status verify_spmm(void)
{
    return hybrid_verify_spmm(engine, &bad, &X, &Y, 1, 1, &row);
}

static hybrid_status verify_tf32(void)
{
    return hybrid_verify_spmm_tf32(engine, &bad, &X, &Y, 1, 1, &row);
}

static hybrid_status check(void)
{
    return hybrid_csr_check(engine, &bad);
}

static hybrid_status transpose(void)
{
    return hybrid_csr_transpose(engine, &bad, &C);
}

static hybrid_status info(void)
{
    hybrid_matrix_info out;
    return hybrid_csr_info(engine, &bad, &out);
}

static hybrid_status write_mtx(void)
{
    return hybrid_write_mtx(engine, "/dev/null", &bad);
}

static hybrid_status (*const calls[])(void) = {
    spgemm_a,      spgemm_b,    square,       spmm,      spmv,     spgemm_plan_a,
    spgemm_plan_b, spmm_plan,   checked_plan, verify_a,  verify_b, verify_c,
    verify_spmm,   verify_tf32, check,        transpose, info,     write_mtx};

static void all_refuse(const char *words)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        assert_int_equal(calls[i](), HYBRID_BAD_MATRIX);
        if (!strstr(hybrid_engine_message(engine), words))
            fail_msg("call %zu says '%s', not '%s'", i, hybrid_engine_message(engine),
                     words);
    }
}

/* ---- invalid offsets ---- */

/* Makes `bad` equal to `good`, with offsets of type `offsets` in arrays that a test may
   change. */
static void make_bad(hybrid_index offsets)
{
    bad             = good;
    bad.offset_type = offsets;
    bad.row_ptr     = offsets == HYBRID_I32 ? (void *)narrow : (void *)wide;
    for (int64_t i = 0; i <= SIDE; i++)
        narrow[i] = (int32_t)(wide[i] = ((const int64_t *)good.row_ptr)[i]);
}

/* Sets offset i to `value` for a while. Fails the test unless all calls refuse the
   matrix with a message that contains `words`. */
static void spoil_and_hear(int64_t i, int64_t value, const char *words)
{
    const int64_t kept = wide[i];

    narrow[i] = (int32_t)(wide[i] = value);
    all_refuse(words);
    narrow[i] = (int32_t)(wide[i] = kept);
}

/* Works as spoil_and_hear() for a value below the previous or above the last offset. The
   message must name row i - 1, the first that is wrong. */
static void spoil(int64_t i, int64_t value)
{
    char words[64];

    snprintf(words, sizeof words, "row %lld: offsets", (long long)i - 1);
    spoil_and_hear(i, value, words);
}

static void spoil_all(hybrid_index offsets)
{
    static const int64_t places[] = {1, PIECE, PIECE + 1, SIDE - 1};

    make_bad(offsets);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        spoil(places[i], -1);
        spoil(places[i], INT32_MIN);
        spoil(places[i], bad.nnz + 1);
        spoil(places[i], INT32_MAX);
    }
    spoil(PIECE, wide[PIECE - 1] - 1);
    /* row i - 1 now also has entries of row i, so that the check of its columns may fail
       first, and another row number may be named */
    spoil_and_hear(PIECE, wide[PIECE + 1] + 1, "row 6553");
}

static void offsets_that_fall_or_leave(void **state)
{
    (void)state;
    spoil_all(HYBRID_I64);
    spoil_all(HYBRID_I32);
}

static void ends(hybrid_index offsets)
{
    make_bad(offsets);
    narrow[0] = (int32_t)(wide[0] = 1);
    all_refuse("row offsets go from 1 to");
    narrow[0] = (int32_t)(wide[0] = -1);
    all_refuse("row offsets go from -1 to");
    narrow[0] = (int32_t)(wide[0] = 0);
    bad.nnz--;
    all_refuse("instead of from 0 to");
    bad.nnz += 2;
    all_refuse("instead of from 0 to");
}

static void ends_that_are_not_0_and_nnz(void **state)
{
    (void)state;
    ends(HYBRID_I64);
    ends(HYBRID_I32);
}

static void sizes_and_arrays(void **state)
{
    (void)state;
    make_bad(HYBRID_I64);
    bad.row_ptr = NULL;
    all_refuse("row_ptr is NULL");
    make_bad(HYBRID_I64);
    bad.col = NULL;
    all_refuse("col is NULL");
    make_bad(HYBRID_I64);
    bad.val = NULL;
    all_refuse("val is NULL");
    make_bad(HYBRID_I64);
    bad.rows = -1;
    all_refuse("must be in 0..");
    make_bad(HYBRID_I64);
    bad.cols = -1;
    all_refuse("must be in 0..");
    make_bad(HYBRID_I64);
    bad.nnz = -1;
    all_refuse("must be in 0..");
    bad.nnz = INT64_MAX;
    all_refuse("must be in 0..");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_that_fall_or_leave),
        cmocka_unit_test(ends_that_are_not_0_and_nnz),
        cmocka_unit_test(sizes_and_arrays),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
