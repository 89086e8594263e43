/* tests/support/subjects/regimes.c - a simulated machine with three variants for each
   kind of product, and products of every regime. */
#include "support/subjects/regimes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/fake/fake_backend.h"
#include "support/inputs/cases.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spmm_host_rows, hy_spgemm_host_rows;

/* ---- three regime_variants for each kind of product ---- */

hy_variant regime_spmm[REGIME_KINDS];
static hy_variant regime_spgemm[REGIME_KINDS];
const hy_variant *const regime_variants[] = {
    &regime_spmm[0],    &regime_spmm[1],      &regime_spmm[2],
    &regime_spgemm[0],  &regime_spgemm[1],    &regime_spgemm[2],
    &hy_spmm_host_rows, &hy_spgemm_host_rows, NULL};

/* Seconds by the model of variant `kind`: rows and entries cost it more or less. The last
   one is faster where TF32 is allowed. */
static double model_s(int kind, const hy_features *f)
{
    static const double row_s[]     = {9e-6, 1e-6, 3e-6};
    static const double product_s[] = {1e-8, 9e-8, 4e-8};

    return (row_s[kind] * (double)f->rows + product_s[kind] * (double)f->products) *
           (f->allow_tf32 && kind == REGIME_KINDS - 1 ? 0.7 : 1);
}

/* Returns the factor, 1/2 or 2, by which the time of a variant on the simulated machine
   differs from its model. */
static double factor_here(hy_op op, int kind, const hy_features *f)
{
    hy_features plain = *f;

    plain.allow_tf32 = f->allow_tf32 && kind == REGIME_KINDS - 1;
    return test_hash((uint64_t)(100 * (int)op + 10 * hy_regime(op, &plain) + kind), 5) % 2
               ? 2
               : 0.5;
}

double regimes_true_s(hy_op op, int kind, const hy_features *f)
{
    const uint64_t dice = test_hash((uint64_t)(f->nnz + kind), 9) % 201;

    return model_s(kind, f) * factor_here(op, kind, f) * (0.99 + 1e-4 * (double)dice);
}

int regimes_kind_of(const hy_variant *variant)
{
    return (int)(variant - (variant->op == HY_SPMM ? regime_spmm : regime_spgemm));
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

double regimes_start_s, regimes_gap_s;

static int64_t now_ns(void)
{
    return device_ns;
}

static hybrid_status pass(hy_lane *lane, void *arg)
{
    const hy_job *job = arg;
    const double fixed =
        regimes_start_s + (job->chunk->row_begin > 0 ? regimes_gap_s : 0);
    const double s =
        fixed + regimes_true_s(job->variant->op, regimes_kind_of(job->variant),
                               &job->chunk->features);

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

hybrid_engine *regimes_open(void)
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
    assert_int_equal(fake_engine_open(&options, backends, regime_variants, &engine),
                     HYBRID_OK);
    return engine;
}

/* ---- products of every regime ---- */

regime_product regimes_product(int i)
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

hybrid_plan *regimes_plan(hybrid_engine *engine, const regime_product *p,
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

double regimes_predicted_s(hybrid_engine *engine, const regime_product *p,
                           hybrid_split split, const char *variant)
{
    hybrid_plan *plan     = regimes_plan(engine, p, split, variant, variant ? 0 : 10);
    hybrid_report report  = HYBRID_REPORT_INIT;
    const hybrid_status s = hybrid_plan_report(plan, &report);

    assert_int_equal(s, HYBRID_OK);
    hybrid_plan_destroy(plan);
    return report.predicted_s;
}

int regimes_set_up(void **state)
{
    static const char *const spmm_names[] = {"spmm.fake.a", "spmm.fake.b", "spmm.fake.c"};
    static const char *const spgemm_names[] = {"spgemm.fake.a", "spgemm.fake.b",
                                               "spgemm.fake.c"};
    hy_cost (*const spmm_costs[])(const hy_features *, const hy_rates *) = {
        spmm_cost_0, spmm_cost_1, spmm_cost_2};
    hy_cost (*const spgemm_costs[])(const hy_features *, const hy_rates *) = {
        spgemm_cost_0, spgemm_cost_1, spgemm_cost_2};

    (void)state;
    for (int kind = 0; kind < REGIME_KINDS; kind++) {
        regime_spmm[kind]            = hy_spmm_fake_rows;
        regime_spmm[kind].name       = spmm_names[kind];
        regime_spmm[kind].cost       = spmm_costs[kind];
        regime_spmm[kind].multiply   = spmm_multiply;
        regime_spgemm[kind]          = hy_spgemm_fake_esc;
        regime_spgemm[kind].name     = spgemm_names[kind];
        regime_spgemm[kind].cost     = spgemm_costs[kind];
        regime_spgemm[kind].multiply = spgemm_multiply;
    }
    fake_clock(now_ns);
    return 0;
}
