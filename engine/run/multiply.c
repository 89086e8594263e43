/* engine/run/multiply.c - one run of a plan: binds chunks to operands, lets the pipeline
   compute them, and reports. */
#include "engine/run/multiply.h"

#include <math.h>

#include "base/threads/clock.h"
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/plan/reduce.h"
#include "engine/rates/estimate.h"
#include "engine/rates/traffic.h"
#include "engine/api/pin.h"
#include "engine/report/reading.h"
#include "engine/run/collect.h"
#include "engine/run/resident.h"
#include "partition/move/sources.h"
#include "partition/parts/x_block.h"
#include "pipeline/sink/sink_csr.h"
#include "pipeline/sink/sink_device.h"

/* ---- the report -------------------------------------------------------------------- */

static double passed_s(const hy_beginning *start)
{
    return (double)(hy_now_ns() - start->ns) * 1e-9;
}

static void reset_peaks(const hybrid_plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        hy_backend *backend = plan->portions[i].backend;
        hy_meter_reset_peak(&backend->device);
        hy_meter_reset_peak(&backend->pinned);
    }
    hy_meter_reset_peak(&plan->product.engine->ctx.memory.meter);
}

static void begin_report(const hybrid_plan *plan, const hy_beginning *start,
                         const hy_circumstances *found, hy_history *history)
{
    history->report = hy_plan_report(plan);
    if (plan->product.one_shot)
        history->report.plan_s = passed_s(start);
    history->report.predicted_s =
        passed_s(start) + hy_portions_s(plan->portions, plan->count, found);
    reset_peaks(plan);
}

/* Returns the bytes that count for the reference time: operands and result are moved
   once. `second_bytes` is the bytes of B or X. Cached rows of A (`cached_bytes`) and
   operands in device memory are not moved. */
static hy_reference reference_of(const hy_product *product, int64_t cached_bytes,
                                 int64_t second_bytes, int64_t nnz_out)
{
    const hy_features *f = &product->profile.features;
    const int64_t a      = hy_csr_bytes(product->rows, f->nnz, f->type);
    const int64_t down   = product->op == HY_SPGEMM
                               ? hy_csr_bytes(product->rows, nnz_out, f->type)
                               : nnz_out * (int64_t)hy_value_size(f->type);
    const int64_t a_up   = product->a_on ? 0 : a - cached_bytes;

    return (hy_reference){a_up + (product->second_on ? 0 : second_bytes),
                          product->result_on ? 0 : down};
}

static void end_report(const hybrid_plan *plan, const hy_beginning *begin,
                       const hy_reference *reference, int64_t nnz_out,
                       hy_history *history)
{
    hybrid_engine *engine = plan->product.engine;
    hybrid_report *r      = &history->report;
    const hy_backend *backends[HY_MAX_DEVICES];

    for (int i = 0; i < plan->count; i++) {
        backends[i] = plan->portions[i].backend;
        r->peak_device_bytes += hy_meter_peak(&backends[i]->device);
        r->peak_pinned_bytes += hy_meter_peak(&backends[i]->pinned);
    }
    r->peak_host_bytes = hy_meter_peak(&engine->ctx.memory.meter);
    r->resident_chunks = hy_plan_resident_chunks(plan);
    r->nnz_out         = nnz_out;
    hy_usage_end(engine, backends, plan->count, begin, reference, r);
    r->overlap     = hy_usage_overlap(r);
    engine->report = *r;
}

/* Returns the receiver of the events of the next pass, which is one run through all
   chunks. Each call begins a new pass. */
static hy_listener listener_of(hybrid_engine *engine)
{
    hy_rates host;

    hy_rates_of(engine->host, &host);
    return (hy_listener){.fn         = engine->trace,
                         .user       = engine->trace_user,
                         .pass       = engine->passes++,
                         .worker_Bps = host.mem_Bps / host.width};
}

/* Returns the seconds since the call began if B has been prefetched since then; else
   0. */
static double prefetching_s(const hy_portion *portion, const hy_beginning *start)
{
    const hy_loader *loader = portion->site->loader;

    return loader && loader->begun ? passed_s(start) : 0;
}

/* ---- C = AB ------------------------------------------------------------------------ */

/* Binds the operands and computes C into the sink. `offsets_known` is 1 if the position
   of every row in C is known. */
static hybrid_status run_sparse(const hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_csr *B, const hy_beginning *start,
                                int offsets_known, hy_sink *sink, hy_history *history)
{
    const hy_product *product = &plan->product;
    hybrid_engine *engine     = product->engine;
    hy_problem problem        = {.op       = HY_SPGEMM,
                                 .ctx      = &engine->ctx,
                                 .A        = A,
                                 .B        = B,
                                 .a_source = hy_spaces_source(&engine->spaces, A),
                                 .source   = hy_spaces_source(&engine->spaces, B),
                                 .profile  = &product->profile};
    hy_circumstances found[HY_MAX_DEVICES];
    hybrid_status status = HYBRID_OK;
    hy_collect collect;

    for (int i = 0; i < plan->count; i++) {
        const hy_portion *p = &plan->portions[i];
        hy_bind(p, 0, &problem);
        found[i] = (hy_circumstances){.rows_of_b     = hy_traffic_same(p, A, B),
                                      .cached        = hy_traffic_cached(p),
                                      .prefetching_s = prefetching_s(p, start)};
    }
    const hy_sites sites = hy_bind_sites(plan->portions, plan->count, NULL);
    begin_report(plan, start, found, history);
    history->report.reused_pattern = offsets_known;
    hy_progress_expect(&engine->ctx.progress, A->rows);
    const hy_listener listener = listener_of(engine);
    HY_TRY_ELSE_DONE(hy_collect_begin(plan, B, &problem.collects, &collect));
    status = hy_run_product(&sites, &problem, sink, &listener, &history->report);
done:
    hy_collect_end(&collect);
    return status;
}

static hybrid_status run_to(const hybrid_plan *plan, const hybrid_csr *A,
                            const hybrid_csr *B, const hy_beginning *start,
                            int offsets_known, hy_sink *sink, hy_history *history)
{
    const int64_t b_bytes = B == A ? 0 : hy_csr_bytes(B->rows, B->nnz, B->type);
    const int64_t before  = sink->nnz;

    HY_TRY(run_sparse(plan, A, B, start, offsets_known, sink, history));
    const hy_reference reference =
        reference_of(&plan->product, 0, b_bytes, sink->nnz - before);
    end_report(plan, start, &reference, sink->nnz - before, history);
    return HYBRID_OK;
}

/* Computes a C that stays in device memory. */
static hybrid_status run_to_device(const hybrid_plan *plan, const hybrid_csr *A,
                                   const hybrid_csr *B, const hy_beginning *start,
                                   const hy_csr_shape *shape, hy_history *history,
                                   hybrid_csr *C)
{
    hy_context *ctx = &plan->product.engine->ctx;
    hy_device_csr_sink sink;

    HY_TRY(
        hy_device_csr_sink_open(ctx, hy_product_device(&plan->product), shape, C, &sink));
    HY_TRY(run_to(plan, A, B, start, 0, &sink.sink, history));
    hy_progress_commit(&ctx->progress);
    return HYBRID_OK;
}

/* Returns the home of all devices of the plan, or HY_HOMES_DIFFER. */
static int home_of(const hybrid_plan *plan)
{
    const int first = hy_backend_home(plan->portions->backend);

    for (int i = 1; i < plan->count; i++)
        if (hy_backend_home(plan->portions[i].backend) != first)
            return HY_HOMES_DIFFER;
    return first;
}

hybrid_status hy_multiply_sparse(const hybrid_plan *plan, const hybrid_csr *A,
                                 const hybrid_csr *B, const hy_beginning *start,
                                 hy_history *history, hybrid_csr *C)
{
    hy_context *ctx          = &plan->product.engine->ctx;
    const hy_features *f     = &plan->product.profile.features;
    const int64_t *known     = history->pattern.known ? history->pattern.row_ptr : NULL;
    const hy_csr_shape shape = {.rows     = A->rows,
                                .cols     = B->cols,
                                .type     = A->type,
                                .bound    = hy_product_bound(&plan->product),
                                .expected = (int64_t)hy_expected_entries(f),
                                .known    = known,
                                .remedy   = ", or take the rows of C one after another "
                                            "(hybrid_spgemm_each)",
                                .offsets  = plan->product.options.offsets,
                                .columns  = plan->product.options.columns,
                                .index_max =
                                    hy_settings_of(plan->product.engine)->index_max,
                                .home = home_of(plan)};
    hy_csr_sink sink;

    if (plan->product.result_on)
        return run_to_device(plan, A, B, start, &shape, history, C);
    HY_TRY(hy_csr_sink_open(ctx, &shape, C, &sink));
    HY_TRY(run_to(plan, A, B, start, known != NULL, &sink.sink, history));
    hy_progress_commit(&ctx->progress);
    hy_pattern_record(ctx, &history->pattern, C);
    return HYBRID_OK;
}

/* Computes C into the caller's sink. Rows go there in order, so knowing beforehand where
   each row begins would not help. */
hybrid_status hy_multiply_to(const hybrid_plan *plan, const hybrid_csr *A,
                             const hybrid_csr *B, const hy_beginning *start,
                             hy_history *history, hy_sink *sink)
{
    return run_to(plan, A, B, start, 0, sink, history);
}

/* ---- Y = alpha*A*X + beta*Y -------------------------------------------------------- */

/* Computes Y into one of three sinks: for a Y on the device, for a product with the
   reduced A, or for any other Y in host memory. */
static hybrid_status run_chunks(const hybrid_plan *plan, const hy_sites *sites,
                                const hy_problem *problem, hy_history *history)
{
    const hy_product *product = &plan->product;
    hybrid_engine *engine     = product->engine;
    const hy_update update    = {problem->Y, problem->alpha, problem->beta};
    hy_dense_sink sink;

    if (problem->Y->space == HYBRID_SPACE_DEVICE)
        hy_device_dense_sink_open(&engine->ctx, &update, &sink);
    else if (hy_is_hypersparse(&product->hypersparse))
        hy_subset_sink_open(&engine->ctx, &update, &product->hypersparse.rows, &sink);
    else
        hy_dense_sink_open(&engine->ctx, &update, &sink);
    const hy_listener listener = listener_of(engine);
    return hy_run_product(sites, problem, &sink.sink, &listener, &history->report);
}

/* Returns the maximum bytes of a block of X that the host reads. Two blocks are in
   memory. */
static int64_t block_bytes(const hy_problem *problem)
{
    const hy_meter *meter = &problem->ctx->memory.meter;
    const int64_t most = hy_x_block_bytes(problem->ctx), cap = hy_meter_cap(meter);

    return cap == 0 ? most : hy_max(1, hy_min(most, (cap - hy_meter_used(meter)) / 4));
}

/* Adds the product of a block's rows of X to Y. The first block's product is added to
   beta * Y. */
static hybrid_status run_block(const hybrid_plan *plan, const hy_sites *sites,
                               const hy_problem *all, const hy_x_block *block,
                               hy_history *history)
{
    hy_problem problem    = *all;
    hy_progress *progress = &all->ctx->progress;

    problem.A        = &block->A;
    problem.a_source = hy_source_csr(all->ctx, &block->A);
    problem.X        = &block->X;
    problem.source   = hy_source_dense(all->ctx, &block->X);
    if (block->begin > 0)
        problem.beta = 1;
    hy_progress_share(progress, (double)block->A.nnz / fmax(1, (double)all->A->nnz));
    const hybrid_status status = run_chunks(plan, sites, &problem, history);
    hy_progress_share(progress, 1);
    return status;
}

static void tell_block(const hybrid_engine *engine, const hy_x_block *block)
{
    const int64_t size = (int64_t)hy_value_size(block->X.type);

    hy_tell_reading(engine, &(hy_reading){.lane      = "reader-X",
                                          .row_begin = block->begin,
                                          .row_end   = block->end,
                                          .bytes = block->X.rows * block->X.cols * size,
                                          .begin_ns = block->begin_ns,
                                          .end_ns   = block->end_ns});
}

/* Lets the host compute in place. An X in a file comes in blocks of rows; each block is
   multiplied in a run of its own, with the entries of A that refer to its rows. */
static hybrid_status run_in_place(const hybrid_plan *plan, const hy_sites *sites,
                                  const hy_problem *problem, hy_history *history)
{
    hybrid_report *report = &history->report;
    int64_t chunks        = 0;
    hybrid_status status;
    hy_x_block block;

    if (hy_source_at_hand(&problem->source))
        return run_chunks(plan, sites, problem, history);
    hy_x_block_open(&problem->source, problem->A, block_bytes(problem), &block);
    do {
        status = hy_x_block_next(&block, report);
        if (status != HYBRID_OK)
            break;
        tell_block(plan->product.engine, &block);
        status = run_block(plan, sites, problem, &block, history);
        chunks += report->chunks;
    } while (status == HYBRID_OK && block.end < problem->X->rows);
    report->chunks = chunks;
    hy_x_block_close(&block);
    return status;
}

static hybrid_status run_dense(const hybrid_plan *plan, const hy_sites *sites,
                               const hy_problem *problem, hy_history *history)
{
    return hy_portion_on_device(plan->portions)
               ? run_chunks(plan, sites, problem, history)
               : run_in_place(plan, sites, problem, history);
}

/* Fits the chunks of all portions to this X and Y (bind.h), and returns the sites that
   take part. */
static hy_sites bind_dense(const hybrid_plan *plan, int direct, hy_problem *problem,
                           const hy_beginning *start, hy_history *history)
{
    hy_circumstances found[HY_MAX_DEVICES];

    for (int i = 0; i < plan->count; i++)
        hy_bind(&plan->portions[i], direct, problem);
    problem->image = plan->portions->site->image;
    const hy_forecast *host =
        hy_split_forecast(plan->forecasts, plan->portions, plan->count, problem, direct);
    for (int i = 0; i < plan->count; i++) {
        const hy_portion *p = &plan->portions[i];
        const int moved     = p->site->image.axis != p->layout.image.axis;
        found[i]            = (hy_circumstances){.pinned           = direct,
                                                 .in_column_blocks = moved,
                                                 .cached           = hy_traffic_cached(p),
                                                 .share            = host ? host->share : 0};
    }
    begin_report(plan, start, found, history);
    return hy_bind_sites(plan->portions, plan->count, host);
}

static int64_t resident_bytes(const hybrid_plan *plan)
{
    int64_t sum = 0;

    for (int i = 0; i < plan->count; i++)
        sum += hy_resident_bytes(&plan->portions[i]);
    return sum;
}

hybrid_status hy_multiply_dense(const hybrid_plan *plan, const hybrid_csr *A,
                                const hy_source *source, const hy_update *update,
                                const hy_beginning *start, hy_history *history)
{
    const hy_product *product = &plan->product;
    hy_context *ctx           = &product->engine->ctx;
    const hybrid_dense *X     = source->dense;
    hybrid_dense *Y           = update->Y;
    hy_problem problem        = {.op       = HY_SPMM,
                                 .ctx      = ctx,
                                 .A        = A,
                                 .a_source = hy_spaces_source(&product->engine->spaces, A),
                                 .X        = X,
                                 .Y        = Y,
                                 .alpha    = update->alpha,
                                 .beta     = update->beta,
                                 .source   = *source,
                                 .profile  = &product->profile};
    hybrid_csr reduced;

    hy_reduce_bind(product, source, &problem, &reduced);
    const int direct = hy_portion_on_device(plan->portions) && hy_pin_direct(&problem);
    const hy_sites sites = bind_dense(plan, direct, &problem, start, history);
    const int64_t there  = resident_bytes(plan);
    hy_progress_expect(&ctx->progress, problem.A->rows * X->cols);
    HY_TRY(run_dense(plan, &sites, &problem, history));
    const int64_t x_bytes        = X->rows * X->cols * (int64_t)hy_value_size(X->type);
    const int64_t y_count        = Y->rows * Y->cols;
    const hy_reference reference = reference_of(product, there, x_bytes, y_count);
    end_report(plan, start, &reference, y_count, history);
    return HYBRID_OK;
}
