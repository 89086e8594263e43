/* bench/program/bench_case.c - times the library's variants, one per line. */
#include "bench/program/bench_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/program/peers.h"

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

/* ---- names and best times -------------------------------------------------------- */

static void keep_best(double *best, double seconds)
{
    if (seconds > 0 && (*best == 0 || seconds < *best))
        *best = seconds;
}

/* Writes the second part of a variant's name: "host" for "spgemm.host.hash". */
static void backend_of(const char *variant, char *backend, size_t size)
{
    const char *dot = strchr(variant, '.');

    snprintf(backend, size, "%s", dot ? dot + 1 : "");
    backend[strcspn(backend, ".")] = '\0';
}

/* ---- variants ---------------------------------------------------------------------- */

static hybrid_status open_engine(const bench *b, hybrid_engine **engine, char *error)
{
    hybrid_engine_options o = HYBRID_ENGINE_OPTIONS_INIT;

    o.backend      = b->options.backend;
    o.threads      = b->options.threads;
    o.devices      = b->options.device_count > 0 ? b->options.devices : NULL;
    o.device_count = b->options.device_count;
    o.device_bytes = b->options.device_memory;
    o.host_bytes   = b->options.host_memory;
    o.message      = error;
    o.message_size = BENCH_TEXT;
    return hybrid_engine_create(&o, engine);
}

/* Verifies the result and returns 1 if it is right; otherwise 0, with the reason in
   `error`. Returns -1 if --no-verify was given or the result is not stored. */
static int verify(bench_case *c, const bench_product *product, char *error)
{
    int64_t row = -1;

    if (!c->bench->options.verify || c->bench->options.each)
        return -1;
    if (product->verify(c, &row) != HYBRID_OK)
        snprintf(error, BENCH_TEXT, "%s", hybrid_engine_message(c->bench->tools));
    else if (row >= 0)
        snprintf(error, BENCH_TEXT, "row %lld of the result is wrong", (long long)row);
    else
        return 1;
    return 0;
}

/* Fills the line: variant, times, report of the median call, and verification. Keeps the
   report's reference time, entries and flops in the bench, for the lines of peers. */
static void conclude(bench_case *c, const bench_product *product, const bench_calls *all,
                     bench_figure of, bench_line *line)
{
    bench *b       = c->bench;
    const int reps = b->options.reps;

    line->verified    = verify(c, product, line->error);
    line->times.calls = bench_span_of_calls(all->timed, reps, of);
    snprintf(line->variant, sizeof line->variant, "%s", all->variant);
    line->details = b->options.explain ? all->details : NULL;
    backend_of(all->variant, line->backend, sizeof line->backend);
    if (strcmp(line->backend, "host") == 0)
        snprintf(line->device, sizeof line->device, "%s", b->cpu);
    line->report   = bench_median_call(all, reps, of)->report;
    b->reference_s = line->report.reference_s;
    b->nnz_out     = line->report.nnz_out;
    b->flops       = line->report.flops;
}

static hybrid_status finish(bench *b, double *best, const bench_line *line)
{
    if (line->verified)
        keep_best(best, line->times.calls.median);
    bench_print(b, line);
    return HYBRID_OK;
}

/* ---- ways to time ---------------------------------------------------------------- */

/* Returns the split for timing kernels: the device alone. Without a device, or for the
   host's variants, only the default is valid. */
static hybrid_split core_split(const bench_case *c, const char *variant)
{
    const int device = hybrid_engine_backend(c->engine) == HYBRID_CUDA;

    return device && (!variant || !strstr(variant, ".host")) ? HYBRID_SPLIT_GPU
                                                             : HYBRID_SPLIT_DEFAULT;
}

static hybrid_plan_options plan_options(const bench_case *c, const char *variant)
{
    const bench_options *options = &c->bench->options;
    hybrid_plan_options o        = HYBRID_PLAN_OPTIONS_INIT;

    o.flags =
        (options->tf32 ? HYBRID_ALLOW_TF32 : 0) | (options->explain ? HYBRID_EXPLAIN : 0);
    o.variant    = variant;
    o.depth      = options->slots;
    o.chunk_rows = options->chunk_rows;
    o.order      = options->order;
    o.split      = options->split;
    o.host_share = options->host_share;
    return o;
}

/* Returns options for timing kernels: one chunk in flight, and a single chunk, or as few
   as fit the device, unless --chunk-rows sets their rows. */
static hybrid_plan_options core_options(const bench_case *c, const char *variant)
{
    hybrid_plan_options o = plan_options(c, variant);

    o.split      = core_split(c, variant);
    o.depth      = 1;
    o.chunk_rows = o.chunk_rows > 0 ? o.chunk_rows : INT64_MAX;
    return o;
}

static hybrid_status failed(const bench_case *c, const bench_calls *all,
                            hybrid_status status, bench_line *line)
{
    snprintf(line->variant, sizeof line->variant, "%s", all->variant);
    if (!*line->error)
        snprintf(line->error, sizeof line->error, "%s", hybrid_engine_message(c->engine));
    bench_print(c->bench, line);
    return status;
}

/* Times calls from host arrays to host arrays. The planner chooses what the command line
   leaves open. */
static hybrid_status time_end(bench_case *c, const bench_product *product,
                              const char *variant, bench_calls *all, bench_line *line)
{
    bench *b              = c->bench;
    hybrid_plan_options o = plan_options(c, variant);

    line->mode     = "end";
    line->resident = b->options.resident;
    o.flags |= line->resident ? HYBRID_RESIDENT : 0;
    const hybrid_status status = bench_call_all(c, product, &o, all);
    if (status != HYBRID_OK)
        return failed(c, all, status, line);
    line->first       = all->first_in_process;
    line->times.first = all->first.seconds;
    line->times.kept  = bench_span_of_calls(all->kept, b->options.keep, bench_wall_s);
    line->plan_s      = bench_median_call(all, b->options.reps, bench_wall_s)->plan_s;
    conclude(c, product, all, bench_wall_s, line);
    return finish(b, &b->best.end, line);
}

/* Times the kernels alone, with A already packed if there is something to pack, since
   cuSPARSE is also timed after its preprocessing. On entry `all` has the calls for a new
   matrix. */
static hybrid_status call_packed(bench_case *c, const bench_product *product,
                                 hybrid_plan_options o, bench_calls *all,
                                 bench_line *line)
{
    line->resident = c->bench->options.op != BENCH_SPGEMM;
    if (!line->resident)
        return HYBRID_OK;
    if (!(c->hold = peer_hold_open())) {
        snprintf(line->error, sizeof line->error, "no memory to hold copies with");
        return HYBRID_NO_DEVICE_MEMORY;
    }
    o.flags |= HYBRID_RESIDENT;
    const hybrid_status status = bench_call_all(c, product, &o, all);
    peer_hold_close(c->hold);
    c->hold      = NULL;
    line->pack_s = all->first.report.prepare_s;
    return status;
}

static hybrid_status time_core(bench_case *c, const bench_product *product,
                               const char *variant, bench_calls *all, bench_line *line)
{
    bench *b                    = c->bench;
    const int reps              = b->options.reps;
    const hybrid_plan_options o = core_options(c, variant);

    line->mode           = "core";
    hybrid_status status = bench_call_all(c, product, &o, all);
    if (status != HYBRID_OK)
        return failed(c, all, status, line);
    all->first.packs = bench_packs(all->variant);
    for (int i = 0; i < reps; i++)
        all->timed[i].packs = all->first.packs;
    line->first            = all->first_in_process;
    line->times.first      = bench_new_matrix_s(&all->first);
    line->times.new_matrix = bench_span_of_calls(all->timed, reps, bench_new_matrix_s);
    line->plan_s           = bench_median_call(all, reps, bench_new_matrix_s)->plan_s;
    snprintf(line->new_matrix_variant, sizeof line->new_matrix_variant, "%s",
             all->variant);
    status = call_packed(c, product, o, all, line);
    if (status != HYBRID_OK)
        return failed(c, all, status, line);
    conclude(c, product, all, bench_kernels_s, line);
    if (strcmp(line->backend, "host") == 0)
        return HYBRID_OK; /* the host computed it: there are no device stages to time, and
                             the line is not printed */
    if (line->verified) {
        keep_best(&b->best.kernels, line->times.calls.median);
        keep_best(&b->best.new_matrix, line->times.new_matrix.median);
    }
    bench_print(b, line);
    return HYBRID_OK;
}

/* Times kernels with a known pattern of C (HYBRID_REUSE). */
static hybrid_status time_reuse(bench_case *c, const bench_product *product,
                                const char *variant, bench_calls *all, bench_line *line)
{
    bench *b              = c->bench;
    hybrid_plan_options o = core_options(c, variant);

    line->mode  = "core";
    line->reuse = 1;
    o.flags |= HYBRID_REUSE;
    const hybrid_status status = bench_call_all(c, product, &o, all);
    if (status != HYBRID_OK)
        return failed(c, all, status, line);
    conclude(c, product, all, bench_kernels_s, line);
    return finish(b, &b->best.reuse, line);
}

/* A way to time a variant. Each has a line of its own. */
typedef hybrid_status (*timing)(bench_case *c, const bench_product *product,
                                const char *variant, bench_calls *all, bench_line *line);

static hybrid_status time_line(bench_case *c, timing how, const char *variant,
                               int *failures)
{
    const bench_options *options = &c->bench->options;
    const bench_product *product = bench_product_of(options->op);
    const size_t reps = (size_t)options->reps, kept = (size_t)options->keep;
    bench_calls all      = {.timed = calloc(reps, sizeof(bench_call)),
                            .kept  = kept && how == time_end ? calloc(kept, sizeof(bench_call))
                                                             : NULL};
    hybrid_status status = HYBRID_NO_MEMORY;
    bench_line line;

    bench_line_open(c->bench, &line);
    line.pinned = options->pinned;
    line.engine = hybrid_engine_backend(c->engine) == HYBRID_CUDA ? "cuda" : "host";
    snprintf(line.device, sizeof line.device, "%s", hybrid_engine_device(c->engine));
    snprintf(all.variant, sizeof all.variant, "%s", variant ? variant : product->family);
    if (all.timed && (all.kept || !kept || how != time_end))
        status = how(c, product, variant, &all, &line);
    *failures += line.verified == 0;
    free(all.timed);
    free(all.kept);
    return status;
}

/* Times a variant with an open engine, in each mode that was asked for, but in mode
   "core" only on a device without a cap of its memory. Returns 0 if all calls succeeded
   with right results. `may_refuse`: 1: a call that returns HYBRID_UNSUPPORTED counts as
   success, too. */
static int time_opened(bench_case *c, const char *variant, int may_refuse)
{
    const bench_options *options = &c->bench->options;
    const int core               = options->core && !options->device_memory &&
                     hybrid_engine_backend(c->engine) == HYBRID_CUDA;
    hybrid_status status = HYBRID_OK;
    int wrong            = 0;

    if (core)
        status = time_line(c, time_core, variant, &wrong);
    if (core && options->op == BENCH_SPGEMM && status == HYBRID_OK) {
        const hybrid_status again = time_line(c, time_reuse, variant, &wrong);
        wrong += again != HYBRID_OK && again != HYBRID_UNSUPPORTED;
    }
    if (options->end && status == HYBRID_OK)
        status = time_line(c, time_end, variant, &wrong);
    if (options->progress && status == HYBRID_OK)
        wrong += bench_progress(c, bench_product_of(options->op)) != 0;
    if (status == HYBRID_UNSUPPORTED && may_refuse)
        return 0;
    return status == HYBRID_OK && !wrong ? 0 : -1;
}

static void refused(bench *b, const char *why)
{
    bench_line line;

    bench_line_open(b, &line);
    snprintf(line.error, sizeof line.error, "%s", why);
    bench_print(b, &line);
    b->failed = 1;
}

/* Times a variant with a new engine, because the times of an engine's first calls are
   wanted, too. `may_refuse`: 1: the variant may return HYBRID_UNSUPPORTED. */
static void time_variant(bench *b, const char *variant, int may_refuse)
{
    const bench_product *product = bench_product_of(b->options.op);
    bench_case c                 = {.bench = b};
    char error[BENCH_TEXT]       = "";

    if (open_engine(b, &c.engine, error) != HYBRID_OK) {
        refused(b, error);
        return;
    }
    if (product->open(&c))
        refused(b, "no memory for the operands");
    else if (b->options.pinned && bench_pin(&c) != HYBRID_OK)
        refused(b, hybrid_engine_message(c.engine));
    else if (time_opened(&c, variant, may_refuse))
        b->failed = 1;
    if (b->options.pinned)
        bench_unpin(&c);
    product->close(&c);
    hybrid_engine_destroy(c.engine);
}

/* Returns 1 if the requested backend can run the variant. */
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

    b->best        = (struct bench_best){0};
    b->reference_s = 0;
    b->nnz_out = b->flops = 0;
    if (!variant || strcmp(variant, "all") != 0) {
        time_variant(b, variant, 0);
        return;
    }
    for (int i = 0; hybrid_variant_at(i, &v) == HYBRID_OK; i++)
        if (strncmp(v.name, family, length) == 0 && runs_on(v.name, b->options.backend))
            time_variant(b, v.name, 1);
}
