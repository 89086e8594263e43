/* engine/rates/observe.c - compares measured with predicted seconds of variants. */
#include "engine/rates/observe.h"

#include <math.h>
#include <string.h>

#include "base/data/median.h"
#include "base/threads/clock.h"
#include "base/threads/pool.h"
#include "engine/rates/estimate.h"
#include "engine/rates/factors.h"

/* Minimum seconds of a timing; shorter timings count as this. */
static const double CLOCK_S = 1e-9;

/* No further run of a product is begun after this many seconds. */
static const double LONG_S = 0.05;

enum {
    RUNS_MOST = 16,
    PARTS     = 4 /* target for the number of chunks of a run in several chunks */
};

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
    hy_rates here;

    out->total_s = positive(measured->total);
    out->rest_s  = out->compute_s;
    if (backend->ops->copy) {
        const double predicted = plan->history.report.predicted_s - out->model_s;
        HY_TRY(predict_call(plan, p, backend, &out->call_model_s));
        out->rest_s += fmax(0, predicted - out->call_model_s);
    } else {
        hy_rates_of(backend, &here);
        out->call_model_s = hy_estimate_host(f, plan->portions->variant, &here).call_s;
        out->threads_share =
            hy_pool_max_threads(plan->product.engine->ctx.pool) / fmax(here.width, 1);
    }
    return HYBRID_OK;
}

static hybrid_status observe_whole(hybrid_plan *plan, hy_backend *backend,
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

static hybrid_status observe_parts(hybrid_plan *plan, hy_backend *backend,
                                   const hy_observed_product *p, int runs,
                                   hy_observation *out)
{
    const hy_layout *layout = &plan->portions->layout;
    hy_rates here;
    seconds measured;

    HY_TRY(run_often(plan, p, runs, &measured));
    hy_rates_of(backend, &here);
    out->chunks    = layout->count;
    out->chunked_s = measured.compute;
    for (int64_t i = 0; i < layout->count; i++) {
        const hy_features *f = &layout->chunks[i].features;
        const hy_cost cost   = out->variant->cost(f, &here);
        out->chunked_model_s[hy_regime(out->variant->op, f)] +=
            cost.multiply_s + cost.finish_s;
    }
    return HYBRID_OK;
}

typedef hybrid_status (*observe_fn)(hybrid_plan *plan, hy_backend *backend,
                                    const hy_observed_product *p, int runs,
                                    hy_observation *out);

static hybrid_status plan_of(hybrid_engine *engine, const hy_observed_product *p,
                             const hybrid_plan_options *options, hybrid_plan **plan)
{
    return p->B ? hybrid_spgemm_plan(engine, p->A, p->B, options, plan)
                : hybrid_spmm_plan(engine, p->A, p->X->cols, options, plan);
}

/* Makes a plan with the variant. The first attempt names no variant if the host computes
   SpMM, as most plans do. */
static hybrid_status plan_with(hybrid_engine *engine, const hy_variant *variant,
                               const hy_backend *backend, const hy_observed_product *p,
                               hybrid_plan_options *options, hybrid_plan **plan)
{
    options->variant = p->B || backend->ops->copy ? variant->name : NULL;
    HY_TRY(plan_of(engine, p, options, plan));
    if ((*plan)->portions->variant == variant)
        return HYBRID_OK;
    hybrid_plan_destroy(*plan);
    options->variant = variant->name;
    return plan_of(engine, p, options, plan);
}

/* Observes a plan with chunks of `rows` rows of A. Does nothing if the variant refuses
   the product. */
static hybrid_status observe_in(hybrid_engine *engine, hy_backend *backend,
                                const hy_observed_product *p, int64_t rows, int runs,
                                observe_fn observe, hy_observation *out)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.chunk_rows   = rows;
    options.depth        = rows < p->A->rows ? 0 : 1;
    options.flags        = p->flags;
    options.split        = backend->ops->copy ? HYBRID_SPLIT_GPU : HYBRID_SPLIT_HOST;
    hybrid_status status = plan_with(engine, out->variant, backend, p, &options, &plan);
    if (status == HYBRID_UNSUPPORTED) {
        hy_message_clear(&engine->ctx.message);
        return HYBRID_OK;
    }
    HY_TRY(status);
    status = observe(plan, backend, p, runs, out);
    hybrid_plan_destroy(plan);
    return status;
}

hybrid_status hy_observe(hybrid_engine *engine, const hy_variant *variant,
                         hy_backend *backend, const hy_observed_product *p, int runs,
                         hy_observation *out)
{
    const int64_t rows = p->A->rows;

    *out = (hy_observation){.variant = variant, .regime = -1};
    HY_TRY(observe_in(engine, backend, p, rows, runs, observe_whole, out));
    if (out->regime < 0 || !backend->ops->copy || !variant->csr ||
        hy_type_index(p->A->type) > 0)
        return HYBRID_OK;
    return observe_in(engine, backend, p, (rows + PARTS - 1) / PARTS, runs, observe_parts,
                      out);
}

/* ---- fits -------------------------------------------------------------------------- */

static void add_sample(hy_series *series, hy_sample sample)
{
    if (series->count < HY_SAMPLES)
        series->of[series->count++] = sample;
}

static void add_mean(hy_mean *mean, double measured_s, double model_s)
{
    if (measured_s <= 0 || model_s <= 0)
        return;
    mean->logs += log(measured_s / model_s);
    mean->count++;
}

/* Returns the sample for the factors of a variant. The host's time is that of the whole
   call, since storing C belongs to no stage of the host, and is converted to the threads
   that the rates describe. */
static hy_sample sample_of(const hy_observation *seen)
{
    const double share = seen->threads_share;

    if (share > 0)
        return (hy_sample){seen->regime, share * seen->total_s,
                           share * seen->call_model_s, seen->model_s};
    return (hy_sample){seen->regime, seen->compute_s, 0, seen->model_s};
}

void hy_observed_add(hy_observed *all, const hy_observation *seen)
{
    const int sparse = seen->variant->op == HY_SPGEMM;
    int i            = 0;

    while (i < all->count && all->of[i].variant != seen->variant)
        i++;
    if (seen->regime < 0 || i == HY_FACTOR_ROWS)
        return;
    all->count         = i == all->count ? i + 1 : all->count;
    all->of[i].variant = seen->variant;
    add_sample(&all->of[i].compute, sample_of(seen));
    add_mean(&all->of[i].prepare, seen->prepare_s, seen->prepare_model_s);
    if (seen->call_model_s > 0)
        add_sample(sparse ? &all->spgemm_call : &all->spmm_call,
                   (hy_sample){0, seen->total_s, seen->rest_s, seen->call_model_s});
    if (seen->chunks > 1 && all->chunked_count < HY_CHUNKED)
        all->chunked[all->chunked_count++] = *seen;
}

/* Returns the geometric mean, limited to the bounds of the file; 0 without
   observations. */
static double mean_factor(const hy_mean *mean)
{
    if (mean->count == 0)
        return 0;
    return fmin(fmax(exp(mean->logs / (double)mean->count), 1e-3), 1e3);
}

static double call_factor(const hy_series *call)
{
    return hy_fit_factor(call->of, call->count, 0, 0);
}

/* Returns the seconds that a run in several chunks took for each chunk but the first, in
   addition to those of its kernels with `factors`. The kernels' error is that of the run
   in one chunk. */
static double gap_seen(const hy_observation *seen, const hy_factor_table *factors)
{
    const hy_variant *variant = seen->variant;
    double more_s             = seen->chunked_s - seen->compute_s +
                    hy_factor_seen(factors, variant, seen->regime) * seen->model_s;

    for (int k = 0; k < HY_REGIMES; k++)
        more_s -= hy_factor_seen(factors, variant, k) * seen->chunked_model_s[k];
    return more_s / (double)(seen->chunks - 1) - hy_start_seen(factors, variant);
}

/* Returns the median of gap_seen() over all observed runs in several chunks; 0 if it is
   below 0 or nothing was observed. */
static double gap_s(const hy_observed *all, hy_op op, const hy_factor_table *factors)
{
    double gaps[HY_CHUNKED];
    int count = 0;

    for (int64_t i = 0; i < all->chunked_count; i++)
        if (all->chunked[i].variant->op == op)
            gaps[count++] = gap_seen(&all->chunked[i], factors);
    return count > 0 ? fmax(0, hy_median(gaps, count)) : 0;
}

static void fit_variant(hy_factor_table *factors, const hy_series *compute,
                        const hy_mean *prepare, const hy_variant *variant)
{
    const double call =
        variant->op == HY_SPGEMM ? factors->spgemm_call : factors->spmm_call;
    hy_factor_row *row = hy_factors_of(factors, variant->name);
    hy_series all      = *compute;

    if (!row)
        return;
    for (int64_t i = 0; i < all.count; i++)
        all.of[i].base_s *= call; /* base_s now includes the factor of calls */
    row->prepare = mean_factor(prepare);
    row->start_s = hy_fit_start(all.of, all.count, HY_REGIMES);
    for (int k = 0; k < HY_REGIMES; k++)
        row->compute[k] = hy_fit_factor(all.of, all.count, k, row->start_s);
}

hy_factor_table hy_observed_factors(const hy_observed *all)
{
    hy_factor_table factors = {.spmm_call   = call_factor(&all->spmm_call),
                               .spgemm_call = call_factor(&all->spgemm_call)};

    for (int i = 0; i < all->count; i++)
        fit_variant(&factors, &all->of[i].compute, &all->of[i].prepare,
                    all->of[i].variant);
    factors.spmm_gap_s   = gap_s(all, HY_SPMM, &factors);
    factors.spgemm_gap_s = gap_s(all, HY_SPGEMM, &factors);
    return factors;
}
