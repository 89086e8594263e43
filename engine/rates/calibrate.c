/* engine/rates/calibrate.c - measures the speeds of this machine, and compares the
   variants spmm.cuda.rows and spmm.cuda.merge, called rows and merge here.

   Rows and merge are the device's two SpMM variants for CSR. They are timed on generated
   products that fit one chunk, with the device's own clock. The rules that choose between
   them are compared with the faster of the two. */
#include "engine/rates/calibrate.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/threads/clock.h"
#include "base/data/csr.h"
#include "base/data/median.h"
#include "engine/plan/plan.h"
#include "engine/rates/rates.h"
#include "engine/api/struct_size.h"
#include "engine/rates/threshold.h"

/* Entries per row: the threshold that Yang, Buluc and Owens fitted on a K40c. */
#define PAPER_THRESHOLD 9.35
/* Least seconds of a timing; shorter ones count as this. */
#define CLOCK_S 1e-9

enum { RUNS_MOST = 16, TIMINGS_MOST = 256 };

typedef struct calibration {
    hybrid_engine *engine;
    const hy_calibrate_set *set;
    hybrid_calibrate_fn fn;
    void *user;
    int64_t begin_ns;
    const hy_variant *rows, *merge; /* the two variants; NULL if the device lacks one */
    int64_t timings;
    hy_trial by_mean[TIMINGS_MOST];  /* x: entries per row */
    hy_trial built_in[TIMINGS_MOST]; /* x: predicted seconds of merge / of rows, built-in
                                        speeds */
    hy_trial here[TIMINGS_MOST];     /* x: predicted seconds of merge / of rows, measured
                                        speeds */
    char path[HY_RATES_PATH];        /* path of the rates file */
    hy_rates_file file;              /* file.of[0] describes the device that computes */
} calibration;

static void tell(const calibration *c, const char *step, const hybrid_timing *timing)
{
    if (c->fn)
        c->fn(c->user, step, timing);
}

/* ---- speeds ------------------------------------------------------------------------ */

static hybrid_status measure(calibration *c, hy_backend *backend)
{
    hy_rates_of_device *d = &c->file.of[c->file.count++];
    const time_t now      = time(NULL);
    struct tm day;

    memset(d, 0, sizeof *d);
    snprintf(d->device, sizeof d->device, "%s", backend->ops->describe(backend));
    if (!gmtime_r(&now, &day) ||
        strftime(d->speeds.date, sizeof d->speeds.date, "%Y-%m-%d", &day) == 0)
        return hy_fail(&c->engine->ctx, HYBRID_BAD_STATE, "the system has no date");
    tell(c, d->device, NULL);
    if (backend->ops->measure)
        HY_TRY(backend->ops->measure(backend, &d->speeds));
    backend->measured = d->speeds; /* so that later predictions use the new speeds */
    return HYBRID_OK;
}

/* ---- rows against merge ---------------------------------------------------------- */

static const hy_variant *find_variant(const hybrid_engine *engine, const char *last)
{
    char name[64];

    snprintf(name, sizeof name, "spmm.%s.%s", engine->device->ops->name, last);
    for (const hy_variant *const *v = engine->variants; *v; v++)
        if (strcmp((*v)->name, name) == 0)
            return *v;
    return NULL;
}

static double positive(double seconds)
{
    return seconds > CLOCK_S ? seconds : CLOCK_S;
}

/* Seconds of one variant for one product. */
typedef struct variant_times {
    double measured;
    double built_in, here; /* predicted seconds with built-in and with measured speeds */
} variant_times;

static void predict(const hybrid_plan *plan, const hy_variant *variant,
                    variant_times *out)
{
    const hy_features *f      = &plan->product.profile.features;
    const hy_backend *backend = plan->portions->backend;
    hy_rates built_in;

    backend->ops->rates(backend, &built_in);
    out->built_in = positive(variant->cost(f, &built_in).multiply_s);
    out->here     = positive(variant->cost(f, &plan->portions->rates).multiply_s);
}

/* Times a product in one chunk with this variant. The first run is not counted. */
static hybrid_status time_variant(const calibration *c, const hy_variant *variant,
                                  const hybrid_csr *A, const hybrid_dense *X,
                                  hybrid_dense *Y, variant_times *out)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    const int runs              = c->set->runs < RUNS_MOST ? c->set->runs : RUNS_MOST;
    hybrid_status status        = HYBRID_OK;
    double each[RUNS_MOST];
    hybrid_plan *plan;

    options.variant    = variant->name;
    options.chunk_rows = A->rows;
    options.depth      = 1;
    HY_TRY(hybrid_spmm_plan(c->engine, A, X->cols, &options, &plan));
    for (int i = -1; i < runs && status == HYBRID_OK; i++) {
        status = hybrid_spmm_run(plan, 1, A, X, 0, Y);
        if (i >= 0)
            each[i] = plan->history.report.multiply_s;
    }
    if (status == HYBRID_OK) {
        out->measured = positive(hy_median(each, runs));
        predict(plan, variant, out);
    }
    hybrid_plan_destroy(plan);
    return status;
}

static void note(calibration *c, hybrid_timing t, const variant_times *rows,
                 const variant_times *merge)
{
    const int64_t i = c->timings++;

    t.rows_s        = rows->measured;
    t.merge_s       = merge->measured;
    t.rows_model_s  = rows->here;
    t.merge_model_s = merge->here;
    c->by_mean[i]   = (hy_trial){t.row_mean, t.rows_s, t.merge_s};
    c->built_in[i]  = (hy_trial){merge->built_in / rows->built_in, t.rows_s, t.merge_s};
    c->here[i]      = (hy_trial){merge->here / rows->here, t.rows_s, t.merge_s};
    tell(c, t.problem, &t);
}

static hybrid_status time_product(calibration *c, const char *problem,
                                  const hybrid_csr *A, int64_t columns)
{
    hybrid_engine *engine = c->engine;
    const double mean     = (double)A->nnz / (double)A->rows;
    const hybrid_timing t = {.problem = problem, .columns = columns, .row_mean = mean};
    hybrid_dense X = {0}, Y = {0};
    variant_times rows, merge;
    hybrid_status status;

    HY_TRY_ELSE_DONE(
        hybrid_dense_create(engine, A->cols, columns, HYBRID_ROW_MAJOR, A->type, &X));
    HY_TRY_ELSE_DONE(
        hybrid_dense_create(engine, A->rows, columns, HYBRID_ROW_MAJOR, A->type, &Y));
    HY_TRY_ELSE_DONE(hybrid_dense_random(engine, 1, &X));
    HY_TRY_ELSE_DONE(time_variant(c, c->rows, A, &X, &Y, &rows));
    HY_TRY_ELSE_DONE(time_variant(c, c->merge, A, &X, &Y, &merge));
    note(c, t, &rows, &merge);
done:
    hybrid_dense_free(engine, &X);
    hybrid_dense_free(engine, &Y);
    return status;
}

static hybrid_status time_problem(calibration *c, const char *problem)
{
    hybrid_status status = HYBRID_OK;
    hybrid_csr A;

    tell(c, problem, NULL);
    HY_TRY(hybrid_generate(c->engine, problem, HYBRID_F32, 1, &A));
    for (const int64_t *n = c->set->columns; *n && status == HYBRID_OK; n++)
        if (c->timings < TIMINGS_MOST)
            status = time_product(c, problem, &A, *n);
    hybrid_csr_free(c->engine, &A);
    return status;
}

static hybrid_status compare(calibration *c)
{
    for (const char *const *p = c->set->problems; *p; p++) {
        const double spent = (double)(hy_now_ns() - c->begin_ns) * 1e-9;
        if (spent < c->set->limit_s)
            HY_TRY(time_problem(c, *p));
    }
    return HYBRID_OK;
}

/* Fits the threshold and merge_factor to the timings, rates all rules on them, and stores
   the results for the first device of the file. Does nothing without timings. */
static void judge(calibration *c)
{
    hy_rates_of_device *d = &c->file.of[0];
    const int64_t n       = c->timings;

    if (n == 0)
        return;
    const double cut = hy_fit_threshold(c->here, n, 1);
    d->products      = (double)n;
    d->threshold     = hy_fit_threshold(c->by_mean, n, PAPER_THRESHOLD);
    d->paper         = hy_rule_at(c->by_mean, n, PAPER_THRESHOLD);
    d->fitted        = hy_rule_at(c->by_mean, n, d->threshold);
    d->model         = hy_rule_at(c->built_in, n, 1);
    d->scaled        = hy_rule_at(c->here, n, cut);
    /* the rule: take merge if merge_factor * ratio < 1 */
    d->speeds.merge_factor = 1 / cut;
}

/* ---- all steps ------------------------------------------------------------------- */

static hybrid_status calibrate(calibration *c, const char *path)
{
    hybrid_engine *engine = c->engine;

    /* Checks the path before measuring takes time. */
    HY_TRY(hy_rates_target(path, hy_engine_backend(engine), c->path));
    if (engine->device) {
        HY_TRY(measure(c, engine->device));
        c->rows  = find_variant(engine, "rows");
        c->merge = find_variant(engine, "merge");
    }
    HY_TRY(measure(c, engine->host));
    if (c->rows && c->merge)
        HY_TRY(compare(c));
    judge(c);
    HY_TRY(hy_rates_write(&engine->ctx, c->path, &c->file));
    memcpy(engine->rates_path, c->path, sizeof c->path);
    /* this backend's speeds now include merge_factor */
    hy_engine_backend(engine)->measured = c->file.of[0].speeds;
    return HYBRID_OK;
}

static hybrid_speeds speeds_of(const hy_backend *backend)
{
    const hy_measured *m = &backend->measured;

    return (hybrid_speeds){backend->ops->describe(backend),
                           m->h2d_Bps,
                           m->d2h_Bps,
                           m->both_Bps,
                           m->mem_Bps,
                           m->flops,
                           m->launch_s};
}

static void report(const calibration *c, hybrid_calibration *out)
{
    const hybrid_engine *engine = c->engine;
    const hy_rates_of_device *d = &c->file.of[0];

    *out      = (hybrid_calibration)HYBRID_CALIBRATION_INIT;
    out->path = engine->rates_path;
    out->host = speeds_of(engine->host);
    if (engine->device)
        out->device = speeds_of(engine->device);
    out->products     = c->timings;
    out->paper        = d->paper;
    out->threshold    = d->threshold;
    out->fitted       = d->fitted;
    out->model        = d->model;
    out->merge_factor = d->speeds.merge_factor;
    out->scaled       = d->scaled;
}

/* Gives devices of the same model the speeds of the first one. */
static void share_speeds(hybrid_engine *engine)
{
    const hy_backend *first = engine->device;

    for (int i = 1; i < engine->device_count; i++) {
        hy_backend *other = engine->devices[i];
        if (strcmp(other->ops->describe(other), first->ops->describe(first)) == 0)
            other->measured = first->measured;
    }
}

hybrid_status hy_calibrate(hybrid_engine *engine, const char *path,
                           const hy_calibrate_set *set, hybrid_calibrate_fn fn,
                           void *user, hybrid_calibration *out)
{
    hy_context *ctx              = &engine->ctx;
    const hy_measured none       = {0};
    const hy_measured host       = engine->host->measured;
    const hy_measured device     = engine->device ? engine->device->measured : none;
    const hybrid_trace_fn traces = engine->trace;
    const int devices            = engine->device_count;
    void *made;

    HY_TRY(hy_array(ctx, 1, sizeof(calibration), "a calibration", &made));
    calibration *c = made;
    memset(c, 0, sizeof *c);
    c->engine                  = engine;
    c->set                     = set;
    c->fn                      = fn;
    c->user                    = user;
    c->begin_ns                = hy_now_ns();
    engine->trace              = NULL;
    engine->device_count       = devices > 0; /* plans are for the first device only */
    const hybrid_status status = calibrate(c, path);
    engine->device_count       = devices;
    engine->trace              = traces;
    if (status == HYBRID_OK)
        share_speeds(engine);
    if (status == HYBRID_OK && out)
        report(c, out);
    if (status != HYBRID_OK) {
        engine->host->measured = host;
        if (engine->device)
            engine->device->measured = device;
    }
    hy_array_free(ctx, c);
    hybrid_engine_trim(engine); /* frees what the measurement has pooled */
    return status;
}

/* Matrices with row lengths from 2 to 64, even and uneven. The order is mixed, so that
   the products timed before the time limit cover all kinds. With 128 columns each takes a
   GPU about 0.1 ms or more. */
static const char *const problems[] = {"er:262144,8",
                                       "stencil7:60",
                                       "powerlaw:250000,6,50000",
                                       "stencil27:50",
                                       "er:262144,2",
                                       "rmat:17,8",
                                       "er:262144,12",
                                       "road:500",
                                       "fem3:28",
                                       "powerlaw:131072,16,50000",
                                       "er:262144,4",
                                       "band:131072,8",
                                       "er:131072,24",
                                       "er:262144,6",
                                       "rmat:16,16",
                                       "er:262144,10",
                                       "band:250000,2",
                                       "er:65536,64",
                                       "er:262144,16",
                                       "er:131072,32",
                                       NULL};

hybrid_status hybrid_engine_calibrate(hybrid_engine *engine, const char *path,
                                      hybrid_calibrate_fn fn, void *user,
                                      hybrid_calibration *out)
{
    static const int64_t columns[]    = {1, 32, 128, 0};
    static const hy_calibrate_set set = {problems, columns, 5, 20};
    hybrid_calibration found;

    HY_TRY(hy_engine_begin(engine));
    if (out)
        HY_TRY(hy_struct_check(&engine->ctx, &hy_calibration_struct, out->struct_size));
    if (path && !path[0])
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT,
                       "calibrate: a file needs a name");
    HY_TRY(hy_calibrate(engine, path, &set, fn, user, &found));
    if (out)
        hy_struct_write(&hy_calibration_struct, &found, out);
    return HYBRID_OK;
}
