/* tests/run/device/test_passes.c - products whose chunks multiply B in passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "engine/schedules/schedule.h"
#include "partition/parts/passes.h"
#include "support/check/oracle.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/fake/settings.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"
#include "support/runs/each.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

/* A has few rows, which touch nearly all of the long B. Less than half of B
   fits BUDGET bytes. */
enum { FEW = 24, MANY = 4000, EACH = 4, BUDGET = 64 << 10 };

typedef struct world {
    hybrid_csr A, B;
    oracle product;
} world;

/* Makes an A of `rows` rows in which one of `sparse` elements is an entry, and a B of
   FEW columns. */
static void make(world *w, int64_t rows, int64_t sparse, test_kind kind)
{
    builder a = build_start(rows, MANY), b = build_start(MANY, FEW);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < MANY && i % 7 != 5; j++)
            if (test_below(1, (uint64_t)(i * MANY + j), sparse) == 0)
                build_add(&a, j);
        build_end_row(&a);
    }
    for (int64_t i = 0; i < MANY; i++) {
        for (int64_t k = 0; k < EACH && i % 5 != 2; k++)
            build_add(&b, test_below(2, (uint64_t)(i * EACH + k), FEW));
        build_end_row(&b);
    }
    w->A = build_finish(&a, 1, kind);
    w->B = build_finish(&b, 2, kind);
    oracle_spgemm(&w->A, &w->B, &w->product);
}

static void clear(world *w)
{
    oracle_free(&w->product);
    matrix_free(&w->A);
    matrix_free(&w->B);
}

static hybrid_engine *open_engine(const hy_schedule *schedule, int64_t budget)
{
    hybrid_engine *engine = fake_spmm((size_t)budget);

    settings_of(engine)->schedule = schedule;
    return engine;
}

static hybrid_status compute(hybrid_engine *engine, void *arg)
{
    const world *w = arg;
    hybrid_csr C;

    settings_of(engine)->schedule = &hy_schedule_passes;
    const hybrid_status status =
        fake_explained(engine, hybrid_spgemm(engine, &w->A, &w->B, &C));
    if (status != HYBRID_OK)
        return status;
    assert_null(oracle_check(&w->product, &C, 1));
    hybrid_csr_free(engine, &C);
    return HYBRID_OK;
}

/* ---- results -------------------------------------------------------------------- */

/* Each of the few chunks brings B once. */
static void b_goes_up_once(void **state)
{
    hybrid_report report  = HYBRID_REPORT_INIT;
    hybrid_engine *engine = open_engine(&hy_schedule_passes, BUDGET);
    world w;

    (void)state;
    make(&w, FEW, 8, f64);
    assert_int_equal(compute(engine, &w), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_OK);
    const int64_t b = hy_csr_bytes(w.B.rows, w.B.nnz, HYBRID_F64);
    const int64_t a = hy_csr_bytes(w.A.rows, w.A.nnz, HYBRID_F64);
    assert_true(b > 2 * BUDGET);
    assert_in_range(report.chunks, 1, 4);
    const int64_t least = a + report.chunks * b;
    assert_in_range(report.h2d_bytes, least, least / 2 * 3);
    hybrid_engine_destroy(engine);
    clear(&w);
}

/* The engine prefers passes where each row of A touches much of B and C is small. */
static void the_engine_chooses_passes(void **state)
{
    hybrid_engine *engine = open_engine(NULL, BUDGET);
    hybrid_plan *plan;
    world w;

    (void)state;
    make(&w, FEW, 2, f64);
    assert_int_equal(hybrid_spgemm_plan(engine, &w.A, &w.B, NULL, &plan), HYBRID_OK);
    const hy_image *image = &plan->portions->layout.image;
    assert_true(hy_image_in_passes(image) && hy_passes(image) > 3);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    clear(&w);
}

/* The estimate has the bytes that a run sends, within a quarter. Sums stay on the device,
   so these do not count. */
static void sent_bytes_are_estimated(void **state)
{
    hybrid_report report  = HYBRID_REPORT_INIT;
    hybrid_engine *engine = open_engine(&hy_schedule_passes, BUDGET);
    hybrid_plan *plan;
    hybrid_csr C;
    world w;

    (void)state;
    make(&w, 4 * FEW, 8, f64);
    assert_int_equal(hybrid_spgemm_plan(engine, &w.A, &w.B, NULL, &plan), HYBRID_OK);
    const hy_portion *portion    = plan->portions;
    const hy_circumstances found = hy_circumstances_planned(portion, &w.A, &w.B);
    const hy_estimate e          = hy_estimate_device(portion, &portion->layout, &found);
    assert_int_equal(hybrid_spgemm_run(plan, &w.A, &w.B, &C), HYBRID_OK);
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    assert_in_range(e.up_bytes, report.h2d_bytes / 5 * 4, report.h2d_bytes / 4 * 5);
    hybrid_csr_free(engine, &C);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    clear(&w);
}

/* Chunks of a few rows, and of all value and offset types, give the same rows as one
   chunk. Later runs know where rows of C begin. */
static void chunks_and_runs(void **state)
{
    (void)state;
    for (int n = 0; n < 8; n++) {
        const test_kind kind = {n & 1 ? HYBRID_F32 : HYBRID_F64,
                                n & 2 ? HYBRID_I32 : HYBRID_I64, 1};
        hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
        hybrid_report report  = HYBRID_REPORT_INIT;
        hybrid_engine *engine = open_engine(&hy_schedule_passes, BUDGET);
        hybrid_plan *plan;
        collected rows;
        hybrid_csr C;
        world w;

        make(&w, 3 * FEW, 16, kind);
        o.chunk_rows = n & 4 ? 7 : 0;
        o.flags      = HYBRID_REUSE | HYBRID_EXPLAIN;
        assert_int_equal(hybrid_spgemm_plan(engine, &w.A, &w.B, &o, &plan), HYBRID_OK);
        assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
        assert_int_equal(report.b_h2d_bytes,
                         report.chunks * hy_csr_bytes(MANY, w.B.nnz, kind.type));
        assert_in_range(report.least_b_h2d_bytes, 1, report.b_h2d_bytes);
        const int64_t once = hy_csr_bytes(w.A.rows, w.A.nnz, kind.type) +
                             hy_csr_bytes(MANY, w.B.nnz, kind.type);
        assert_in_range(report.other_h2d_bytes, once, once + 3 * 256 * report.chunks);
        for (int run = 0; run < 3; run++) {
            assert_int_equal(hybrid_spgemm_run(plan, &w.A, &w.B, &C), HYBRID_OK);
            assert_null(oracle_check(&w.product, &C, 1));
            hybrid_csr_free(engine, &C);
        }
        assert_int_equal(collect(plan, &w.A, &w.B, -1, &rows), HYBRID_OK);
        assert_null(oracle_check(&w.product, &rows.C, 1));
        matrix_free(&rows.C);
        hybrid_plan_destroy(plan);
        hybrid_engine_destroy(engine);
        clear(&w);
    }
}

/* Sums keep the order of A's entries, so all bits are those of a product that fits. */
static void bits_stay(void **state)
{
    const test_kind kind  = {HYBRID_F32, HYBRID_I64, 0};
    hybrid_engine *small  = open_engine(&hy_schedule_passes, BUDGET);
    hybrid_engine *large  = open_engine(&hy_schedule_whole, 64 << 20);
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plans[2];
    hybrid_csr C[2];
    world w;

    (void)state;
    o.flags = HYBRID_DETERMINISTIC;
    make(&w, FEW, 3, kind);
    for (int k = 0; k < 2; k++) {
        hybrid_engine *engine = k == 0 ? small : large;
        assert_int_equal(hybrid_spgemm_plan(engine, &w.A, &w.B, &o, &plans[k]),
                         HYBRID_OK);
        assert_int_equal(hybrid_spgemm_run(plans[k], &w.A, &w.B, &C[k]), HYBRID_OK);
    }
    assert_int_equal(C[0].nnz, C[1].nnz);
    assert_memory_equal(C[0].val, C[1].val, (size_t)C[0].nnz * 4);
    for (int k = 0; k < 2; k++) {
        hybrid_csr_free(k == 0 ? small : large, &C[k]);
        hybrid_plan_destroy(plans[k]);
    }
    hybrid_engine_destroy(small);
    hybrid_engine_destroy(large);
    clear(&w);
}

/* Returns the number of passes without rows of B. */
static int64_t empty_passes(const hybrid_plan *plan, const hybrid_csr *B)
{
    const hy_image *image = &plan->portions->layout.image;
    int64_t count         = 0;

    for (int64_t k = 0; k < hy_passes(image); k++)
        count += hy_pass_begin(image, B, k) == hy_pass_begin(image, B, k + 1);
    return count;
}

/* Makes A and B so that row `row` of B, which A does not touch, is longer than half of a
   slot, and other rows have an entry. */
static void make_long(world *w, int64_t row, int64_t columns)
{
    builder a = build_start(FEW, MANY), b = build_start(MANY, columns);

    for (int64_t i = 0; i < FEW; i++) {
        for (int64_t j = i; j < MANY; j += 9)
            if (j != row)
                build_add(&a, j);
        build_end_row(&a);
    }
    for (int64_t i = 0; i < MANY; i++) {
        for (int64_t j = i % 50; j < columns; j += i == row ? 1 : columns)
            build_add(&b, j);
        build_end_row(&b);
    }
    w->A = build_finish(&a, 1, f64);
    w->B = build_finish(&b, 2, f64);
    oracle_spgemm(&w->A, &w->B, &w->product);
}

static void count_multiplied(void *user, const hybrid_event *event)
{
    *(int64_t *)user += strcmp(event->stage, "multiply") == 0;
}

/* A row of B, also the last, may be longer than several passes. Passes without rows of B
   are left out. */
static void a_long_row_of_b(void **state)
{
    (void)state;
    for (int64_t row = MANY / 3; row < MANY; row += MANY - 1 - MANY / 3) {
        hybrid_engine *engine = open_engine(&hy_schedule_passes, 2 * BUDGET);
        int64_t multiplied    = 0;
        hybrid_plan *plan;
        hybrid_csr C;
        world w;

        make_long(&w, row, 3000);
        hybrid_engine_trace(engine, count_multiplied, &multiplied);
        assert_int_equal(hybrid_spgemm_plan(engine, &w.A, &w.B, NULL, &plan), HYBRID_OK);
        const hy_layout *layout = &plan->portions->layout;
        const int64_t empty     = empty_passes(plan, &w.B);
        assert_true(empty > 0);
        assert_int_equal(hybrid_spgemm_run(plan, &w.A, &w.B, &C), HYBRID_OK);
        assert_null(oracle_check(&w.product, &C, 1));
        assert_int_equal(multiplied, layout->count * (hy_passes(&layout->image) - empty));
        hybrid_csr_free(engine, &C);
        hybrid_plan_destroy(plan);
        hybrid_engine_destroy(engine);
        clear(&w);
    }
}

/* ---- limits --------------------------------------------------------------------- */

/* Makes an A with as many entries in each row as A of `w`, which only touch rows of B
   that have entries: every fifth row has none. With `early` 1 they touch the first such
   rows, else rows near those of A. */
static hybrid_csr change(const world *w, int early)
{
    builder b = build_start(w->A.rows, w->A.cols);

    for (int64_t i = 0; i < w->A.rows; i++) {
        int64_t last = -1;
        for (int64_t k = hy_offset(&w->A, i); k < hy_offset(&w->A, i + 1); k++) {
            const int64_t col = early ? 0 : hy_cols(&w->A)[k];
            last              = last + 1 > col ? last + 1 : col;
            last += last % 5 == 2;
            build_add(&b, last);
        }
        build_end_row(&b);
    }
    return build_finish(&b, 1, f64);
}

/* An A that has changed after planning is noticed before its packs exceed their room. */
static void a_changed_pattern_is_an_error(void **state)
{
    static const char *const said[] = {"multiplications in a pass", "entries in a pass"};
    hybrid_engine *engine           = open_engine(&hy_schedule_passes, BUDGET);
    hybrid_plan *plan;
    hybrid_csr C;
    world w;

    (void)state;
    make(&w, FEW, 16, f64);
    assert_int_equal(hybrid_spgemm_plan(engine, &w.A, &w.B, NULL, &plan), HYBRID_OK);
    for (int early = 0; early < 2; early++) {
        hybrid_csr other = change(&w, early);
        assert_int_equal(other.nnz, w.A.nnz);
        assert_int_equal(hybrid_spgemm_run(plan, &other, &w.B, &C), HYBRID_BAD_STATE);
        assert_non_null(strstr(hybrid_engine_message(engine), said[early]));
        matrix_free(&other);
    }
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    clear(&w);
}

/* If B has changed after planning, a pass may have more entries than planned: a long row
   at its end, which was at the beginning of a pass. */
static void a_changed_b_is_an_error(void **state)
{
    enum { COLUMNS = 1500, SHORT = 8 + 12 }; /* SHORT: bytes of a row with one entry */
    hybrid_engine *engine = open_engine(&hy_schedule_passes, 2 * BUDGET);
    builder a             = build_start(1, MANY);
    hybrid_plan *plan;
    hybrid_csr C;

    (void)state;
    build_add(&a, 7);
    build_end_row(&a);
    hybrid_csr A = build_finish(&a, 1, f64), B = build_rows(MANY, COLUMNS, 1, 0, f64);
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &B, NULL, &plan), HYBRID_OK);
    const int64_t fit = plan->portions->layout.image.block / SHORT;
    hybrid_csr other  = build_rows(MANY, COLUMNS, 1, fit - 1, f64);
    assert_int_equal(hybrid_spgemm_run(plan, &A, &other, &C), HYBRID_BAD_STATE);
    assert_non_null(strstr(hybrid_engine_message(engine), "bytes in a pass"));
    matrix_free(&other);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
    matrix_free(&B);
}

/* A row of C that fits no slot is named. */
static void a_row_without_room_is_an_error(void **state)
{
    hybrid_engine *engine = open_engine(&hy_schedule_passes, 4 << 10);
    hybrid_plan *plan;
    world w;

    (void)state;
    make(&w, FEW, 2, f64);
    assert_int_not_equal(hybrid_spgemm_plan(engine, &w.A, &w.B, NULL, &plan), HYBRID_OK);
    assert_string_equal(hybrid_engine_message(engine),
                        "passes: the budget is too small for a row");
    hybrid_engine_destroy(engine);
    clear(&w);
}

static hybrid_status make_plan(hybrid_engine *engine, void *arg)
{
    const world *w    = arg;
    hybrid_plan *plan = NULL;

    settings_of(engine)->schedule = &hy_schedule_passes;
    const hybrid_status status    = hybrid_spgemm_plan(engine, &w->A, &w->B, NULL, &plan);
    hybrid_plan_destroy(plan);
    return fake_explained(engine, status);
}

static void calls_fail(void **state)
{
    world w;
    const fake_failing f       = {compute, &w, BUDGET, 1 << 20, 8};
    const fake_failing planned = {make_plan, &w, BUDGET, 1 << 20, 1 << 20};

    (void)state;
    make(&w, FEW, 8, f64);
    assert_true(fake_fail_each(&f, &fault_device) > 100);
    assert_true(fake_fail_each(&f, &fault_lost) > 100);
    assert_true(fake_fail_each(&f, &fault_allocation) > 20);
    assert_true(fake_fail_each(&planned, &fault_allocation) > 20);
    clear(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b_goes_up_once),
        cmocka_unit_test(the_engine_chooses_passes),
        cmocka_unit_test(sent_bytes_are_estimated),
        cmocka_unit_test(chunks_and_runs),
        cmocka_unit_test(bits_stay),
        cmocka_unit_test(a_long_row_of_b),
        cmocka_unit_test(a_changed_pattern_is_an_error),
        cmocka_unit_test(a_changed_b_is_an_error),
        cmocka_unit_test(a_row_without_room_is_an_error),
        cmocka_unit_test(calls_fail),
    };
    fake_delays(1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
