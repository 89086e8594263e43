/* tests/run/calls/test_reuse.c - repeated runs of a plan, with new values or another
   pattern. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "support/inputs/cases.h"
#include "support/check/constant.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/engines/places.h"
#include "support/subjects/csr_samples.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

static void set_values(hybrid_csr *A, unsigned seed, int integers)
{
    for (int64_t k = 0; k < A->nnz; k++)
        value_set(A->val, A->type, k, test_number(seed, k, integers));
}

static const hybrid_plan_options REUSED = {.struct_size = sizeof(hybrid_plan_options),
                                           .flags       = HYBRID_REUSE};

/* ---- values ---- */

/* Runs one plan three times, with two sets of values. Each C must have the bits of a run
   of a new plan, and be that of the oracle. */
static void run_again(hybrid_engine *engine, hybrid_csr *A, hybrid_csr *B, int integers,
                      const hybrid_plan_options *options)
{
    hybrid_plan *plan, *once;
    hybrid_csr C, D;
    oracle reference;

    assert_int_equal(hybrid_spgemm_plan(engine, A, B, options, &plan), HYBRID_OK);
    for (unsigned run = 0; run < 3; run++) {
        if (run > 1) { /* the third run has new values; the second has those of the
                          first */
            set_values(A, 2 * run, integers);
            set_values(B, 2 * run + 1, integers);
        }
        const plan_copy before = plan_remember(plan);
        assert_int_equal(hybrid_spgemm_run(plan, A, B, &C), HYBRID_OK);
        plan_is_unchanged(plan, before);
        assert_int_equal(report_of(plan).reused_pattern, run > 0);
        assert_int_equal(report_of(plan).nnz_out, C.nnz);
        assert_int_equal(hybrid_spgemm_plan(engine, A, B, options, &once), HYBRID_OK);
        assert_int_equal(hybrid_spgemm_run(once, A, B, &D), HYBRID_OK);
        assert_int_equal(report_of(once).reused_pattern, 0);
        hybrid_plan_destroy(once);
        oracle_spgemm(A, B, &reference);
        assert_null(oracle_check(&reference, &C, integers));
        csr_same(&C, &D);
        if (C.nnz > 0) /* the next run may get the same memory, and must write all of
                          it */
            memset(C.val, 0xa5, (size_t)C.nnz * hy_value_size(C.type));
        memset(C.row_ptr, 0xa5, (size_t)(C.rows + 1) * 8);
        oracle_free(&reference);
        hybrid_csr_free(engine, &C);
        hybrid_csr_free(engine, &D);
    }
    hybrid_plan_destroy(plan);
}

static void every_case_runs_again(void **state)
{
    static const int64_t chunk_rows[] = {1, 7, 0};
    static const test_kind kinds[]    = {{HYBRID_F64, HYBRID_I64, 1},
                                         {HYBRID_F32, HYBRID_I32, 0}};

    (void)state;
    for (place where = 0; where < PLACES; where++) {
        hybrid_engine *engine = place_open(where, 0);
        fake_delays(5, 0);
        for (int i = 0; i < case_count(); i++) {
            const test_kind kind        = kinds[i % 2];
            hybrid_plan_options options = REUSED;
            test_case c;
            case_make(i, kind, &c);
            options.chunk_rows = chunk_rows[i % 3];
            run_again(engine, &c.A, &c.B, kind.integers, &options);
            case_free(&c);
        }
        hybrid_engine_destroy(engine);
    }
    assert_int_equal(fake_alive(), 0);
}

static void delays_change_no_bit(void **state)
{
    hybrid_csr A, B;

    (void)state;
    matrix_random(300, 300, 6, 1, (test_kind){HYBRID_F64, HYBRID_I64, 0}, &A);
    matrix_random(300, 300, 5, 2, (test_kind){HYBRID_F64, HYBRID_I64, 0}, &B);
    for (place where = 0; where < PLACES; where++) {
        hybrid_plan_options options = REUSED;
        hybrid_engine *engine       = place_open(where, 0);
        options.chunk_rows          = 23;
        run_again(engine, &A, &B, 0, &options);
        run_again(engine, &A, &A, 0, &options);
        hybrid_engine_destroy(engine);
    }
    assert_int_equal(fake_alive(), 0);
    matrix_free(&A);
    matrix_free(&B);
}

/* Results that are allocated again have pinned pages, and the device writes them
   directly. */
static void later_results_are_written_directly(void **state)
{
    const int64_t before  = fake_pins();
    hybrid_engine *engine = place_open(ON_DEVICE, 0);
    hybrid_plan *plan;
    hybrid_csr A, C;
    oracle reference;

    (void)state;
    matrix_random(800, 800, 8, 9, f64, &A);
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &REUSED, &plan), HYBRID_OK);
    for (unsigned run = 0; run < 4; run++) {
        set_values(&A, run, 1);
        oracle_spgemm(&A, &A, &reference);
        assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_OK);
        assert_null(oracle_check(&reference, &C, 1));
        memset(C.col, 0xa5, (size_t)C.nnz * 4);
        memset(C.val, 0xa5, (size_t)C.nnz * 8);
        hybrid_csr_free(engine, &C);
        oracle_free(&reference);
    }
    assert_true(fake_pins() > before + 20);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* Some rows have few entries of C for their scalar products, and determine the expected
   size of a chunk. Others have one entry for each, so that their entries exceed a slot
   and arrive in several copies. */
static void entries_beyond_what_is_expected_come_in_turns(void **state)
{
    enum { SHARED = 100, LENGTH = 50, MANY = 100, ROWS = SHARED + MANY + 4000 };
    static int64_t row_ptr[ROWS + 1];
    static int32_t col[SHARED * LENGTH + MANY * SHARED + 4000];
    static double val[sizeof col / sizeof *col];
    hybrid_csr A          = {ROWS, ROWS, 0, HYBRID_I64, row_ptr, col, val, HYBRID_F64};
    hybrid_engine *engine = place_open(ON_DEVICE, (size_t)1 << 27);
    hybrid_plan_options options = REUSED;
    int64_t k                   = 0;

    (void)state;
    for (int i = 0; i < ROWS; i++) {
        row_ptr[i]          = k;
        const int64_t first = k;
        const int n         = i < SHARED ? LENGTH : i < SHARED + MANY ? SHARED : 1;
        for (int j = 0; j < n; j++, k++)
            col[k] = i < SHARED          ? 1000 + j
                     : i < SHARED + MANY ? (int32_t)(k - first)
                                         : i % SHARED;
    }
    row_ptr[ROWS] = A.nnz = k;
    options.chunk_rows    = 500;
    set_values(&A, 5, 1);
    run_again(engine, &A, &A, 1, &options);
    hybrid_engine_destroy(engine);
}

/* The entries of C of one chunk are more than a slot holds, because no two scalar
   products have the same column. They arrive in several copies. */
static void large_chunks_come_in_turns(void **state)
{
    enum { ROWS = 3000, EACH = 400, MOST = 8 << 20 };
    static int32_t row_ptr[ROWS + 1], col[ROWS];
    static double val[ROWS];
    hybrid_csr A = {ROWS, ROWS, ROWS, HYBRID_I32, row_ptr, col, val, HYBRID_F64}, B;
    hybrid_engine *engine       = place_open(ON_DEVICE, (size_t)1 << 28);
    hybrid_plan_options options = REUSED;
    hybrid_plan *plan;
    size_t device, pinned;

    (void)state;
    for (int i = 0; i < ROWS; i++) {
        row_ptr[i + 1] = i + 1;
        col[i]         = ROWS - 1 - i;
    }
    matrix_random(ROWS, 4000, EACH, 8, f64, &B);
    set_values(&A, 5, 1);
    options.chunk_rows = ROWS;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &B, &options, &plan), HYBRID_OK);
    assert_int_equal(plan->portions->layout.count, 1);
    assert_true(plan->product.profile.features.out_bound * 12 > MOST * 5 / 4);
    hy_slot_sizes(plan->portions->backend, &plan->portions->rates,
                  plan->portions->layout.chunks, 1, 0, &device, &pinned);
    assert_true(pinned < MOST + (64 + 20) * ROWS); /* MOST bytes for entries of C; the
                                                      rest for offsets and for rows of
                                                      A */
    hybrid_plan_destroy(plan);
    run_again(engine, &A, &B, 1, &options);
    hybrid_engine_destroy(engine);
    matrix_free(&B);
}

/* ---- patterns ---- */

static void assert_refused(hybrid_engine *engine, hybrid_plan *plan, const hybrid_csr *A,
                           const hybrid_csr *B, const char *sentence)
{
    hybrid_csr C, before;

    memset(&C, 0x5a, sizeof C);
    before = C;
    assert_int_equal(hybrid_spgemm_run(plan, A, B, &C), HYBRID_BAD_STATE);
    assert_non_null(strstr(hybrid_engine_message(engine), sentence));
    assert_memory_equal(&C, &before, sizeof C);
}

/* Makes a matrix with two entries in each row, in columns 3 and 10 of a band that moves
   to the right from row to row. It stays valid if an entry moves to the next row, or a
   few columns to the right. */
static void matrix_stepped(int64_t rows, int64_t cols, hybrid_csr *A)
{
    *A = (hybrid_csr){.rows        = rows,
                      .cols        = cols,
                      .nnz         = 2 * rows,
                      .offset_type = HYBRID_I64,
                      .row_ptr     = malloc((size_t)(rows + 1) * 8),
                      .col         = malloc((size_t)rows * 2 * 4),
                      .val         = malloc((size_t)rows * 2 * 8),
                      .type        = HYBRID_F64};
    assert_true(A->row_ptr && A->col && A->val);
    for (int64_t i = 0; i <= rows; i++)
        ((int64_t *)A->row_ptr)[i] = 2 * i;
    for (int64_t k = 0; k < A->nnz; k++)
        hy_cols(A)[k] = (int32_t)(k / 2 * (cols - 12) / rows + (k % 2 ? 10 : 3));
    set_values(A, 3, 1);
}

/* Moves the last entry of a row by `by` columns, to a column that must be free. */
static void move_entry(hybrid_csr *A, int64_t row, int32_t by)
{
    const int64_t last = hy_offset(A, row + 1) - 1;

    assert_true(last >= hy_offset(A, row));
    hy_cols(A)[last] += by;
    assert_true(hy_cols(A)[last] < A->cols);
}

/* Adds `by` to the offset of a row, which moves entries to or from the row before.
   Columns of a row may no longer ascend then, which is not checked here. */
static void move_offset(hybrid_csr *A, int64_t row, int64_t by)
{
    ((int64_t *)A->row_ptr)[row] += by;
}

static void refuse_others(place where)
{
    hybrid_engine *engine       = place_open(where, 0);
    hybrid_plan_options options = REUSED;
    hybrid_plan *plan;
    hybrid_csr A, B, C;
    oracle reference;

    matrix_stepped(90, 80, &A);
    matrix_stepped(80, 70, &B);
    oracle_spgemm(&A, &B, &reference);
    options.chunk_rows = 11;
    options.flags |= HYBRID_CHECK;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &B, &options, &plan), HYBRID_OK);
    for (int run = 0; run < 3; run++) { /* the changes are tried before the first run and
                                           before each later run */
        move_entry(&A, 40, 1);
        assert_refused(engine, plan, &A, &B, "the pattern of A differs");
        move_entry(&A, 40, -1);
        move_offset(&A, 40, 1);
        assert_refused(engine, plan, &A, &B, "the pattern of A differs");
        move_offset(&A, 40, -1);
        for (int64_t i = 0; i < 80; i++) {
            move_entry(&B, i, 1);
            assert_refused(engine, plan, &A, &B, "the pattern of B differs");
            move_entry(&B, i, -1);
        }
        A.nnz--;
        assert_refused(engine, plan, &A, &B, "the plan was made for");
        A.nnz++;
        assert_int_equal(hybrid_spgemm_run(plan, &A, &B, &C), HYBRID_OK);
        assert_null(oracle_check(&reference, &C, 1));
        hybrid_csr_free(engine, &C);
    }
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    oracle_free(&reference);
    matrix_free(&A);
    matrix_free(&B);
}

static void another_pattern_is_refused(void **state)
{
    (void)state;
    for (place where = 0; where < PLACES; where++)
        refuse_others(where);
    assert_int_equal(fake_alive(), 0);
}

static void offsets_of_both_widths_are_one_pattern(void **state)
{
    hybrid_engine *engine = place_open(ON_HOST, 0);
    int32_t narrow[301];
    uint64_t hash, other;
    hybrid_plan *plan;
    hybrid_csr A, C;

    (void)state;
    matrix_random(300, 300, 5, 7, f64, &A);
    hybrid_csr N  = A;
    N.offset_type = HYBRID_I32;
    N.row_ptr     = narrow;
    for (int i = 0; i <= 300; i++)
        narrow[i] = (int32_t)hy_offset(&A, i);
    assert_int_equal(hy_csr_hash(&engine->ctx, &A, &hash), HYBRID_OK);
    assert_int_equal(hy_csr_hash(&engine->ctx, &N, &other), HYBRID_OK);
    assert_true(hash == other);
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &N, &REUSED, &plan), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_run(plan, &N, &A, &C), HYBRID_OK);
    hybrid_csr_free(engine, &C);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* The hash of a pattern must change if any column or offset changes, or if two of them,
   near or far apart, are exchanged. */
static void every_place_counts_in_a_hash(void **state)
{
    enum { ROWS = 40000, EACH = 3 };
    hybrid_engine *engine = place_open(ON_HOST, 0);
    uint64_t hash, other;
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, EACH, 8, f64, &A);
    assert_int_equal(hy_csr_hash(&engine->ctx, &A, &hash), HYBRID_OK);
    for (int64_t k = 0; k < A.nnz; k += 1 + A.nnz / 97) {
        const int64_t l   = (k * 7 + 16) % A.nnz;
        const int32_t was = hy_cols(&A)[k];
        hy_cols(&A)[k]    = was ^ 1 << k % 31;
        assert_int_equal(hy_csr_hash(&engine->ctx, &A, &other), HYBRID_OK);
        assert_true(hash != other);
        hy_cols(&A)[k] = hy_cols(&A)[l];
        hy_cols(&A)[l] = was;
        assert_int_equal(hy_csr_hash(&engine->ctx, &A, &other), HYBRID_OK);
        assert_true((hash == other) == (hy_cols(&A)[k] == was));
        hy_cols(&A)[l] = hy_cols(&A)[k];
        hy_cols(&A)[k] = was;
    }
    for (int64_t i = 1; i < ROWS; i += 1 + ROWS / 97) {
        move_offset(&A, i, 1);
        assert_int_equal(hy_csr_hash(&engine->ctx, &A, &other), HYBRID_OK);
        assert_true(hash != other);
        move_offset(&A, i, -1);
    }
    assert_int_equal(hy_csr_hash(&engine->ctx, &A, &other), HYBRID_OK);
    assert_true(hash == other);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_runs_again),
        cmocka_unit_test(delays_change_no_bit),
        cmocka_unit_test(later_results_are_written_directly),
        cmocka_unit_test(entries_beyond_what_is_expected_come_in_turns),
        cmocka_unit_test(large_chunks_come_in_turns),
        cmocka_unit_test(another_pattern_is_refused),
        cmocka_unit_test(offsets_of_both_widths_are_one_pattern),
        cmocka_unit_test(every_place_counts_in_a_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
