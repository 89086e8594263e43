/* tests/unit/rates/test_calibrate.c - calibration of the host and of a fake device.

   Each call of a calibration fails once. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/rates/calibrate.h"
#include "engine/rates/factors.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fault.h"
#include "support/engines/io_fixture.h"

extern const hy_backend_ops hy_host_backend_ops;

/* ---- complete calibrations ---- */

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* The host measures nothing, so that only calls of the device remain to fail. */
static hy_backend_ops quick_host;

static hybrid_status open_host(hy_context *ctx, const hybrid_engine_options *options,
                               hy_backend **out)
{
    HY_TRY(hy_host_backend_ops.open(ctx, options, out));
    (*out)->ops = &quick_host;
    return HYBRID_OK;
}

static hy_cost cost_of(const hy_features *f, const hy_rates *r, double seconds)
{
    hy_cost c    = hy_spmm_fake_rows.cost(f, r);
    c.multiply_s = seconds;
    return c;
}

static hy_cost rows_cost(const hy_features *f, const hy_rates *r)
{
    return cost_of(f, r, 3e-8 * (double)f->nnz);
}

static hy_cost merge_cost(const hy_features *f, const hy_rates *r)
{
    const double units = (double)(8 * f->nnz + 10 * f->rows);
    return cost_of(f, r, r->launch_s * 1e-3 * units);
}

static hy_variant rows, merge;
static const hy_variant *const variants[]      = {&rows, &merge, NULL};
static const hy_backend_ops *const backends[]  = {&hy_fault_backend_ops, &quick_host,
                                                  NULL};
static const hy_backend_ops *const host_only[] = {&quick_host, NULL};

static const char *const problems[] = {"er:40,3", "band:30,4", "stencil7:3", NULL};
static const int64_t columns[]      = {1, 5, 0};
static const char *const none[]     = {NULL};
static const hy_calibrate_set set   = {
      {problems, problems, 1e9}, {none, none, 1e9}, columns, 3, 1e9};
static const hy_calibrate_set no_set = {
    {problems, problems, 0}, {problems, problems, 0}, columns, 3, 1e9};

static hybrid_engine *open_engine(const hy_backend_ops *const *places, const char *rates)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads    = 2;
    options.rates_path = rates;
    fake_delays(1, 0);
    assert_int_equal(fake_engine_open(&options, places, variants, &engine), HYBRID_OK);
    return engine;
}

/* The timings that the test received from calibration, from which it derives the rules
   again. */
typedef struct told {
    int steps;
    int64_t count;
    hybrid_timing timing[16];
} told;

static void listen(void *user, const char *step, const hybrid_timing *timing)
{
    told *t = user;

    assert_true(strlen(step) > 0);
    if (timing)
        t->timing[t->count++] = *timing;
    else
        t->steps++;
}

typedef double (*score_fn)(const hybrid_timing *t);

static double by_mean(const hybrid_timing *t)
{
    return t->row_mean;
}

static double by_model(const hybrid_timing *t)
{
    return t->merge_model_s / t->rows_model_s;
}

/* Factors of rows and merge for f32, as calibration found them. */
static hy_factor_table factors;

/* Returns the predicted seconds of merge over those of rows, with the fitted factors.
   Products with one column have regime 0, others regime 1. */
static double by_factors(const hybrid_timing *t)
{
    const int regime = t->columns > 1;

    return (hy_start_seen(&factors, &merge) +
            t->merge_model_s * hy_factor_seen(&factors, &merge, regime)) /
           (hy_start_seen(&factors, &rows) +
            t->rows_model_s * hy_factor_seen(&factors, &rows, regime));
}

/* Returns how far the predictions for a regime would be from the measured seconds if it
   had this factor. */
static double distance(const told *t, int merges, int regime, double factor)
{
    const double start = hy_start_seen(&factors, merges ? &merge : &rows);
    double sum         = 0;

    for (int64_t i = 0; i < t->count; i++) {
        const hybrid_timing *m = &t->timing[i];
        const double model_s   = merges ? m->merge_model_s : m->rows_model_s;
        const double log_ratio =
            log((start + factor * model_s) / (merges ? m->merge_s : m->rows_s));
        sum += (m->columns > 1) == regime ? sqrt(log_ratio * log_ratio + 0.01) : 0;
    }
    return sum;
}

/* Checks that no other factor gives better predictions for the regime. */
static void check_factor(const told *t, int merges, int regime)
{
    const double seen  = hy_factor_seen(&factors, merges ? &merge : &rows, regime);
    const double least = distance(t, merges, regime, seen);

    assert_true(seen >= 1e-3 && seen <= 1e3);
    for (double other = 1e-3; other <= 1e3; other *= 1.02)
        assert_true(least <= distance(t, merges, regime, other) + 1e-9);
}

/* merge_cost() counts launches, which take 5 us with built-in rates and 3 us as measured;
   rows_cost() does not count them. */
static double as_built_in(const hybrid_timing *t)
{
    return by_model(t) * (5e-6 / 3e-6);
}

static hybrid_rule rule_of(const told *t, score_fn score, double cut)
{
    double right = 0, lost = 0;

    for (int64_t i = 0; i < t->count; i++) {
        const hybrid_timing *m = &t->timing[i];
        const double taken     = score(m) < cut ? m->merge_s : m->rows_s;
        const double least     = fmin(m->merge_s, m->rows_s);
        right += taken <= least;
        lost += log(taken) - log(least);
    }
    return (hybrid_rule){right / (double)t->count, exp(lost / (double)t->count)};
}

static void check_rule(const told *t, const hybrid_rule *rule, score_fn score, double cut)
{
    const hybrid_rule other = rule_of(t, score, cut);

    assert_true(fabs(rule->accuracy - other.accuracy) < 1e-12);
    assert_true(fabs(rule->slowdown - other.slowdown) < 1e-9);
}

static void check_rules(const told *t, const hybrid_calibration *found)
{
    check_rule(t, &found->paper, by_mean, 9.35);
    check_rule(t, &found->fitted, by_mean, found->threshold);
    check_rule(t, &found->model, as_built_in, 1);
    check_rule(t, &found->scaled, by_factors, 1);
    assert_true(found->fitted.slowdown <= found->paper.slowdown + 1e-12);
}

/* Checks the rates of a new engine that reads the file. */
static void check_file(const char *path, const hybrid_calibration *found)
{
    hybrid_engine *engine = open_engine(backends, path);
    hy_rates r;
    char text[4096];
    hybrid_plan *plan;
    hybrid_csr A;

    hy_rates_of(engine->device, &r);
    assert_true(r.h2d_Bps == 20e9 && r.d2h_Bps == 21e9 && r.mem_Bps == 5e11);
    assert_true(r.launch_s == 3e-6 && r.flops == 1e13);
    for (int i = 0; i < HY_REGIMES; i++)
        assert_true(fabs(hy_factor_seen(r.factors, &merge, i) /
                             hy_factor_seen(&factors, &merge, i) -
                         1) < 1e-5);
    (void)found;
    assert_int_equal(hybrid_generate(engine, "er:20,2", HYBRID_F32, 1, &A), HYBRID_OK);
    assert_int_equal(hybrid_spmm_plan(engine, &A, 3, NULL, &plan), HYBRID_OK);
    hybrid_plan_details(plan, text, sizeof text);
    assert_non_null(strstr(text, "rates     measured on 2"));
    assert_non_null(strstr(text, path));
    hybrid_plan_destroy(plan);
    hybrid_csr_free(engine, &A);
    hybrid_engine_destroy(engine);
}

static void a_device_is_measured_and_the_file_is_used(void **state)
{
    hybrid_engine *engine    = open_engine(backends, "");
    hybrid_calibration found = HYBRID_CALIBRATION_INIT;
    told t                   = {0};
    hy_rates r;
    char path[4096];

    (void)state;
    snprintf(path, sizeof path, "%s", io_temp("device.rates"));
    assert_int_equal(hy_calibrate(engine, path, &set, listen, &t, &found), HYBRID_OK);
    assert_int_equal(t.count, 6);
    /* device and host, and three problems of two types for each kind of product */
    assert_int_equal(t.steps, 2 + 3 * 2 * 2);
    assert_int_equal(found.products, 6);
    assert_string_equal(found.path, path);
    assert_string_equal(found.device.name, "a device made of host memory");
    assert_true(found.device.both_Bps == 35e9 && found.device.flops == 0);
    assert_true(found.host.mem_Bps == 0 && found.host.h2d_Bps == 0);
    for (int64_t i = 0; i < t.count; i++)
        assert_true(t.timing[i].rows_s > 0 && t.timing[i].merge_s > 0);
    assert_true(t.timing[0].columns == 1 && t.timing[1].columns == 5);
    /* expected: mean number of entries in a row of band:30,4 */
    assert_true(near(t.timing[2].row_mean, (30 * 9 - 20) / 30.0));
    assert_true(near(t.timing[2].rows_model_s, 3e-8 * 250));
    assert_true(near(t.timing[2].merge_model_s, 3e-9 * (8 * 250 + 300)));
    factors = engine->device->measured.factors;
    for (int regime = 0; regime < 2; regime++) {
        check_factor(&t, 0, regime);
        check_factor(&t, 1, regime);
    }
    check_rules(&t, &found);
    hy_rates_of(engine->device, &r); /* plans from now on use the measured rates */
    assert_true(r.h2d_Bps == 20e9 && r.factors->count == 2);
    hybrid_engine_destroy(engine);
    check_file(path, &found);
    assert_int_equal(fake_alive(), 0);
}

static void when_time_is_up_nothing_is_begun(void **state)
{
    hybrid_engine *engine    = open_engine(backends, "");
    hybrid_calibration found = HYBRID_CALIBRATION_INIT;
    told t                   = {0};
    hy_rates r;

    (void)state;
    assert_int_equal(
        hy_calibrate(engine, io_temp("short.rates"), &no_set, listen, &t, &found),
        HYBRID_OK);
    assert_int_equal(t.count, 0);
    assert_int_equal(found.products, 0);
    assert_true(found.device.h2d_Bps == 20e9 && found.threshold == 0);
    hy_rates_of(engine->device, &r);
    assert_true(r.h2d_Bps == 20e9 && r.factors->count == 0);
    hybrid_engine_destroy(engine);
}

static void the_host_is_measured_alone(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_calibration found      = HYBRID_CALIBRATION_INIT;
    hybrid_engine *engine;
    char path[4096];
    hy_rates r;

    (void)state;
    options.backend    = HYBRID_HOST;
    options.threads    = 2;
    options.rates_path = "";
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    snprintf(path, sizeof path, "%s", io_temp("host.rates"));
    assert_int_equal(hybrid_engine_calibrate(engine, path, NULL, NULL, &found),
                     HYBRID_OK);
    assert_null(found.device.name);
    assert_true(found.products == 0 && found.merge_factor == 0);
    assert_true(found.host.mem_Bps > 1e7 && found.host.mem_Bps < 1e14);
    assert_true(found.host.flops > 1e7 && found.host.flops < 1e14);
    assert_true(found.host.launch_s > 0 && found.host.launch_s < 10);
    hybrid_engine_destroy(engine);
    options.rates_path = path;
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    hy_rates_of(engine->host, &r);
    assert_true(fabs(r.mem_Bps / found.host.mem_Bps - 1) < 1e-5);
    assert_true(fabs(r.flops / found.host.flops - 1) < 1e-5);
    hybrid_engine_destroy(engine);
}

static void bad_arguments_are_refused(void **state)
{
    hybrid_engine *engine  = open_engine(host_only, "");
    hybrid_calibration odd = {.struct_size = 1};

    (void)state;
    assert_int_equal(hybrid_engine_calibrate(NULL, NULL, NULL, NULL, NULL),
                     HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_engine_calibrate(engine, NULL, NULL, NULL, &odd),
                     HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(hybrid_engine_message(engine), "HYBRID_CALIBRATION_INIT"));
    assert_int_equal(hybrid_engine_calibrate(engine, "", NULL, NULL, NULL),
                     HYBRID_BAD_ARGUMENT);
    assert_int_equal(
        hybrid_engine_calibrate(engine, io_temp("absent/x"), NULL, NULL, NULL),
        HYBRID_IO_FAILED);
    /* the host's rates are unchanged */
    assert_true(engine->host->measured.date[0] == '\0');
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_int_equal(hybrid_engine_calibrate(engine, NULL, NULL, NULL, NULL),
                     HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(hybrid_engine_message(engine), "no cache folder"));
    hybrid_engine_destroy(engine);
}

/* ---- faults ---- */

static const char *const one_problem[] = {"er:12,2", NULL};
static const int64_t one_column[]      = {2, 0};
static const hy_calibrate_set tiny     = {
        {one_problem, none, 1e9}, {none, none, 1e9}, one_column, 1, 1e9};

/* Each call fails once: the message is set, and the rates and the old file are
   unchanged. */
static int64_t fail_each(hybrid_engine *engine, const fault_kind *fault)
{
    char path[4096];
    size_t bytes;

    snprintf(path, sizeof path, "%s", io_temp("fault.rates"));
    const int64_t alive = fake_alive();
    for (int64_t n = 1; n < 20000; n++) {
        io_store(path, "before", 6);
        fault->arm(engine, n);
        hy_message_clear(&engine->ctx.message);
        const hybrid_status status = hy_calibrate(engine, path, &tiny, NULL, NULL, NULL);
        const int struck           = fault_struck(fault, engine, status);
        assert_true(fake_alive() <= alive);
        if (!struck)
            return n - 1;
        if (status == HYBRID_OK) { /* the calibration succeeded in spite of the failure */
            engine->device->measured.date[0] = '\0';
            continue;
        }
        assert_true(strlen(hybrid_engine_message(engine)) > 10);
        assert_true(engine->device->measured.date[0] == '\0');
        char *left = io_load(path, &bytes);
        assert_string_equal(left, "before");
        free(left);
        assert_int_equal(access(io_partial("fault.rates"), F_OK), -1);
    }
    fail_msg("calls fail without end");
    return 0;
}

static void each_call_fails_once(void **state)
{
    hybrid_engine *engine = open_engine(backends, "");

    (void)state;
    assert_true(fail_each(engine, &fault_allocation) > 10);
    hybrid_engine_destroy(engine);
    engine = open_engine(backends, "");
    assert_true(fail_each(engine, &fault_device) > 50);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

static int set_up(void **state)
{
    (void)state;
    quick_host         = hy_host_backend_ops;
    quick_host.open    = open_host;
    quick_host.measure = NULL;
    rows               = hy_spmm_fake_rows;
    rows.cost          = rows_cost;
    merge              = hy_spmm_fake_rows;
    merge.name         = "spmm.fake.merge";
    merge.cost         = merge_cost;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_measured_and_the_file_is_used),
        cmocka_unit_test(when_time_is_up_nothing_is_begun),
        cmocka_unit_test(the_host_is_measured_alone),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(each_call_fails_once),
    };
    return cmocka_run_group_tests(tests, set_up, io_group_remove);
}
