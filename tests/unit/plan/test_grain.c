/* tests/unit/plan/test_grain.c - numbers of chunks of products. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/rates/estimate.h"
#include "engine/plan/grain.h"
#include "engine/plan/plan.h"
#include "partition/pattern/cut.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"

enum { ROWS = 4000, COLUMNS = 32 };

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

static hybrid_engine *open_small(size_t device_bytes, double launch_s)
{
    static const hy_variant *const table[] = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                              NULL};
    hybrid_engine *engine;

    fake_delays(1, 0);
    assert_int_equal(fake_open(table, device_bytes, &engine), HYBRID_OK);
    engine->device->measured.launch_s = launch_s;
    return engine;
}

static hybrid_engine *open_with(double launch_s)
{
    return open_small(64 << 20, launch_s);
}

static hybrid_plan *plan_of(hybrid_engine *engine, const hybrid_csr *A, int sparse)
{
    hybrid_plan *plan;

    if (sparse)
        assert_int_equal(hybrid_spgemm_plan(engine, A, A, NULL, &plan), HYBRID_OK);
    else
        assert_int_equal(hybrid_spmm_plan(engine, A, COLUMNS, NULL, &plan), HYBRID_OK);
    return plan;
}

/* If a launch is said to take a second, the plan has one chunk. If it is said to take no
   time, the plan has many. */
static void what_a_chunk_costs_decides(void **state)
{
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, 8, 1, f64, &A);
    for (int sparse = 0; sparse < 2; sparse++)
        for (int dear = 0; dear < 2; dear++) {
            hybrid_engine *engine = open_with(dear ? 1 : 1e-9);
            hybrid_plan *plan     = plan_of(engine, &A, sparse);
            assert_true(dear ? plan->portions->layout.count == 1
                             : plan->portions->layout.count > 4);
            hybrid_plan_destroy(plan);
            hybrid_engine_destroy(engine);
        }
    matrix_free(&A);
}

/* No number of chunks other than the plan's is predicted to be faster by more than 10
   %. */
static void no_number_is_much_sooner(void **state)
{
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, 8, 2, f64, &A);
    for (int sparse = 0; sparse < 2; sparse++) {
        hybrid_engine *engine        = open_with(2e-6);
        hybrid_plan *plan            = plan_of(engine, &A, sparse);
        const hy_portion *portion    = plan->portions;
        const hy_circumstances found = {.rows_of_b = sparse};
        const hy_planning planning   = {.product  = portion->product,
                                        .portion  = portion,
                                        .A        = &A,
                                        .B        = sparse ? &A : NULL,
                                        .features = portion->profile.features};
        const int64_t chosen = hy_grain_chunks(&planning, &plan->portions->layout);
        hy_rates host;
        double s[64];
        hy_rates_of(engine->host, &host);
        for (int64_t n = 1; n < 64; n++) {
            const hy_estimate e =
                hy_estimate_even(portion, &planning.features, &plan->portions->layout,
                                 portion->product->b_rows, n, &found);
            s[n] = hy_seconds(&e, &portion->rates, &host);
        }
        assert_true(chosen >= 1 && chosen < 64);
        for (int64_t n = 1; n < 64; n++)
            assert_true(s[chosen] <= 1.1 * s[n]);
        hybrid_plan_destroy(plan);
        hybrid_engine_destroy(engine);
    }
    matrix_free(&A);
}

/* If chunks are dear and device memory is small, chunks are as few as slots allow: one
   chunk less would not fit. */
static void slots_are_filled(void **state)
{
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, 8, 2, f64, &A);
    for (size_t kb = 800; kb < 1600; kb += 100) {
        hybrid_engine *engine     = open_small(kb << 10, 1);
        hybrid_plan *plan         = plan_of(engine, &A, 1);
        const hy_portion *portion = plan->portions;
        /* a layout in which no image of B takes device memory */
        const hy_layout layout     = {.depth = 4, .share = 1};
        const hy_planning planning = {.product  = portion->product,
                                      .portion  = portion,
                                      .A        = &A,
                                      .B        = &A,
                                      .features = portion->profile.features};
        const int64_t chosen       = hy_grain_chunks(&planning, &layout);
        const hy_features f        = hy_features_share(&planning.features, chosen - 1);
        const hy_cost cost         = portion->variant->cost(&f, &portion->rates);
        assert_true(chosen > 8);
        assert_true(hy_cost_bytes(&cost) > portion->rates.memory / 4);
        hybrid_plan_destroy(plan);
        hybrid_engine_destroy(engine);
    }
    matrix_free(&A);
}

/* Returns the number of chunks of a one-shot C = A*A on the host with `threads`
   threads. */
static int64_t chunks_by(int threads, const hybrid_csr *A)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_report report          = HYBRID_REPORT_INIT;
    hybrid_csr C                  = {0};
    hybrid_engine *engine;

    options.backend = HYBRID_HOST;
    options.threads = threads;
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    assert_int_equal(hybrid_spgemm(engine, A, A, &C), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_OK);
    hybrid_csr_free(engine, &C);
    hybrid_engine_destroy(engine);
    return report.chunks;
}

/* Few cores compute short chunks, of which the buffers are small: 1.3 M scalar products
   are at least five chunks, of 256 K, where with many cores they are one chunk, of up to
   2 M. */
static void few_cores_take_short_chunks(void **state)
{
    hybrid_csr A;

    (void)state;
    matrix_random(20000, 20000, 8, 4, f64, &A);
    for (int threads = 1; threads <= 4; threads++)
        assert_in_range(chunks_by(threads, &A), 4, 6);
    assert_int_equal(chunks_by(8, &A), 1);
    matrix_free(&A);
}

/* The details of a plan show the estimate by which the plan was chosen. */
static void explain_shows_the_estimate(void **state)
{
    hybrid_engine *engine = open_with(2e-6);
    char text[4096];
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, 8, 3, f64, &A);
    hybrid_plan *plan = plan_of(engine, &A, 0);
    hybrid_plan_details(plan, text, sizeof text);
    assert_non_null(strstr(text, "\nestimate  "));
    assert_non_null(strstr(text, "ms a run: up "));
    hybrid_plan_destroy(plan);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_chunk_costs_decides),
        cmocka_unit_test(no_number_is_much_sooner),
        cmocka_unit_test(slots_are_filled),
        cmocka_unit_test(few_cores_take_short_chunks),
        cmocka_unit_test(explain_shows_the_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
