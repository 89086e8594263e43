/* tests/unit/partition/test_observe.c - what calibration observes of the host, and the
   factors that follow. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/plan/plan.h"
#include "engine/rates/factors.h"
#include "engine/rates/observe.h"

extern const hy_variant hy_spmm_host_rows, hy_spgemm_host_rows;

static int is_near(double found, double right)
{
    return fabs(found / right - 1) < 0.05;
}

/* ---- factors of the host ---- */

/* The rates describe 13 threads, and 16 compute. */
static const double SHARE  = 16.0 / 13;
static const double CALL_S = 4e-5, START_S = 3e-5, FACTOR = 2, CALL = 0.5;

/* Returns what is observed of a product that takes `model_s` by the model. The part
   `stored` of its time is not spent in multiplying. */
static hy_observation observation(const hy_variant *variant, double model_s,
                                  double stored)
{
    const double work_s = (START_S + FACTOR * model_s) / SHARE;

    return (hy_observation){.variant       = variant,
                            .model_s       = model_s,
                            .compute_s     = (1 - stored) * work_s,
                            .total_s       = CALL * CALL_S + work_s,
                            .rest_s        = (1 - stored) * work_s,
                            .call_model_s  = CALL_S,
                            .threads_share = SHARE};
}

static hy_factor_table factors_of(const hy_variant *variant, double stored)
{
    static hy_observed all;

    all = (hy_observed){.count = 0};
    for (double model_s = 1e-6; model_s < 1e-2; model_s *= 2) {
        const hy_observation seen = observation(variant, model_s, stored);
        hy_observed_add(&all, &seen);
    }
    return hy_observed_factors(&all);
}

static void factors_are_for_the_threads_of_the_rates(void **state)
{
    const hy_factor_table found = factors_of(&hy_spmm_host_rows, 0);

    (void)state;
    assert_true(is_near(found.spmm_call, CALL));
    assert_true(is_near(hy_start_seen(&found, &hy_spmm_host_rows), START_S));
    assert_true(is_near(hy_factor_seen(&found, &hy_spmm_host_rows, 0), FACTOR));
}

/* With 40 % of the time spent in storing C, the fitted factors must still predict the
   time of the whole call. */
static void storing_counts(void **state)
{
    const hy_factor_table found = factors_of(&hy_spgemm_host_rows, 0.4);
    const double factor         = hy_factor_seen(&found, &hy_spgemm_host_rows, 0);
    const double start_s        = hy_start_seen(&found, &hy_spgemm_host_rows);

    (void)state;
    for (double model_s = 1e-4; model_s < 1e-2; model_s *= 2) {
        const double s =
            found.spgemm_call * CALL_S + (start_s + factor * model_s) / SHARE;
        const double right = observation(&hy_spgemm_host_rows, model_s, 0).total_s;
        if (fabs(s / right - 1) > 0.15)
            fail_msg("model %g s: %g s instead of %g s", model_s, s, right);
    }
}

/* ---- the plan that is observed ---- */

/* Returns the seconds that the model of spmm.host.rows predicts for A*X with 8 columns,
   from the features that a plan on the host with `variant` has found. */
static double planned_s(hybrid_engine *engine, const hybrid_csr *A, const char *variant)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;
    hy_rates rates;

    options.split   = HYBRID_SPLIT_HOST;
    options.variant = variant;
    assert_int_equal(hybrid_spmm_plan(engine, A, 8, &options, &plan), HYBRID_OK);
    hy_rates_of(engine->host, &rates);
    const hy_features *f = &plan->portions->layout.chunks[0].features;
    const double s       = hy_spmm_host_rows.cost(f, &rates).multiply_s;
    hybrid_plan_destroy(plan);
    return s;
}

/* A plan that names its variant learns how rows share columns; others do not if the
   product is short. The factors are for what the others predict. */
static void the_model_knows_what_usual_plans_know(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;
    hy_observation seen;
    hybrid_dense X, Y;
    hybrid_csr A;

    (void)state;
    options.backend    = HYBRID_HOST;
    options.threads    = 2;
    options.rates_path = "";
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    assert_int_equal(hybrid_generate(engine, "er:2000,3", HYBRID_F32, 1, &A), HYBRID_OK);
    assert_int_equal(
        hybrid_dense_create(engine, 2000, 8, HYBRID_ROW_MAJOR, HYBRID_F32, &X),
        HYBRID_OK);
    assert_int_equal(
        hybrid_dense_create(engine, 2000, 8, HYBRID_ROW_MAJOR, HYBRID_F32, &Y),
        HYBRID_OK);
    const hy_observed_product p = {.A = &A, .X = &X, .Y = &Y};
    assert_int_equal(hy_observe(engine, &hy_spmm_host_rows, engine->host, &p, 1, &seen),
                     HYBRID_OK);
    const double usual_s = planned_s(engine, &A, NULL);
    assert_true(planned_s(engine, &A, "spmm.host.rows") > 1.1 * usual_s);
    assert_true(fabs(seen.model_s / usual_s - 1) < 1e-12);
    hybrid_dense_free(engine, &X);
    hybrid_dense_free(engine, &Y);
    hybrid_csr_free(engine, &A);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_for_the_threads_of_the_rates),
        cmocka_unit_test(storing_counts),
        cmocka_unit_test(the_model_knows_what_usual_plans_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
