/* tests/run/calls/test_each.c - rows of C are handed to a function in order, without
   storing C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"
#include "support/runs/each.h"
#include "support/check/deltas.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/engines/places.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

/* Runs the plan twice and hands out the rows of C. They must be those of the oracle and
   have the bits of a C that a run stores. */
static void check_plan(hybrid_engine *engine, hybrid_plan *plan, const hybrid_csr *A,
                       const hybrid_csr *B, int exact)
{
    oracle reference;
    collected rows;
    hybrid_csr C;

    oracle_spgemm(A, B, &reference);
    for (int run = 0; run < 2; run++) {
        assert_int_equal(collect(plan, A, B, -1, &rows), HYBRID_OK);
        assert_null(oracle_check(&reference, &rows.C, exact));
        assert_int_equal(report_of(plan).nnz_out, rows.C.nnz);
        assert_int_equal(report_of(plan).chunks, rows.panels);
        assert_int_equal(report_of(plan).reused_pattern, 0);
        assert_int_equal(hybrid_spgemm_run(plan, A, B, &C), HYBRID_OK);
        collected_same(&rows, &C);
        hybrid_csr_free(engine, &C);
        matrix_free(&rows.C);
    }
    oracle_free(&reference);
}

/* ---- products ---- */

static void every_case_is_handed_over(void **state)
{
    static const int64_t chunk_rows[] = {1, 7, 0};
    static const unsigned flags[]     = {0, HYBRID_DETERMINISTIC, HYBRID_REUSE};
    static const test_kind kinds[]    = {{HYBRID_F64, HYBRID_I64, 1},
                                         {HYBRID_F32, HYBRID_I32, 0}};

    (void)state;
    for (place where = 0; where < PLACES; where++) {
        hybrid_engine *engine = place_open(where, 0);
        fake_delays(5, 0);
        for (int i = 0; i < case_count(); i++) {
            const test_kind kind = kinds[i % 2];
            test_case c;
            case_make(i, kind, &c);
            hybrid_plan *plan =
                each_plan(engine, &c.A, &c.B, chunk_rows[i % 3], flags[i / 2 % 3]);
            check_plan(engine, plan, &c.A, &c.B, kind.integers);
            hybrid_plan_destroy(plan);
            case_free(&c);
        }
        hybrid_engine_destroy(engine);
    }
    assert_int_equal(fake_alive(), 0);
}

/* Rows that are handed to a function are right for products of random shapes, with random
   delays of lanes and, in some, with so little device memory that B does not fit. */
static void random_products(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 60; seed++) {
        const int64_t rows   = 1 + test_below(seed, 1, 300),
                      inner  = 1 + test_below(seed, 2, 300);
        const test_kind kind = {seed % 2 ? HYBRID_F32 : HYBRID_F64,
                                seed % 3 ? HYBRID_I32 : HYBRID_I64, 1};
        hybrid_engine *engine = place_open(seed % PLACES, seed % 4 ? 0 : (size_t)1 << 18);
        hybrid_csr A, B;
        matrix_random(rows, inner, test_uniform(seed, 3) * 9, seed, kind, &A);
        matrix_random(inner, 1 + test_below(seed, 4, 500), 4, seed + 1, kind, &B);
        hybrid_plan *plan = each_plan(engine, &A, &B, test_below(seed, 5, 60),
                                      seed % 5 ? 0 : HYBRID_REUSE);
        check_plan(engine, plan, &A, &B, 1);
        hybrid_plan_destroy(plan);
        hybrid_engine_destroy(engine);
        matrix_free(&A);
        matrix_free(&B);
    }
    assert_int_equal(fake_alive(), 0);
}

static hybrid_csr with_empty_rows(int64_t rows, int64_t cols)
{
    builder b = build_start(rows, cols);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; cols > 0 && i % 5 == 2 && k < 6; k++)
            build_add(&b, test_below((uint64_t)i, (uint64_t)k, cols));
        build_end_row(&b);
    }
    return build_finish(&b, 3, f64);
}

/* Tests empty rows, chunks of empty rows only, and matrices without rows, columns or
   entries. */
static void empty_rows_and_products(void **state)
{
    static const int64_t shapes[][3] = {{0, 0, 0}, {0, 5, 7}, {6, 0, 5},
                                        {6, 5, 0}, {1, 1, 1}, {90, 40, 60}};

    (void)state;
    for (place where = 0; where < PLACES; where++) {
        hybrid_engine *engine = place_open(where, 0);
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            hybrid_csr A      = with_empty_rows(shapes[k][0], shapes[k][1]);
            hybrid_csr B      = with_empty_rows(shapes[k][1], shapes[k][2]);
            hybrid_plan *plan = each_plan(engine, &A, &B, 2, 0);
            check_plan(engine, plan, &A, &B, 1);
            hybrid_plan_destroy(plan);
            matrix_free(&A);
            matrix_free(&B);
        }
        hybrid_engine_destroy(engine);
    }
}

/* The entries of C that one chunk gives are more than a slot holds, so that they are
   copied to the host in several turns. */
static void large_chunks_come_in_turns(void **state)
{
    enum { ROWS = 3000, COLS = 4000, EACH = 400 };
    hybrid_engine *engine = place_open(ON_DEVICE, (size_t)1 << 28);
    builder b             = build_start(ROWS, ROWS);
    hybrid_csr B;

    (void)state;
    for (int64_t i = 0; i < ROWS; i++) {
        build_add(&b, ROWS - 1 - i);
        build_end_row(&b);
    }
    hybrid_csr A = build_finish(&b, 1, f64);
    matrix_random(ROWS, COLS, EACH, 8, f64, &B);
    hybrid_plan *plan = each_plan(engine, &A, &B, ROWS, 0);
    assert_true(plan->portions->layout.chunks[0].features.out_bound * 12 > 8 << 20);
    check_plan(engine, plan, &A, &B, 1);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
    matrix_free(&B);
}

/* Columns of a stored C are delta-coded on their way from the device. Columns of rows
   that are handed to a function are not, even if the plan did so in an earlier run. */
static void after_columns_that_came_packed(void **state)
{
    hybrid_engine *engine = each_open(0, 8, 0); /* eight workers, enough to decode
                                                   columns as fast as the bus brings
                                                   them */
    int64_t used = 0;
    hybrid_csr A, C;
    collected rows;
    oracle reference;

    (void)state;
    matrix_random(1300, 1300, 7, 5, f64, &A);
    oracle_spgemm(&A, &A, &reference);
    hybrid_plan *plan = each_plan(engine, &A, &A, 450, 0);
    /* delta coding is used once workers have pinned pages of the results */
    for (int run = 0; run < 100 && used == 0; run++) {
        const int64_t before = fake_packed();
        assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_OK);
        const int64_t packed = fake_packed();
        used += packed - before;
        hybrid_csr_free(engine, &C);
        assert_int_equal(collect(plan, &A, &A, -1, &rows), HYBRID_OK);
        assert_null(oracle_check(&reference, &rows.C, 1));
        assert_int_equal(fake_packed(), packed);
        matrix_free(&rows.C);
    }
    assert_true(used > 0);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    oracle_free(&reference);
    matrix_free(&A);
}

/* ---- host and device ---- */

typedef struct seen {
    int64_t places, others;
} seen;

static void watch_places(void *user, const hybrid_event *event)
{
    seen *s = user;

    if (strcmp(event->stage, "place") == 0 && event->part == 0) {
        s->places += strcmp(event->lane, "caller") == 0;
        s->others += strcmp(event->lane, "caller") != 0;
    }
}

static void the_trace_names_the_calling_thread(void **state)
{
    (void)state;
    for (place where = 0; where < PLACES; where++) {
        hybrid_engine *engine = place_open(where, 0);
        seen s                = {0, 0};
        hybrid_csr A;
        collected rows;
        matrix_random(200, 200, 5, 2, f64, &A);
        hybrid_plan *plan = each_plan(engine, &A, &A, 20, 0);
        hybrid_engine_trace(engine, watch_places, &s);
        assert_int_equal(collect(plan, &A, &A, -1, &rows), HYBRID_OK);
        assert_int_equal(s.places, rows.panels);
        assert_int_equal(s.others, 0);
        assert_true(report_of(plan).place_s > 0);
        matrix_free(&rows.C);
        hybrid_plan_destroy(plan);
        hybrid_engine_destroy(engine);
        matrix_free(&A);
    }
}

/* ---- memory ---- */

typedef struct counted {
    int64_t rows, nnz;
    double sum;
} counted;

static int count(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    counted *c = user;

    (void)row_begin;
    c->rows += rows->rows;
    c->nnz += rows->nnz;
    for (int64_t k = 0; k < rows->nnz; k++)
        c->sum += value_at(rows->val, rows->type, k) * (1 + hy_cols(rows)[k] % 7);
    return 0;
}

enum { CAP = 24 << 20, LARGE = 20000, EACH = 16, RESULT = 40 << 20 };

static int64_t peak(const hybrid_plan *plan)
{
    const hybrid_report r = report_of(plan);

    return r.peak_host_bytes + r.peak_pinned_bytes + r.peak_device_bytes;
}

/* Runs a plan twice: handing out the rows of C must take less than CAP bytes of memory
   for each device, and storing C more than RESULT bytes. Returns what `count` found. */
static counted measure(int on_host, const hybrid_csr *A)
{
    hybrid_engine *engine = each_open(on_host, 2, 0);
    hybrid_plan *plan     = each_plan(engine, A, A, 200, 0);
    counted given = {0, 0, 0}, stored = {0, 0, 0};
    hybrid_csr C;

    assert_int_equal(hybrid_spgemm_each(plan, A, A, count, &given), HYBRID_OK);
    assert_true(peak(plan) < CAP * plan->count);
    assert_int_equal(hybrid_spgemm_run(plan, A, A, &C), HYBRID_OK);
    assert_true(C.nnz * 12 > RESULT && peak(plan) > RESULT);
    count(&stored, 0, &C);
    assert_memory_equal(&given, &stored, sizeof stored);
    hybrid_csr_free(engine, &C);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    return stored;
}

/* On an engine with a cap on host memory that C exceeds, a run that stores C is refused,
   and a run that hands its rows out succeeds. */
static void memory_does_not_grow_with_the_result(void **state)
{
    hybrid_csr A, C;

    (void)state;
    matrix_random(LARGE, LARGE, EACH, 8, f64, &A);
    for (int on_host = 0; on_host < 2; on_host++) {
        const counted expected = measure(on_host, &A);
        hybrid_engine *engine  = each_open(on_host, 2, CAP);
        hybrid_plan *plan      = each_plan(engine, &A, &A, 200, 0);
        assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_NO_MEMORY);
        for (int run = 0; run < 2; run++) {
            counted c = {0, 0, 0};
            assert_int_equal(hybrid_spgemm_each(plan, &A, &A, count, &c), HYBRID_OK);
            assert_memory_equal(&c, &expected, sizeof c);
        }
        hybrid_plan_destroy(plan);
        hybrid_engine_destroy(engine);
    }
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_is_handed_over),
        cmocka_unit_test(random_products),
        cmocka_unit_test(empty_rows_and_products),
        cmocka_unit_test(large_chunks_come_in_turns),
        cmocka_unit_test(after_columns_that_came_packed),
        cmocka_unit_test(the_trace_names_the_calling_thread),
        cmocka_unit_test(memory_does_not_grow_with_the_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
