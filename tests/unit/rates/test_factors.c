/* tests/unit/rates/test_factors.c - measured rates and factors decide what plans predict
   and choose.

   Products are computed by a fake device, whose clock goes on only while a kernel
   computes, by as much as the test says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/plan/plan.h"
#include "engine/rates/calibrate.h"
#include "engine/rates/factors.h"
#include "engine/rates/rates_keys.h"
#include "engine/tables/tables.h"
#include "support/engines/io_fixture.h"
#include "support/fake/fake_backend.h"
#include "support/inputs/cases.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spmm_host_rows, hy_spgemm_host_rows;

/* ---- three variants for each kind of product ---- */

enum { KINDS = 3 };

static hy_variant spmm[KINDS], spgemm[KINDS];
static const hy_variant *const variants[] = {
    &spmm[0],   &spmm[1],   &spmm[2],           &spgemm[0],
    &spgemm[1], &spgemm[2], &hy_spmm_host_rows, &hy_spgemm_host_rows,
    NULL};

/* Seconds by the model of variant `kind`: rows and entries cost it more or less. The last
   one is faster where TF32 is allowed. */
static double model_s(int kind, const hy_features *f)
{
    static const double row_s[]     = {9e-6, 1e-6, 3e-6};
    static const double product_s[] = {1e-8, 9e-8, 4e-8};

    return (row_s[kind] * (double)f->rows + product_s[kind] * (double)f->products) *
           (f->allow_tf32 && kind == KINDS - 1 ? 0.7 : 1);
}

/* Returns the factor, 1/2 or 2, by which the time of a variant on the simulated machine
   differs from its model. */
static double factor_here(hy_op op, int kind, const hy_features *f)
{
    hy_features plain = *f;

    plain.allow_tf32 = f->allow_tf32 && kind == KINDS - 1;
    return test_hash((uint64_t)(100 * (int)op + 10 * hy_regime(op, &plain) + kind), 5) % 2
               ? 2
               : 0.5;
}

/* Returns the seconds that the variant takes on this machine, up to 1 % from what its
   model with the right factor predicts. */
static double true_s(hy_op op, int kind, const hy_features *f)
{
    const uint64_t dice = test_hash((uint64_t)(f->nnz + kind), 9) % 201;

    return model_s(kind, f) * factor_here(op, kind, f) * (0.99 + 1e-4 * (double)dice);
}

static int kind_of(const hy_variant *variant)
{
    return (int)(variant - (variant->op == HY_SPMM ? spmm : spgemm));
}

#define COST(op, kind, base)                                                             \
    static hy_cost op##_cost_##kind(const hy_features *f, const hy_rates *r)             \
    {                                                                                    \
        hy_cost c    = base.cost(f, r);                                                  \
        c.prepare_s  = 1e-7 * (double)f->nnz;                                            \
        c.multiply_s = model_s(kind, f) + r->launch_s + (double)f->nnz / r->mem_Bps;     \
        return c;                                                                        \
    }
COST(spmm, 0, hy_spmm_fake_rows)
COST(spmm, 1, hy_spmm_fake_rows)
COST(spmm, 2, hy_spmm_fake_rows)
COST(spgemm, 0, hy_spgemm_fake_esc)
COST(spgemm, 1, hy_spgemm_fake_esc)
COST(spgemm, 2, hy_spgemm_fake_esc)

static _Atomic int64_t device_ns;

/* Seconds by which each chunk takes longer than its variant's model says (start_here),
   and each chunk but the first in addition (gap_here). */
static double start_here, gap_here;

static int64_t now_ns(void)
{
    return device_ns;
}

static hybrid_status pass(hy_lane *lane, void *arg)
{
    const hy_job *job  = arg;
    const double fixed = start_here + (job->chunk->row_begin > 0 ? gap_here : 0);
    const double s =
        fixed + true_s(job->variant->op, kind_of(job->variant), &job->chunk->features);

    (void)lane;
    device_ns += (int64_t)(s * 1e9);
    return HYBRID_OK;
}

static hybrid_status spmm_multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_spmm_fake_rows.multiply(lane, job));
    return hy_fake_enqueue(lane, pass, job);
}

static hybrid_status spgemm_multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_spgemm_fake_esc.multiply(lane, job));
    return hy_fake_enqueue(lane, pass, job);
}

static hybrid_engine *open_engine(void)
{
    static const hy_backend_ops *const backends[] = {&hy_fake_backend_ops,
                                                     &hy_host_backend_ops, NULL};
    hybrid_engine_options options                 = HYBRID_ENGINE_OPTIONS_INIT;
    const int only_device                         = 0;
    hybrid_engine *engine;

    options.threads      = 2;
    options.rates_path   = "";
    options.devices      = &only_device;
    options.device_count = 1;
    fake_delays(1, 0);
    assert_int_equal(fake_engine_open(&options, backends, variants, &engine), HYBRID_OK);
    return engine;
}

/* ---- products of every regime ---- */

typedef struct regime_product {
    hy_op op;
    const char *problem;
    int64_t columns; /* columns of X, for SpMM only */
    hybrid_type type;
    unsigned flags;
} regime_product;

enum { PRODUCTS = HY_REGIMES + 8 };

/* Returns product number i. The products of each kind have different regimes (kinds of
   products that have a factor of their own, factors.h). */
static regime_product product_of(int i)
{
    static const int64_t columns[]     = {1, 8, 32, 128};
    static const char *const squares[] = {"er:60,3", "band:80,30", "powerlaw:200,3,60",
                                          "rmat:8,16"};
    const int k                        = i % 4;

    if (i >= HY_REGIMES)
        return (regime_product){HY_SPGEMM, squares[k], 0,
                                i < HY_REGIMES + 4 ? HYBRID_F32 : HYBRID_F64, 0};
    return (regime_product){HY_SPMM, "er:40,3", columns[k],
                            i / 4 == 1 ? HYBRID_F64 : HYBRID_F32,
                            i / 4 == 2 ? HYBRID_ALLOW_TF32 : 0};
}

static hybrid_plan *plan_of(hybrid_engine *engine, const regime_product *p,
                            hybrid_split split, const char *variant, int64_t chunk_rows)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;
    hybrid_csr A, B;

    options.split      = split;
    options.variant    = variant;
    options.flags      = p->flags;
    options.chunk_rows = chunk_rows;
    assert_int_equal(hybrid_generate(engine, p->problem, p->type, 1, &A), HYBRID_OK);
    assert_int_equal(hybrid_generate(engine, p->problem, p->type, 1, &B), HYBRID_OK);
    const hybrid_status status =
        p->op == HY_SPGEMM ? hybrid_spgemm_plan(engine, &A, &B, &options, &plan)
                           : hybrid_spmm_plan(engine, &A, p->columns, &options, &plan);
    if (status != HYBRID_OK)
        fail_msg("%s: %s", p->problem, hybrid_engine_message(engine));
    hybrid_csr_free(engine, &A);
    hybrid_csr_free(engine, &B);
    return plan;
}

/* Returns the predicted seconds: in several chunks, which use both directions of the bus
   at once, or with a named variant in one. */
static double predicted_s(hybrid_engine *engine, const regime_product *p,
                          hybrid_split split, const char *variant)
{
    hybrid_plan *plan     = plan_of(engine, p, split, variant, variant ? 0 : 10);
    hybrid_report report  = HYBRID_REPORT_INIT;
    const hybrid_status s = hybrid_plan_report(plan, &report);

    assert_int_equal(s, HYBRID_OK);
    hybrid_plan_destroy(plan);
    return report.predicted_s;
}

static void the_products_have_all_regimes(void **state)
{
    hybrid_engine *engine   = open_engine();
    int seen[2][HY_REGIMES] = {{0}};

    (void)state;
    for (int i = 0; i < PRODUCTS; i++) {
        const regime_product p = product_of(i);
        hybrid_plan *plan      = plan_of(engine, &p, HYBRID_SPLIT_GPU, NULL, 0);
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
    double s[2 * PRODUCTS];
} predictions;

static predictions predict_all(hybrid_engine *engine)
{
    predictions all;

    for (int i = 0; i < PRODUCTS; i++) {
        const regime_product p = product_of(i);
        all.s[2 * i]           = predicted_s(engine, &p, HYBRID_SPLIT_GPU, NULL);
        all.s[2 * i + 1]       = predicted_s(engine, &p, HYBRID_SPLIT_HOST, NULL);
    }
    return all;
}

static int differ(const predictions *a, const predictions *b)
{
    for (int i = 0; i < 2 * PRODUCTS; i++)
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
    hybrid_engine *engine = open_engine();
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

    for (int i = 0; i < PRODUCTS; i++) {
        const regime_product p = product_of(i);
        if (p.op == variant->op)
            sum += predicted_s(engine, &p, on_host ? HYBRID_SPLIT_HOST : HYBRID_SPLIT_GPU,
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
    hybrid_engine *engine = open_engine();

    (void)state;
    for (int i = 0; variants[i]; i++) {
        hy_backend *backend =
            hy_runs_on(variants[i], engine->host) ? engine->host : engine->device;
        hy_factor_row *row = hy_factors_of(&backend->measured.factors, variants[i]->name);
        assert_non_null(row);
        for (int k = 0; k < HY_REGIMES; k++)
            if (hy_regime_name(variants[i]->op, k))
                check_factor(engine, variants[i], hy_regime_name(variants[i]->op, k),
                             &row->compute[k]);
        if (variants[i]->prepare)
            check_factor(engine, variants[i], "prepare", &row->prepare);
        check_factor(engine, variants[i], "start_s", &row->start_s);
    }
    hybrid_engine_destroy(engine);
}

/* ---- the report has what the kernels are predicted to take ---- */

static void the_report_predicts_the_device(void **state)
{
    const regime_product p    = product_of(1);
    const hy_variant *variant = &spmm[1];
    hybrid_engine *engine     = open_engine();
    hybrid_report report      = HYBRID_REPORT_INIT;
    hy_rates rates;

    (void)state;
    hy_factor_table *factors = &engine->device->measured.factors;
    hy_factor_row *row       = hy_factors_of(factors, variant->name);
    row->compute[1]          = 3;
    row->start_s             = 2e-3;
    factors->spmm_gap_s      = 7e-3;
    hybrid_plan *plan        = plan_of(engine, &p, HYBRID_SPLIT_GPU, variant->name, 0);
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    hy_rates_of(engine->device, &rates);
    const hy_cost cost = variant->cost(&plan->product.profile.features, &rates);
    const double s     = 2e-3 + 3 * cost.multiply_s;
    assert_true(fabs(report.predicted_device_s / s - 1) < 1e-12);
    hybrid_plan_destroy(plan);
    plan = plan_of(engine, &p, HYBRID_SPLIT_GPU, variant->name, 10);
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    double all_s = 7e-3 * (double)(report.chunks - 1);
    for (int64_t i = 0; i < report.chunks; i++)
        all_s +=
            2e-3 + 3 * variant->cost(&plan->portions->layout.chunks[i].features, &rates)
                           .multiply_s;
    assert_int_equal(report.chunks, 4);
    assert_true(fabs(report.predicted_device_s / all_s - 1) < 1e-12);
    hybrid_plan_destroy(plan);
    plan = plan_of(engine, &p, HYBRID_SPLIT_HOST, NULL, 0);
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

    for (int i = 0; i < PRODUCTS; i++) {
        const regime_product p = product_of(i);
        hybrid_plan *plan      = plan_of(engine, &p, HYBRID_SPLIT_GPU, NULL, 0);
        const hy_features *f   = &plan->product.profile.features;
        double least           = INFINITY;
        for (int kind = 0; kind < KINDS; kind++)
            least = fmin(least, true_s(p.op, kind, f));
        logs += log(true_s(p.op, kind_of(plan->portions->variant), f) / least);
        hybrid_plan_destroy(plan);
    }
    return exp(logs / PRODUCTS);
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
    hybrid_engine *engine = open_engine();

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
    hybrid_engine *engine = open_engine();

    (void)state;
    start_here                     = 4e-4;
    gap_here                       = 3e-4;
    const hy_factor_table *factors = &engine->device->measured.factors;
    assert_int_equal(hy_calibrate(engine, io_temp("fixed.rates"), &set, NULL, NULL, NULL),
                     HYBRID_OK);
    start_here = gap_here = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        const double start_s = hy_start_seen(factors, &spmm[kind]);
        if (!is_near(start_s, 4e-4))
            fail_msg("variant %d: a chunk costs %g", kind, start_s);
    }
    if (!is_near(factors->spmm_gap_s, 3e-4) || !is_near(factors->spgemm_gap_s, 3e-4))
        fail_msg("gaps of %g and %g", factors->spmm_gap_s, factors->spgemm_gap_s);
    hybrid_engine_destroy(engine);
}

static int set_up(void **state)
{
    static const char *const spmm_names[] = {"spmm.fake.a", "spmm.fake.b", "spmm.fake.c"};
    static const char *const spgemm_names[] = {"spgemm.fake.a", "spgemm.fake.b",
                                               "spgemm.fake.c"};
    hy_cost (*const spmm_costs[])(const hy_features *, const hy_rates *) = {
        spmm_cost_0, spmm_cost_1, spmm_cost_2};
    hy_cost (*const spgemm_costs[])(const hy_features *, const hy_rates *) = {
        spgemm_cost_0, spgemm_cost_1, spgemm_cost_2};

    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        spmm[kind]            = hy_spmm_fake_rows;
        spmm[kind].name       = spmm_names[kind];
        spmm[kind].cost       = spmm_costs[kind];
        spmm[kind].multiply   = spmm_multiply;
        spgemm[kind]          = hy_spgemm_fake_esc;
        spgemm[kind].name     = spgemm_names[kind];
        spgemm[kind].cost     = spgemm_costs[kind];
        spgemm[kind].multiply = spgemm_multiply;
    }
    fake_clock(now_ns);
    return 0;
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
    return cmocka_run_group_tests(tests, set_up, io_group_remove);
}
