/* engine/rates/calibrate.c - measures the speeds of this machine and the factors of its
   variants.

   Variants are timed on generated products that fit one chunk, those of a device with the
   device's own clock. The variants spmm.cuda.rows and spmm.cuda.merge, called rows and
   merge here, are the device's two SpMM variants for CSR. The rules that choose between
   them are compared with the faster of the two. */
#include "engine/rates/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/data/value_type.h"
#include "base/threads/clock.h"
#include "engine/api/struct_size.h"
#include "engine/rates/judge.h"

enum { TIMINGS_MOST = 256 };

typedef struct calibration {
    hybrid_engine *engine;
    const hy_calibrate_set *set;
    hybrid_calibrate_fn fn;
    void *user;
    int64_t begin_ns;
    const hy_variant *rows, *merge; /* the variants spmm.cuda.rows and spmm.cuda.merge;
                                       NULL if the device lacks one */
    int64_t timings;
    hy_rated rated[TIMINGS_MOST];
    hy_observed by_device, by_host; /* observations of the variants of the device and of
                                       the host */
    char path[HY_RATES_PATH];       /* path of the rates file */
    hy_rates_file file;             /* file.of[0] describes the device that computes */
    hy_block_speeds before;         /* value of hy_backend.blocks of the device before the
                                       calibration */
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
        return hy_fail(&c->engine->ctx, HYBRID_BAD_STATE,
                       "cannot read the date from the system's clock; set the clock");
    tell(c, d->device, NULL);
    if (backend->ops->measure)
        HY_TRY(backend->ops->measure(backend, &d->speeds));
    if (backend->blocks)
        d->blocks = *backend->blocks;
    backend->measured = d->speeds; /* so that later predictions use the new speeds */
    return HYBRID_OK;
}

/* ---- factors of variants ------------------------------------------------------- */

static const hy_variant *find_variant(const hybrid_engine *engine, const char *last)
{
    char name[64];

    snprintf(name, sizeof name, "spmm.%s.%s", engine->device->ops->name, last);
    for (const hy_variant *const *v = engine->variants; *v; v++)
        if (strcmp((*v)->name, name) == 0)
            return *v;
    return NULL;
}

/* Keeps the observations of rows and merge for the same product, and tells the caller's
   function both measured times and the times that the models predict without factors. */
static void note(calibration *c, hybrid_timing t, const hy_observation *rows,
                 const hy_observation *merge)
{
    if (rows->regime < 0 || merge->regime < 0 || c->timings == TIMINGS_MOST)
        return;
    t.rows_s               = rows->compute_s;
    t.merge_s              = merge->compute_s;
    t.rows_model_s         = rows->model_s;
    t.merge_model_s        = merge->model_s;
    c->rated[c->timings++] = (hy_rated){t.row_mean, *rows, *merge};
    tell(c, t.problem, &t);
}

/* Returns 1 if the seconds that the variant needs for the product depend on whether TF32
   is allowed. */
static int heeds_tf32(const hy_variant *variant, const hy_backend *backend,
                      const hybrid_csr *A, int64_t columns)
{
    hy_features f = {.rows     = A->rows,
                     .cols     = A->cols,
                     .nnz      = A->nnz,
                     .out_cols = columns,
                     .products = A->nnz * columns,
                     .row_mean = (double)A->nnz / (double)A->rows,
                     .type     = A->type};
    hy_rates rates;

    hy_rates_of(backend, &rates);
    if (!hy_value_type_of(A->type)->rounds_to_tf32 || variant->refuse(&f, &rates))
        return 0;
    const double exact_s = variant->cost(&f, &rates).multiply_s;
    f.allow_tf32         = 1;
    return variant->cost(&f, &rates).multiply_s != exact_s;
}

static hybrid_status observe(calibration *c, hy_backend *backend,
                             const hy_variant *variant, hy_observed_product p,
                             hy_observation *seen)
{
    hy_observed *all = backend == c->engine->host ? &c->by_host : &c->by_device;
    hy_observation rounded;

    HY_TRY(hy_observe(c->engine, variant, backend, &p, c->set->runs, seen));
    hy_observed_add(all, seen);
    if (p.B || !heeds_tf32(variant, backend, p.A, p.X->cols))
        return HYBRID_OK;
    p.flags = HYBRID_ALLOW_TF32;
    HY_TRY(hy_observe(c->engine, variant, backend, &p, c->set->runs, &rounded));
    hy_observed_add(all, &rounded);
    return HYBRID_OK;
}

/* Observes all variants of this backend that can compute the product. */
static hybrid_status observe_all(calibration *c, hy_backend *backend, const char *problem,
                                 const hy_observed_product *p)
{
    const hybrid_engine *engine = c->engine;
    const hy_op op              = p->B ? HY_SPGEMM : HY_SPMM;
    const double mean           = (double)p->A->nnz / (double)p->A->rows;
    hy_observation seen, rows = {.regime = -1}, merge = {.regime = -1};

    for (const hy_variant *const *v = engine->variants; *v; v++) {
        if ((*v)->op != op || !hy_runs_on(*v, backend))
            continue;
        HY_TRY(observe(c, backend, *v, *p, &seen));
        rows  = *v == c->rows ? seen : rows;
        merge = *v == c->merge ? seen : merge;
    }
    if (op == HY_SPMM && hy_type_index(p->A->type) == 0)
        note(c,
             (hybrid_timing){.problem = problem, .columns = p->X->cols, .row_mean = mean},
             &rows, &merge);
    return HYBRID_OK;
}

static hybrid_status observe_dense(calibration *c, hy_backend *backend,
                                   const char *problem, const hybrid_csr *A,
                                   int64_t columns)
{
    hybrid_engine *engine = c->engine;
    hybrid_dense X = {0}, Y = {0};
    hybrid_status status;

    HY_TRY_ELSE_DONE(
        hybrid_dense_create(engine, A->cols, columns, HYBRID_ROW_MAJOR, A->type, &X));
    HY_TRY_ELSE_DONE(
        hybrid_dense_create(engine, A->rows, columns, HYBRID_ROW_MAJOR, A->type, &Y));
    HY_TRY_ELSE_DONE(hybrid_dense_random(engine, 1, &X));
    const hy_observed_product p = {.A = A, .X = &X, .Y = &Y};
    status                      = observe_all(c, backend, problem, &p);
done:
    hybrid_dense_free(engine, &X);
    hybrid_dense_free(engine, &Y);
    return status;
}

/* Observes the variants on A*A (SpGEMM), or on A*X for each number of columns, where A is
   the matrix that `problem` describes. */
static hybrid_status observe_problem(calibration *c, hy_backend *backend, hy_op op,
                                     const char *problem, hybrid_type type)
{
    hybrid_status status = HYBRID_OK;
    hybrid_csr A;

    tell(c, problem, NULL);
    HY_TRY(hybrid_generate(c->engine, problem, type, 1, &A));
    if (op == HY_SPGEMM)
        status =
            observe_all(c, backend, problem, &(hy_observed_product){.A = &A, .B = &A});
    else
        for (const int64_t *n = c->set->columns; *n && status == HYBRID_OK; n++)
            status = observe_dense(c, backend, problem, &A, *n);
    hybrid_csr_free(c->engine, &A);
    return status;
}

/* Observes problem number i of a list, with values of each type. Sets *more to 0 if the
   list has no such problem, or if the time `until_s` is over. */
static hybrid_status observe_next(calibration *c, hy_backend *backend, hy_op op,
                                  const char *const *problems, int i, double until_s,
                                  int *more)
{
    const double spent = (double)(hy_now_ns() - c->begin_ns) * 1e-9;

    if (*more && (!problems[i] || spent >= until_s))
        *more = 0;
    if (!*more)
        return HYBRID_OK;
#define OBSERVE(type, ...) HY_TRY(observe_problem(c, backend, op, problems[i], type));
    HY_VALUE_TYPES(OBSERVE)
    return HYBRID_OK;
}

/* Observes the variants of a backend on the SpMM problems and the SpGEMM problems of the
   list, in turn. */
static hybrid_status observe_backend(calibration *c, hy_backend *backend,
                                     const hy_calibrate_list *list)
{
    const double begin   = (double)(hy_now_ns() - c->begin_ns) * 1e-9;
    const double until_s = fmin(begin + list->limit_s, c->set->end_s);
    int spmm = 1, spgemm = 1;

    for (int i = 0; spmm || spgemm; i++) {
        HY_TRY(observe_next(c, backend, HY_SPMM, list->spmm, i, until_s, &spmm));
        HY_TRY(observe_next(c, backend, HY_SPGEMM, list->spgemm, i, until_s, &spgemm));
    }
    return HYBRID_OK;
}

/* ---- all steps ------------------------------------------------------------------- */

/* Observes the variants of a backend, whose speeds are device `at` of the file, and
   stores their factors. */
static hybrid_status fit(calibration *c, hy_backend *backend, int at,
                         const hy_calibrate_list *list, const hy_observed *seen)
{
    HY_TRY(observe_backend(c, backend, list));
    c->file.of[at].speeds.factors = hy_observed_factors(seen);
    return HYBRID_OK;
}

static hybrid_status calibrate(calibration *c, const char *path)
{
    hybrid_engine *engine = c->engine;
    /* index of the host's speeds in the file */
    const int host = engine->device != NULL;

    /* Checks the path before measuring takes time. */
    HY_TRY(hy_rates_target(path, hy_engine_backend(engine), c->path));
    if (engine->device) {
        HY_TRY(measure(c, engine->device));
        c->rows  = find_variant(engine, "rows");
        c->merge = find_variant(engine, "merge");
    }
    HY_TRY(measure(c, engine->host));
    if (engine->device)
        HY_TRY(fit(c, engine->device, 0, &c->set->device, &c->by_device));
    HY_TRY(fit(c, engine->host, host, &c->set->host, &c->by_host));
    HY_TRY(hy_judge(&engine->ctx, c->rated, c->timings, &c->file.of[0]));
    HY_TRY(hy_rates_keep(&engine->ctx, c->path, &c->file));
    HY_TRY(hy_rates_write(&engine->ctx, c->path, &c->file));
    memcpy(engine->rates.path, c->path, sizeof c->path);
    engine->rates.ignored = 0;
    /* sets the speeds again, now with the fitted factors */
    engine->host->measured = c->file.of[host].speeds;
    if (engine->device)
        engine->device->measured = c->file.of[0].speeds;
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
    out->path = engine->rates.path;
    out->host = speeds_of(engine->host);
    if (engine->device)
        out->device = speeds_of(engine->device);
    out->products     = c->timings;
    out->paper        = d->paper;
    out->threshold    = d->threshold;
    out->fitted       = d->fitted;
    out->model        = d->model;
    out->merge_factor = hy_merge_factor(c->rated, c->timings, &d->speeds.factors);
    out->scaled       = d->scaled;
}

static void share_with(const hy_backend *first, hy_backend *other)
{
    other->measured = first->measured;
    if (first->blocks && other->blocks)
        *other->blocks = *first->blocks;
}

/* Gives devices of the same model the speeds of the first one. */
static void share_speeds(hybrid_engine *engine)
{
    const hy_backend *first = engine->device;

    for (int i = 1; i < engine->device_count; i++) {
        hy_backend *other = engine->devices[i];
        if (strcmp(other->ops->describe(other), first->ops->describe(first)) == 0)
            share_with(first, other);
    }
}

static void restore_device(const calibration *c, const hy_measured *measured)
{
    hy_backend *device = c->engine->device;

    device->measured = *measured;
    if (device->blocks)
        *device->blocks = c->before;
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
    c->engine   = engine;
    c->set      = set;
    c->fn       = fn;
    c->user     = user;
    c->begin_ns = hy_now_ns();
    if (engine->device && engine->device->blocks)
        c->before = *engine->device->blocks;
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
            restore_device(c, &device);
    }
    hy_array_free(ctx, c);
    hybrid_engine_trim(engine); /* frees what the measurement has pooled */
    return status;
}
