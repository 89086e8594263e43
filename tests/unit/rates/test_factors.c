/* tests/unit/rates/test_factors.c - measured rates and factors decide what plans predict
   and choose. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/rates/calibrate.h"
#include "engine/rates/factors.h"
#include "engine/rates/rates_keys.h"
#include "engine/tables/tables.h"
#include "support/engines/io_fixture.h"
#include "support/subjects/regimes.h"

static void the_products_have_all_regimes(void **state)
{
    hybrid_engine *engine   = regimes_open();
    int seen[2][HY_REGIMES] = {{0}};

    (void)state;
    for (int i = 0; i < REGIME_PRODUCTS; i++) {
        const regime_product p = regimes_product(i);
        hybrid_plan *plan      = regimes_plan(engine, &p, HYBRID_SPLIT_GPU, NULL, 0);
        seen[p.op == HY_SPGEMM][hy_regime(p.op, &plan->product.profile.features)]++;
        hybrid_plan_destroy(plan);
    }
    for (int k = 0; k < HY_REGIMES; k++) {
        assert_int_equal(seen[0][k], 1);
        assert_int_equal(seen[1][k], hy_regime_name(HY_SPGEMM, k) != NULL);
    }
    hybrid_engine_destroy(engine);
}

/* ---- each rate changes a prediction ---- */

typedef struct predictions {
    double s[2 * REGIME_PRODUCTS];
} predictions;

static predictions predict_all(hybrid_engine *engine)
{
    predictions all;

    for (int i = 0; i < REGIME_PRODUCTS; i++) {
        const regime_product p = regimes_product(i);
        all.s[2 * i]           = regimes_predicted_s(engine, &p, HYBRID_SPLIT_GPU, NULL);
        all.s[2 * i + 1]       = regimes_predicted_s(engine, &p, HYBRID_SPLIT_HOST, NULL);
    }
    return all;
}

static int differ(const predictions *a, const predictions *b)
{
    for (int i = 0; i < 2 * REGIME_PRODUCTS; i++)
        if (a->s[i] != b->s[i])
            return 1;
    return 0;
}

/* Sets all rates of the backend to the middle of the range that a file of rates may
   have. */
static void set_middle(hy_backend *backend)
{
    hy_rates_of_device d = {.speeds = backend->measured};

    for (const hy_rates_key *key = hy_rates_keys; key->name; key++)
        if (key->predicts)
            *hy_rates_field(&d, key) = sqrt(key->least * key->most);
    backend->measured = d.speeds;
}

/* Returns 1 if predictions change when the backend has another value of the rate. */
static int matters(hybrid_engine *engine, hy_backend *backend, const hy_rates_key *key,
                   const predictions *before)
{
    const hy_measured measured = backend->measured;
    hy_rates_of_device d       = {.speeds = measured};

    *hy_rates_field(&d, key) /= 3;
    backend->measured       = d.speeds;
    const predictions after = predict_all(engine);
    backend->measured       = measured;
    return differ(before, &after);
}

static void each_rate_changes_a_prediction(void **state)
{
    hybrid_engine *engine = regimes_open();
    int rates             = 0;

    (void)state;
    set_middle(engine->device);
    set_middle(engine->host);
    const predictions before = predict_all(engine), again = predict_all(engine);
    assert_false(differ(&before, &again));
    for (const hy_rates_key *key = hy_rates_keys; key->name; key++) {
        const int device = matters(engine, engine->device, key, &before);
        const int host   = matters(engine, engine->host, key, &before);
        if (key->predicts != (device || host))
            fail_msg("%s: %d, but device %d, host %d", key->name, key->predicts, device,
                     host);
        rates += key->predicts;
    }
    assert_true(rates >= 8);
    hybrid_engine_destroy(engine);
}

/* ---- each factor changes a prediction ---- */

/* All variants of a backend have factors: there is room for them and for their names. */
static void every_variant_has_room_for_factors(void **state)
{
    static const char *const backends[] = {".host.", ".cuda."};

    (void)state;
    for (int k = 0; k < 2; k++) {
        hy_factor_table factors = {.count = 0};
        for (int i = 0; hy_variants[i]; i++)
            if (strstr(hy_variants[i]->name, backends[k]))
                assert_non_null(hy_factors_of(&factors, hy_variants[i]->name));
    }
}

static double sum_of(hybrid_engine *engine, const hy_variant *variant)
{
    const int on_host = strstr(variant->name, ".host.") != NULL;
    double sum        = 0;

    for (int i = 0; i < REGIME_PRODUCTS; i++) {
        const regime_product p = regimes_product(i);
        if (p.op == variant->op)
            sum += regimes_predicted_s(engine, &p,
                                       on_host ? HYBRID_SPLIT_HOST : HYBRID_SPLIT_GPU,
                                       variant->name);
    }
    return sum;
}

static void check_factor(hybrid_engine *engine, const hy_variant *variant,
                         const char *name, double *factor)
{
    const double before = sum_of(engine, variant);

    *factor            = 1.5;
    const double after = sum_of(engine, variant);
    *factor            = 0;
    if (after <= before)
        fail_msg("%s.%s changes nothing", variant->name, name);
}

static void each_factor_changes_a_prediction(void **state)
{
    hybrid_engine *engine = regimes_open();

    (void)state;
    for (int i = 0; regime_variants[i]; i++) {
        hy_backend *backend =
            hy_runs_on(regime_variants[i], engine->host) ? engine->host : engine->device;
        hy_factor_row *row =
            hy_factors_of(&backend->measured.factors, regime_variants[i]->name);
        assert_non_null(row);
        for (int k = 0; k < HY_REGIMES; k++)
            if (hy_regime_name(regime_variants[i]->op, k))
                check_factor(engine, regime_variants[i],
                             hy_regime_name(regime_variants[i]->op, k), &row->compute[k]);
        if (regime_variants[i]->prepare)
            check_factor(engine, regime_variants[i], "prepare", &row->prepare);
        check_factor(engine, regime_variants[i], "start_s", &row->start_s);
    }
    hybrid_engine_destroy(engine);
}

/* ---- the report has what the kernels are predicted to take ---- */

static void the_report_predicts_the_device(void **state)
{
    const regime_product p    = regimes_product(1);
    const hy_variant *variant = &regime_spmm[1];
    hybrid_engine *engine     = regimes_open();
    hybrid_report report      = HYBRID_REPORT_INIT;
    hy_rates rates;

    (void)state;
    hy_factor_table *factors = &engine->device->measured.factors;
    hy_factor_row *row       = hy_factors_of(factors, variant->name);
    row->compute[1]          = 3;
    row->start_s             = 2e-3;
    factors->spmm_gap_s      = 7e-3;
    hybrid_plan *plan = regimes_plan(engine, &p, HYBRID_SPLIT_GPU, variant->name, 0);
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    hy_rates_of(engine->device, &rates);
    const hy_cost cost = variant->cost(&plan->product.profile.features, &rates);
    const double s     = 2e-3 + 3 * cost.multiply_s;
    assert_true(fabs(report.predicted_device_s / s - 1) < 1e-12);
    hybrid_plan_destroy(plan);
    plan = regimes_plan(engine, &p, HYBRID_SPLIT_GPU, variant->name, 10);
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    double all_s = 7e-3 * (double)(report.chunks - 1);
    for (int64_t i = 0; i < report.chunks; i++)
        all_s +=
            2e-3 + 3 * variant->cost(&plan->portions->layout.chunks[i].features, &rates)
                           .multiply_s;
    assert_int_equal(report.chunks, 4);
    assert_true(fabs(report.predicted_device_s / all_s - 1) < 1e-12);
    hybrid_plan_destroy(plan);
    plan = regimes_plan(engine, &p, HYBRID_SPLIT_HOST, NULL, 0);
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    assert_true(report.predicted_device_s == 0);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
}

/* ---- calibration recovers the choice ---- */

/* Returns the geometric mean of the time of the variants that plans choose over the time
   of the fastest ones. */
static double regret(hybrid_engine *engine)
{
    double logs = 0;

    for (int i = 0; i < REGIME_PRODUCTS; i++) {
        const regime_product p = regimes_product(i);
        hybrid_plan *plan      = regimes_plan(engine, &p, HYBRID_SPLIT_GPU, NULL, 0);
        const hy_features *f   = &plan->product.profile.features;
        double least           = INFINITY;
        for (int kind = 0; kind < REGIME_KINDS; kind++)
            least = fmin(least, regimes_true_s(p.op, kind, f));
        logs += log(regimes_true_s(p.op, regimes_kind_of(plan->portions->variant), f) /
                    least);
        hybrid_plan_destroy(plan);
    }
    return exp(logs / REGIME_PRODUCTS);
}

/* Products from which factors are fitted, other than those of regret(). */
static const char *const dense[]  = {"er:50,2", "band:60,4", "rmat:6,4", NULL};
static const char *const sparse[] = {
    "er:90,2", "band:70,25", "rmat:7,24", "powerlaw:150,3,50",
    "er:20,2", "band:30,25", NULL};
static const char *const none[]   = {NULL};
static const int64_t columns[]    = {1, 7, 40, 100, 0};
static const hy_calibrate_set set = {
    {dense, sparse, 1e9}, {none, none, 1e9}, columns, 2, 1e9};

static void calibration_recovers_what_constants_that_are_off_by_two_lose(void **state)
{
    hybrid_engine *engine = regimes_open();

    (void)state;
    const double before = regret(engine);
    assert_true(before > 1.1);
    assert_int_equal(hy_calibrate(engine, io_temp("off.rates"), &set, NULL, NULL, NULL),
                     HYBRID_OK);
    const double after = regret(engine);
    if (after > 1.03)
        fail_msg("regret %g, before %g", after, before);
    hybrid_engine_destroy(engine);
}

static int is_near(double found, double right)
{
    return fabs(found / right - 1) < 0.1;
}

static void calibration_finds_what_chunks_cost_besides_work(void **state)
{
    hybrid_engine *engine = regimes_open();

    (void)state;
    regimes_start_s                = 4e-4;
    regimes_gap_s                  = 3e-4;
    const hy_factor_table *factors = &engine->device->measured.factors;
    assert_int_equal(hy_calibrate(engine, io_temp("fixed.rates"), &set, NULL, NULL, NULL),
                     HYBRID_OK);
    regimes_start_s = regimes_gap_s = 0;
    for (int kind = 0; kind < REGIME_KINDS; kind++) {
        const double start_s = hy_start_seen(factors, &regime_spmm[kind]);
        if (!is_near(start_s, 4e-4))
            fail_msg("variant %d: a chunk costs %g", kind, start_s);
    }
    if (!is_near(factors->spmm_gap_s, 3e-4) || !is_near(factors->spgemm_gap_s, 3e-4))
        fail_msg("gaps of %g and %g", factors->spmm_gap_s, factors->spgemm_gap_s);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_products_have_all_regimes),
        cmocka_unit_test(each_rate_changes_a_prediction),
        cmocka_unit_test(every_variant_has_room_for_factors),
        cmocka_unit_test(each_factor_changes_a_prediction),
        cmocka_unit_test(the_report_predicts_the_device),
        cmocka_unit_test(calibration_recovers_what_constants_that_are_off_by_two_lose),
        cmocka_unit_test(calibration_finds_what_chunks_cost_besides_work),
    };
    return cmocka_run_group_tests(tests, regimes_set_up, io_group_remove);
}
