/* engine/rates/observe.c - compares measured with predicted seconds of variants. */
#include "engine/rates/observe.h"

#include <math.h>
#include <string.h>

#include "base/data/median.h"
#include "base/threads/clock.h"
#include "engine/rates/estimate.h"
#include "engine/rates/factors.h"

/* Least seconds of a timing; shorter ones count as this. */
static const double CLOCK_S = 1e-9;

/* No further run of a product is begun after this many seconds. */
static const double LONG_S = 0.05;

enum { RUNS_MOST = 16 };

static double positive(double seconds)
{
    return seconds > CLOCK_S ? seconds : CLOCK_S;
}

/* ---- what the models predict ------------------------------------------------------- */

typedef struct model {
    double compute_s, core_s, sent_bytes;
} model;

/* Returns what the variant's model predicts for the chunks of the plan, without
   factors. */
static model model_of(const hybrid_plan *plan, const hy_rates *rates)
{
    const hy_layout *layout   = &plan->portions->layout;
    const hy_variant *variant = plan->portions->variant;
    model m                   = {0};

    for (int64_t i = 0; i < layout->count; i++) {
        const hy_cost cost = variant->cost(&layout->chunks[i].features, rates);
        m.compute_s += cost.multiply_s + cost.finish_s;
        m.core_s += cost.prepare_s;
        m.sent_bytes += hy_sent_bytes(&cost);
    }
    return m;
}

/* Sets the seconds of packing that cores take, measured and predicted, unless memory
   bounds them. */
static void observe_packing(const hybrid_plan *plan, const model *m, double measured_s,
                            hy_observation *out)
{
    hy_rates host;

    hy_rates_of(plan->product.engine->host, &host);
    const double memory_s = HY_PACK_PASSES * m->sent_bytes / host.mem_Bps;
    if (m->core_s <= 0 || measured_s <= memory_s)
        return;
    out->prepare_s       = measured_s;
    out->prepare_model_s = m->core_s / fmax(host.width, 1);
}

/* ---- runs -------------------------------------------------------------------------- */

typedef struct seconds {
    double total, compute, prepare;
} seconds;

static hybrid_status run_once(hybrid_plan *plan, const hy_observed_product *p,
                              seconds *out)
{
    const hybrid_report *report = &plan->history.report;
    hybrid_csr C                = {0};

    if (p->B) {
        HY_TRY(hybrid_spgemm_run(plan, p->A, p->B, &C));
        hybrid_csr_free(plan->product.engine, &C);
    } else {
        HY_TRY(hybrid_spmm_run(plan, 1, p->A, p->X, 0, p->Y));
    }
    *out = (seconds){report->total_s, report->multiply_s + report->finish_s,
                     report->prepare_s};
    return HYBRID_OK;
}

static hybrid_status run_often(hybrid_plan *plan, const hy_observed_product *p, int runs,
                               seconds *out)
{
    const int64_t begin_ns = hy_now_ns();
    double total[RUNS_MOST], compute[RUNS_MOST], prepare[RUNS_MOST];
    int n = 0;

    HY_TRY(run_once(plan, p, out));
    do {
        HY_TRY(run_once(plan, p, out));
        total[n]     = out->total;
        compute[n]   = out->compute;
        prepare[n++] = out->prepare;
    } while (n < runs && n < RUNS_MOST &&
             (double)(hy_now_ns() - begin_ns) * 1e-9 < LONG_S);
    *out = (seconds){hy_median(total, n), hy_median(compute, n), hy_median(prepare, n)};
    return HYBRID_OK;
}

/* Sets *call_s to the seconds that a device's call is predicted to cost besides work and
   copies. A prediction is linear in the factor of these seconds, so that a second one,
   with a factor of 2, tells what part they have. */
static hybrid_status predict_call(hybrid_plan *plan, const hy_observed_product *p,
                                  hy_backend *backend, double *call_s)
{
    hy_factor_table *factors = &backend->measured.factors;
    double *factor           = p->B ? &factors->spgemm_call : &factors->spmm_call;
    const double predicted   = plan->history.report.predicted_s;
    seconds again;

    *factor                    = 2;
    const hybrid_status status = run_once(plan, p, &again);
    *factor                    = 0;
    *call_s                    = plan->history.report.predicted_s - predicted;
    return status;
}

static hybrid_status observe_call(hybrid_plan *plan, const hy_observed_product *p,
                                  hy_backend *backend, const seconds *measured,
                                  hy_observation *out)
{
    const hy_features *f = &plan->portions->profile.features;
    double rest_s        = out->compute_s, call_s;
    hy_rates here;

    if (backend->ops->copy) {
        const double predicted = plan->history.report.predicted_s - out->model_s;
        HY_TRY(predict_call(plan, p, backend, &call_s));
        rest_s += predicted - call_s;
    } else {
        hy_rates_of(backend, &here);
        call_s = hy_estimate_host(f, plan->portions->variant, &here).call_s;
    }
    if (call_s <= 0 || call_s < rest_s || measured->total <= rest_s)
        return HYBRID_OK;
    out->call_model_s = call_s;
    out->call_s       = measured->total - rest_s;
    return HYBRID_OK;
}

static hybrid_status observe_plan(hybrid_plan *plan, hy_backend *backend,
                                  const hy_observed_product *p, int runs,
                                  hy_observation *out)
{
    const hy_product *product = &plan->product;
    hy_rates built_in, here;
    seconds measured;

    HY_TRY(run_often(plan, p, runs, &measured));
    hy_rates_of(backend, &here);
    backend->ops->rates(backend, &built_in);
    const model m = model_of(plan, &here), usual = model_of(plan, &built_in);
    out->regime     = hy_regime(product->op, &product->profile.features);
    out->compute_s  = positive(measured.compute);
    out->model_s    = positive(m.compute_s);
    out->built_in_s = positive(usual.compute_s);
    observe_packing(plan, &m, measured.prepare, out);
    return observe_call(plan, p, backend, &measured, out);
}

hybrid_status hy_observe(hybrid_engine *engine, const hy_variant *variant,
                         hy_backend *backend, const hy_observed_product *p, int runs,
                         hy_observation *out)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    *out               = (hy_observation){.variant = variant, .regime = -1};
    options.variant    = variant->name;
    options.chunk_rows = p->A->rows;
    options.depth      = 1;
    options.flags      = p->flags;
    options.split      = backend->ops->copy ? HYBRID_SPLIT_GPU : HYBRID_SPLIT_HOST;
    hybrid_status status =
        p->B ? hybrid_spgemm_plan(engine, p->A, p->B, &options, &plan)
             : hybrid_spmm_plan(engine, p->A, p->X->cols, &options, &plan);
    if (status == HYBRID_UNSUPPORTED) {
        hy_message_clear(&engine->ctx.message);
        return HYBRID_OK;
    }
    HY_TRY(status);
    status = observe_plan(plan, backend, p, runs, out);
    hybrid_plan_destroy(plan);
    return status;
}

/* ---- means ------------------------------------------------------------------------- */

static void add(hy_mean *mean, double measured_s, double model_s)
{
    if (measured_s <= 0 || model_s <= 0)
        return;
    mean->logs += log(measured_s / model_s);
    mean->count++;
}

void hy_observed_add(hy_observed *all, const hy_observation *seen)
{
    hy_mean *call = seen->variant->op == HY_SPGEMM ? &all->spgemm_call : &all->spmm_call;
    int i         = 0;

    while (i < all->count && all->of[i].variant != seen->variant)
        i++;
    if (seen->regime < 0 || i == HY_FACTOR_ROWS)
        return;
    all->count         = i == all->count ? i + 1 : all->count;
    all->of[i].variant = seen->variant;
    add(&all->of[i].compute[seen->regime], seen->compute_s, seen->model_s);
    add(&all->of[i].prepare, seen->prepare_s, seen->prepare_model_s);
    add(call, seen->call_s, seen->call_model_s);
}

/* Returns a factor within the bounds of the file; 0 without observations. */
static double factor_of(const hy_mean *mean)
{
    if (mean->count == 0)
        return 0;
    return fmin(fmax(exp(mean->logs / (double)mean->count), 1e-3), 1e3);
}

hy_factor_table hy_observed_factors(const hy_observed *all)
{
    hy_factor_table factors = {.spmm_call   = factor_of(&all->spmm_call),
                               .spgemm_call = factor_of(&all->spgemm_call)};

    for (int i = 0; i < all->count; i++) {
        hy_factor_row *row = hy_factors_of(&factors, all->of[i].variant->name);
        for (int k = 0; row && k < HY_REGIMES; k++)
            row->compute[k] = factor_of(&all->of[i].compute[k]);
        if (row)
            row->prepare = factor_of(&all->of[i].prepare);
    }
    return factors;
}
