/* tests/unit/rates/test_traffic.c - predicted and moved bytes of a plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "engine/plan/plan.h"
#include "engine/schedules/schedule.h"
#include "partition/parts/passes.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/fake/settings.h"
#include "support/check/oracle.h"
#include "support/engines/places.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

static const hybrid_plan_options EXPLAINED = {.struct_size = sizeof(hybrid_plan_options),
                                              .flags = HYBRID_REUSE | HYBRID_EXPLAIN};

static void assert_near(int64_t measured, int64_t predicted, double off)
{
    const double m = (double)measured, p = (double)predicted;

    if (m > p * (1 + off) + 4096 || m < p * (1 - off) - 4096)
        fail_msg("%lld bytes, predicted %lld", (long long)measured, (long long)predicted);
}

/* Runs a plan twice with `budget` bytes of device memory, and checks the bytes. Returns
   1, or 0 if planning is refused. */
static int run_twice(place where, size_t budget, const hybrid_csr *A, const hybrid_csr *B,
                     const oracle *reference, hybrid_report *first)
{
    hybrid_engine *engine = place_open(where, budget);
    const int64_t result  = reference->nnz * 12;
    hybrid_plan *plan;
    hybrid_csr C;

    const hybrid_status planned = hybrid_spgemm_plan(engine, A, B, &EXPLAINED, &plan);
    if (planned == HYBRID_OK) {
        for (int run = 0; run < 2; run++) {
            assert_int_equal(hybrid_spgemm_run(plan, A, B, &C), HYBRID_OK);
            assert_null(oracle_check(reference, &C, 1));
            hybrid_csr_free(engine, &C);
            const hybrid_report r = report_of(plan);
            assert_true(r.peak_device_bytes <= (int64_t)budget);
            if (run == 0)
                *first = r;
            assert_near(r.h2d_bytes, r.predicted_h2d_bytes, 0.02);
            assert_int_equal(r.d2h_bytes, result + (run ? 0 : (A->rows + r.chunks) * 8));
        }
        hybrid_plan_destroy(plan);
    } else {
        assert_int_equal(planned, HYBRID_NO_DEVICE_MEMORY);
    }
    hybrid_engine_destroy(engine);
    return planned == HYBRID_OK;
}

static void budgets(place where)
{
    hybrid_report last = HYBRID_REPORT_INIT, r = HYBRID_REPORT_INIT;
    hybrid_csr A, B;
    oracle reference;
    int64_t both;
    int ways[2] = {0}, refused = 0;

    matrix_random(1500, 1500, 9, 5, f64, &A);
    matrix_random(1500, 1500, 9, 6, f64, &B);
    oracle_spgemm(&A, &B, &reference);
    both = (A.nnz + B.nnz) * 12 + (A.rows + B.rows + 2) * 8;
    for (size_t budget = (size_t)64 << 20; budget >= 4096; budget -= budget / 3) {
        if (!run_twice(where, budget, &A, &B, &reference, &r)) {
            refused++;
            continue;
        }
        assert_int_equal(refused, 0);
        ways[r.gathered]++;
        assert_true((r.other_h2d_bytes < 0) == (where == CARRIED));
        assert_true((r.b_h2d_bytes < 0) == (where == CARRIED));
        assert_true(r.least_b_h2d_bytes <= r.b_h2d_bytes);
        assert_true(r.gathered || where == CARRIED ||
                    r.least_b_h2d_bytes > B.nnz * 12 - 1000);
        if (r.gathered) /* other_h2d_bytes then predicts a plan with B whole, which sends
                           A and B once, with bytes for the alignment of each chunk */
            assert_in_range(r.other_h2d_bytes, both, both + (r.chunks + 1) * 3 * 256);
        last = r;
    }
    assert_true(last.chunks > 50 && refused > 0);
    assert_true(ways[0] > 3 && (where == CARRIED || ways[1] > 3));
    oracle_free(&reference);
    matrix_free(&A);
    matrix_free(&B);
}

static void budgets_from_everything_to_one_row(void **state)
{
    (void)state;
    budgets(ON_DEVICE);
    budgets(CARRIED);
    assert_int_equal(fake_alive(), 0);
}

static hybrid_report chunks_of_50(size_t budget, const hybrid_csr *A, const hybrid_csr *B)
{
    hybrid_plan_options options = EXPLAINED;
    hybrid_engine *engine       = place_open(ON_DEVICE, budget);
    hybrid_plan *plan;
    char text[4096];
    hybrid_csr C;

    options.chunk_rows = 50;
    options.depth      = 1;
    assert_int_equal(hybrid_spgemm_plan(engine, A, B, &options, &plan), HYBRID_OK);
    assert_in_range(hybrid_plan_details(plan, text, sizeof text), 1, sizeof text - 1);
    assert_non_null(
        strstr(text, report_of(plan).gathered ? "(resident: " : "(gathered: "));
    assert_null(strstr(text, "last run"));
    assert_int_equal(hybrid_spgemm_run(plan, A, B, &C), HYBRID_OK);
    hybrid_plan_details(plan, text, sizeof text);
    assert_non_null(strstr(text, "last run up "));
    const hybrid_report report = report_of(plan);
    hybrid_csr_free(engine, &C);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    return report;
}

/* With small chunks that need random rows of a large B, the bytes that a plan with B
   whole predicts for gathered rows are those that a plan with gathered rows measures,
   and the other way round. */
static void each_way_predicts_the_other(void **state)
{
    hybrid_csr A, B;

    (void)state;
    matrix_random(1000, 4000, 6, 1, f64, &A);
    matrix_random(4000, 500, 6, 2, f64, &B);
    const hybrid_report all  = chunks_of_50((size_t)16 << 20, &A, &B);
    const hybrid_report some = chunks_of_50((size_t)350 << 10, &A, &B);
    assert_int_equal(all.chunks, 20);
    assert_int_equal(some.chunks, 20);
    assert_true(!all.gathered && some.gathered);
    assert_near(some.h2d_bytes, all.other_h2d_bytes, 0.1);
    assert_near(all.h2d_bytes, some.other_h2d_bytes, 0.02);
    assert_true(all.h2d_bytes < some.h2d_bytes);
    matrix_free(&A);
    matrix_free(&B);
}

/* The least bytes of B for a large A come from a sample of the rows of B. They are not
   more than the bytes that are sent, although the first row of this B, which a sample
   has, is much longer than the others. */
static void no_sample_needs_more_than_is_sent(void **state)
{
    enum { ROWS = 2304, COLS = 2048, LONG = 1000 };
    hybrid_engine *engine = place_open(ON_DEVICE, (size_t)256 << 20);
    hybrid_csr A          = build_rows(ROWS, COLS, COLS, -1, f64);
    hybrid_csr B          = build_rows(COLS, LONG, 1, 0, f64);
    hybrid_plan *plan;

    (void)state;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &B, &EXPLAINED, &plan), HYBRID_OK);
    const hybrid_report r = report_of(plan);
    assert_in_range(r.least_b_h2d_bytes, B.nnz * 12, r.b_h2d_bytes);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
    matrix_free(&B);
}

/* ---- passes ---- */

static hy_cost slow_cost(const hy_features *f, const hy_rates *rates)
{
    hy_cost cost = hy_spgemm_fake_esc.cost(f, rates);

    cost.multiply_s = 1e-9 * (double)f->products;
    return cost;
}

/* A plan that multiplies B in passes, on a device whose kernels take time. */
typedef struct passing {
    hy_variant slow;
    const hy_variant *table[2];
    hybrid_engine *engine;
    hybrid_plan *plan;
    hybrid_csr A, B;
} passing;

/* A has `rows` rows. Most of them touch few rows of B, which has many. */
static void open_passing(int64_t rows, passing *p)
{
    enum { LONG = 4000, COLS = 24, BYTES = 512 << 10 };

    *p           = (passing){.slow = hy_spgemm_fake_esc, .table = {&p->slow}};
    p->slow.cost = slow_cost;
    matrix_random(rows, LONG, 1, 5, f64, &p->A);
    matrix_random(LONG, COLS, 4, 6, f64, &p->B);
    assert_int_equal(fake_open(p->table, BYTES, &p->engine), HYBRID_OK);
    settings_of(p->engine)->schedule = &hy_schedule_passes;
    assert_int_equal(hybrid_spgemm_plan(p->engine, &p->A, &p->B, NULL, &p->plan),
                     HYBRID_OK);
    assert_true(hy_passes(&p->plan->portions->layout.image) > 1);
}

static void close_passing(passing *p)
{
    hybrid_plan_destroy(p->plan);
    hybrid_engine_destroy(p->engine);
    matrix_free(&p->A);
    matrix_free(&p->B);
}

/* The report predicts the seconds of all passes. */
static void seconds_of_all_passes_are_predicted(void **state)
{
    passing p;

    (void)state;
    open_passing(2000, &p);
    const hy_portion *portion    = p.plan->portions;
    const hy_circumstances found = hy_circumstances_planned(portion, &p.A, &p.B);
    const hy_estimate e          = hy_estimate_device(portion, &portion->layout, &found);
    const hybrid_report r        = report_of(p.plan);
    assert_true(e.device_s > 1e-9 * (double)r.flops / 2);
    assert_true(fabs(r.predicted_device_s / e.device_s - 1) < 1e-6);
    close_passing(&p);
}

/* The report predicts the bytes that are sent, but for the alignment of arrays. Every
   pass but the first sends an entry and two offsets for each row of A: those of the row
   and of its sums. */
static void offsets_of_sums_are_predicted(void **state)
{
    enum { ARRAYS = 5, ALIGNED = 256 };
    hybrid_csr C;
    passing p;

    (void)state;
    open_passing(6000, &p);
    assert_int_equal(hybrid_spgemm_run(p.plan, &p.A, &p.B, &C), HYBRID_OK);
    const hybrid_report r = report_of(p.plan);
    const int64_t packs   = r.chunks * hy_passes(&p.plan->portions->layout.image);
    assert_in_range(r.h2d_bytes, r.predicted_h2d_bytes,
                    r.predicted_h2d_bytes + packs * ARRAYS * ALIGNED);
    hybrid_csr_free(p.engine, &C);
    close_passing(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budgets_from_everything_to_one_row),
        cmocka_unit_test(each_way_predicts_the_other),
        cmocka_unit_test(no_sample_needs_more_than_is_sent),
        cmocka_unit_test(seconds_of_all_passes_are_predicted),
        cmocka_unit_test(offsets_of_sums_are_predicted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
