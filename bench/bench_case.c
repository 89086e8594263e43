/* bench/bench_case.c - time our variants, and make figures of their calls. */
#include "bench/bench_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/peers.h"

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const bench_product *bench_product_of(bench_op op)
{
    static const bench_product *const products[] = {&bench_spgemm, &bench_spmm,
                                                    &bench_spmv};
    return products[op];
}

/* ---- figures ------------------------------------------------------------------------
 */

static double device_s(const bench_call *c)
{
    return c->report.multiply_s + c->report.finish_s;
}

static int by_seconds(const void *a, const void *b)
{
    const double x = ((const bench_call *)a)->seconds,
                 y = ((const bench_call *)b)->seconds;
    return (x > y) - (x < y);
}

static int by_device_s(const void *a, const void *b)
{
    const double x = device_s(a), y = device_s(b);
    return (x > y) - (x < y);
}

/* Median, least and most of the timed calls, and the report of the median one. */
static void summarize(bench_calls *all, int reps, int core, bench_line *line)
{
    const bench_call *timed = all->timed;
    const bench_call *mid   = &timed[(reps - 1) / 2];

    qsort(all->timed, (size_t)reps, sizeof *all->timed, core ? by_device_s : by_seconds);
    line->report = mid->report;
    line->times  = core ? (bench_times){device_s(&all->cold), device_s(mid),
                                        device_s(timed), device_s(&timed[reps - 1])}
                        : (bench_times){all->cold.seconds, mid->seconds, timed->seconds,
                                        timed[reps - 1].seconds};
}

static void keep_best(double *best, const bench_line *line)
{
    if (line->verified != 0 && (*best == 0 || line->times.seconds < *best))
        *best = line->times.seconds;
}

/* "spgemm.host.hash" -> "host" */
static void backend_of(const char *variant, char *backend, size_t size)
{
    const char *dot = strchr(variant, '.');

    snprintf(backend, size, "%s", dot ? dot + 1 : "");
    backend[strcspn(backend, ".")] = '\0';
}

/* One line for one mode. */
static void report_calls(bench_case *c, bench_calls *all, int core, bench_line *line)
{
    bench *b                     = c->bench;
    const bench_options *options = &b->options;

    line->first = all->first;
    snprintf(line->variant, sizeof line->variant, "%s", all->variant);
    backend_of(all->variant, line->backend, sizeof line->backend);
    const int host = strcmp(line->backend, "host") == 0;
    if (host)
        snprintf(line->device, sizeof line->device, "%s", b->cpu);
    if (host && core)
        return;
    line->mode  = core ? "core" : "end";
    line->alloc = core || line->resident ? "plan" : "call";
    summarize(all, options->reps, core, line);
    line->pack_s   = core && line->resident ? all->cold.report.prepare_s : NAN;
    b->reference_s = line->report.reference_s;
    b->nnz_out     = line->report.nnz_out;
    b->flops       = line->report.flops;
    keep_best(core ? &b->best_core : &b->best_end, line);
    bench_print(b, line);
}

/* ---- variants
 * -------------------------------------------------------------------------- */

static hybrid_status open_engine(const bench *b, hybrid_engine **engine, char *error)
{
    hybrid_engine_options o = HYBRID_ENGINE_OPTIONS_INIT;

    o.backend      = b->options.backend;
    o.threads      = b->options.threads;
    o.device_bytes = b->options.device_memory;
    o.message      = error;
    o.message_size = BENCH_TEXT;
    return hybrid_engine_create(&o, engine);
}

/* 1, 0 or -1 as in bench_line. */
static int verify(bench_case *c, const bench_product *product, char *error)
{
    int64_t row = -1;

    if (!c->bench->options.verify)
        return -1;
    if (product->verify(c, &row) != HYBRID_OK)
        snprintf(error, BENCH_TEXT, "%s", hybrid_engine_message(c->bench->tools));
    else if (row >= 0)
        snprintf(error, BENCH_TEXT, "row %lld of the result is wrong", (long long)row);
    else
        return 1;
    return 0;
}

/* In core the device is alone, whose stages are timed; an engine without one, and the
   host's variants, know of no other split than the default. */
static hybrid_split core_split(const bench_case *c, const char *variant)
{
    const int device = hybrid_engine_backend(c->engine) == HYBRID_CUDA;

    return device && (!variant || !strstr(variant, ".host")) ? HYBRID_SPLIT_GPU
                                                             : HYBRID_SPLIT_DEFAULT;
}

/* In core: one chunk, or as few as fit, of an A that has been packed, as cuSPARSE's has
   been looked at. End to end: the planner's. */
static hybrid_status time_mode(bench_case *c, const bench_product *product,
                               const char *variant, int core, bench_calls *all,
                               bench_line *line)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;

    o.flags      = c->bench->options.tf32 ? HYBRID_ALLOW_TF32 : 0;
    o.variant    = variant;
    o.chunk_rows = c->bench->options.chunk_rows;
    o.order      = c->bench->options.order;
    line->resident =
        c->bench->options.op != BENCH_SPGEMM && (core || c->bench->options.resident);
    if (line->resident)
        o.flags |= HYBRID_RESIDENT;
    o.split      = c->bench->options.split;
    o.host_share = c->bench->options.host_share;
    if (core) {
        o.split      = core_split(c, variant);
        o.depth      = 1;
        o.chunk_rows = o.chunk_rows > 0 ? o.chunk_rows : INT64_MAX;
    }
    if (core && line->resident && !(c->hold = peer_hold_open())) {
        snprintf(line->error, sizeof line->error, "no memory to hold copies with");
        return HYBRID_NO_DEVICE_MEMORY;
    }
    const hybrid_status status = bench_call_all(c, product, &o, all);
    peer_hold_close(c->hold);
    c->hold = NULL;
    if (status == HYBRID_OK) {
        line->verified = verify(c, product, line->error);
        report_calls(c, all, core, line);
    } else {
        snprintf(line->variant, sizeof line->variant, "%s", all->variant);
        snprintf(line->error, sizeof line->error, "%s", hybrid_engine_message(c->engine));
        bench_print(c->bench, line);
    }
    return status;
}

/* 0 if it was measured and is right; `may_refuse`: a refusal is no failure. */
static int time_opened(bench_case *c, const bench_product *product, const char *variant,
                       int may_refuse, bench_line *line)
{
    const bench_options *options = &c->bench->options;
    bench_calls all      = {.timed = calloc((size_t)options->reps, sizeof(bench_call))};
    hybrid_status status = HYBRID_OK;

    snprintf(all.variant, sizeof all.variant, "%s", variant ? variant : product->family);
    snprintf(line->device, sizeof line->device, "%s", hybrid_engine_device(c->engine));
    if (!all.timed || product->open(c)) {
        snprintf(line->error, sizeof line->error, "no memory for the operands");
        free(all.timed);
        return -1;
    }
    if (options->pinned && bench_pin(c) != HYBRID_OK) {
        snprintf(line->error, sizeof line->error, "%s", hybrid_engine_message(c->engine));
        bench_print(c->bench, line);
        free(all.timed);
        return -1;
    }
    if (options->core && !options->device_memory &&
        hybrid_engine_backend(c->engine) == HYBRID_CUDA)
        status = time_mode(c, product, variant, 1, &all, line);
    if (options->end && status == HYBRID_OK && line->verified != 0)
        status = time_mode(c, product, variant, 0, &all, line);
    free(all.timed);
    if (status == HYBRID_UNSUPPORTED && may_refuse)
        return 0;
    return status == HYBRID_OK && line->verified != 0 ? 0 : -1;
}

/* An engine of its own, so that cold_s is the first call of a fresh engine. */
static void time_variant(bench *b, const char *variant, int may_refuse)
{
    const bench_product *product = bench_product_of(b->options.op);
    bench_case c                 = {.bench = b};
    bench_line line;

    bench_line_open(b, &line);
    if (open_engine(b, &c.engine, line.error) != HYBRID_OK) {
        bench_print(b, &line);
        b->failed = 1;
        return;
    }
    line.pinned = b->options.pinned;
    if (time_opened(&c, product, variant, may_refuse, &line))
        b->failed = 1;
    if (line.pinned)
        bench_unpin(&c);
    product->close(&c);
    hybrid_engine_destroy(c.engine);
}

/* Whether the backend asked for can run the variant. */
static int runs_on(const char *variant, hybrid_backend backend)
{
    char name[16];

    backend_of(variant, name, sizeof name);
    return backend == HYBRID_AUTO ||
           strcmp(name, backend == HYBRID_HOST ? "host" : "cuda") == 0;
}

void bench_ours(bench *b)
{
    const char *family  = bench_product_of(b->options.op)->family;
    const char *variant = b->options.variant;
    const size_t length = strlen(family);
    hybrid_variant_info v;

    b->best_core = b->best_end = b->reference_s = 0;
    b->nnz_out = b->flops = 0;
    if (!variant || strcmp(variant, "all") != 0) {
        time_variant(b, variant, 0);
        return;
    }
    for (int i = 0; hybrid_variant_at(i, &v) == HYBRID_OK; i++)
        if (strncmp(v.name, family, length) == 0 && runs_on(v.name, b->options.backend))
            time_variant(b, v.name, 1);
}
