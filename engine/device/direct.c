/* engine/device/direct.c - products of operands in device memory, without a pipeline. */
#include "engine/device/direct.h"

#include "base/data/csr.h"
#include "engine/rates/factors.h"
#include "engine/device/async.h"
#include "pipeline/sink/sink_device.h"

/* ---- which products -------------------------------------------------------------- */

static int is_device_space(hybrid_space space)
{
    return space == HYBRID_SPACE_DEVICE;
}

static int accepts_engine(const hybrid_engine *engine)
{
    const hy_backend *device    = engine->spaces.device;
    const hy_settings *settings = hy_settings_of(engine);

    return device && device->ops->survey && !settings->schedule &&
           settings->column_blocks == 0 && !settings->all_devices;
}

static int accepts_matrix(const hybrid_csr *A)
{
    return is_device_space(A->space) && A->rows > 0 && A->cols > 0 && A->nnz > 0;
}

/* Returns 1 if the options name no variant and no chunk size, and set no flags except
   HYBRID_DETERMINISTIC and HYBRID_CHECK: other options need a plan. */
static int accepts_options(const hybrid_plan_options *options)
{
    const unsigned taken = HYBRID_DETERMINISTIC | HYBRID_CHECK;

    return !options->variant && options->chunk_rows == 0 && !(options->flags & ~taken);
}

int hy_direct_accepts_spmm(const hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_dense *X, const hybrid_dense *Y,
                           const hybrid_plan_options *options)
{
    return accepts_engine(engine) && accepts_matrix(A) && is_device_space(X->space) &&
           is_device_space(Y->space) && X->cols > 0 && accepts_options(options);
}

int hy_direct_accepts_spgemm(const hybrid_engine *engine, const hybrid_csr *A,
                             const hybrid_csr *B, const hybrid_plan_options *options)
{
    return accepts_engine(engine) && accepts_matrix(A) && accepts_matrix(B) &&
           is_device_space(options->result_space) && accepts_options(options);
}

int hy_direct_accepts_plan(const hybrid_plan *plan)
{
    const hy_product *product = &plan->product;
    const hy_layout *layout   = &plan->portions->layout;

    return accepts_engine(product->engine) && product->op == HY_SPMM &&
           hy_product_in_gpu_memory(product) && plan->count == 1 && layout->count == 1 &&
           layout->chunks->variant->arrange && product->rows > 0 &&
           layout->chunks->features.nnz > 0 && !hy_image_is_gathered(&layout->image) &&
           hy_product_has_views(product);
}

/* ---- Y = alpha*A*X + beta*Y -------------------------------------------------------- */

static hybrid_status compute_dense(hy_single *s, const hy_update *update,
                                   const hy_beginning *start, hybrid_report *r,
                                   hy_direct_end *end)
{
    hy_progress *progress  = &s->engine->ctx.progress;
    const hybrid_dense *Y  = update->Y;
    const int64_t elements = Y->rows * Y->cols;

    HY_TRY(hy_single_enqueue_dense(s, update, end));
    if (*end != HY_DIRECT_DONE)
        return HYBRID_OK;
    hy_progress_expect(progress, elements);
    HY_TRY(hy_single_wait(s));
    if (!hy_single_is_confirmed(s)) {
        *end = HY_DIRECT_LEFT;
        return HYBRID_OK;
    }
    hy_progress_add(progress, elements);
    hy_single_report(s, start, elements * (int64_t)hy_value_size(Y->type), elements, r);
    return HYBRID_OK;
}

/* Computes Y by the plan of a recent call with the same arrays. *end becomes
   HY_DIRECT_DONE, or HY_DIRECT_LEFT if the pattern has changed since or device memory is
   short; then Y is unchanged. */
static hybrid_status compute_as_before(hy_single *s, const hy_recalled *recalled,
                                       const hy_update *update, const hy_beginning *start,
                                       hy_direct_end *end)
{
    hybrid_report r      = HYBRID_REPORT_INIT;
    hybrid_status status = HYBRID_OK;

    *end = HY_DIRECT_DONE;
    HY_TRY_ELSE_DONE(hy_single_begin(s));
    HY_TRY_ELSE_DONE(hy_single_follow(s, recalled, start, end));
    if (*end == HY_DIRECT_DONE)
        HY_TRY_ELSE_DONE(compute_dense(s, update, start, &r, end));
done:
    hy_single_end(s, status);
    return status;
}

static hybrid_status compute_anew(hy_single *s, const hybrid_csr *A, unsigned flags,
                                  const hy_update *update, const hy_beginning *start,
                                  hy_direct_end *end)
{
    hybrid_report r      = HYBRID_REPORT_INIT;
    hybrid_status status = HYBRID_OK;

    HY_TRY_ELSE_DONE(hy_single_begin(s));
    HY_TRY_ELSE_DONE(hy_single_plan(s, s->problem.X->cols, flags, start, end));
    if (*end != HY_DIRECT_DONE)
        goto done;
    HY_TRY_ELSE_DONE(compute_dense(s, update, start, &r, end));
    if (*end == HY_DIRECT_DONE)
        hy_single_remember(s, A, flags);
done:
    hy_single_end(s, status);
    return status;
}

hybrid_status hy_direct_spmm(hybrid_engine *engine, const hybrid_plan_options *options,
                             const hybrid_csr *A, const hybrid_dense *X,
                             const hy_update *update, const hy_beginning *start,
                             hy_direct_end *end)
{
    hy_single s           = hy_single_dense(engine, A, X, update);
    hy_recalled *recalled = hy_recall_find(&engine->recall, engine->spaces.device, A,
                                           X->cols, options->flags);

    if (recalled && hy_single_is_written_at_once(update)) {
        HY_TRY(compute_as_before(&s, recalled, update, start, end));
        if (*end == HY_DIRECT_DONE)
            return HYBRID_OK;
        recalled->device = NULL;
        s                = hy_single_dense(engine, A, X, update);
    }
    return compute_anew(&s, A, options->flags, update, start, end);
}

hybrid_status hy_direct_run(hybrid_plan *plan, const hybrid_csr *A, const hybrid_dense *X,
                            const hy_update *update, const hy_beginning *start,
                            hy_direct_end *end_of)
{
    const hy_chunk *chunk = plan->portions->layout.chunks;
    hy_single s           = hy_single_dense(plan->product.engine, A, X, update);
    hybrid_status status  = HYBRID_OK;

    *end_of    = HY_DIRECT_DONE;
    s.arranged = &plan->arranged;
    HY_TRY_ELSE_DONE(hy_single_begin(&s));
    s.chunk         = *chunk;
    s.cost          = hy_cost_of(chunk->variant, &chunk->features, &s.rates);
    s.plan_s        = plan->plan_s;
    s.pattern_bytes = plan->pattern_bytes;
    HY_TRY_ELSE_DONE(compute_dense(&s, update, start, &plan->history.report, end_of));
done:
    hy_single_end(&s, status);
    return status;
}

/* ---- asynchronous runs ----------------------------------------------------------- */

hybrid_status hy_direct_check_async(const hybrid_plan *plan)
{
    const hy_product *product = &plan->product;
    hy_context *ctx           = &product->engine->ctx;

    if (!hy_product_in_gpu_memory(product))
        return hy_fail(ctx, HYBRID_UNSUPPORTED,
                       "HYBRID_ASYNC needs operands and results in device memory: A, "
                       "x_space or result_space is host memory");
    if (!hy_direct_accepts_plan(plan))
        return hy_fail(ctx, HYBRID_UNSUPPORTED,
                       "HYBRID_ASYNC needs a product that fits the GPU in one chunk and "
                       "a variant that reads A in place; this plan has %lld chunks of %s",
                       (long long)plan->portions->layout.count,
                       plan->portions->variant->name);
    return HYBRID_OK;
}

hybrid_status hy_direct_run_async(hybrid_plan *plan, const hybrid_csr *A,
                                  const hybrid_dense *X, const hy_update *update,
                                  const hy_beginning *start)
{
    hybrid_report *report = &plan->history.report;

    report->plan_s        = plan->plan_s;
    report->pattern_bytes = plan->pattern_bytes;
    return hy_async_run(plan->product.engine, plan->portions->layout.chunks, A, X, update,
                        start, &plan->arranged, &plan->async, report);
}

/* ---- C = A*B --------------------------------------------------------------------- */

static hybrid_status store_sparse(hy_single *s, hy_device_csr_sink *csr)
{
    hy_sink *sink = &csr->sink;
    hy_part part  = hy_single_part(s);

    part.counted = hy_single_told(s)->nnz;
    HY_TRY(sink->ops->reserve(sink, &part));
    HY_TRY(sink->ops->land(sink, s->lane, &part));
    return sink->ops->finish(sink);
}

static hybrid_status compute_sparse(hy_single *s, const hybrid_plan_options *options,
                                    hybrid_csr *C, hy_direct_end *end)
{
    hy_context *ctx          = &s->engine->ctx;
    const hybrid_csr *B      = s->problem.B;
    const hy_csr_shape shape = {.rows      = s->A.rows,
                                .cols      = B->cols,
                                .type      = s->A.type,
                                .bound     = s->chunk.features.out_bound,
                                .offsets   = options->offsets,
                                .columns   = options->columns,
                                .index_max = hy_settings_of(s->engine)->index_max};
    hy_device_csr_sink sink;
    hybrid_status status = HYBRID_OK;

    HY_TRY(hy_single_room(s, s->cost.out_bytes, end));
    if (*end != HY_DIRECT_DONE)
        return HYBRID_OK;
    hy_progress_expect(&ctx->progress, s->A.rows);
    HY_TRY(hy_device_csr_sink_open(ctx, s->device, &shape, C, &sink));
    HY_TRY_ELSE_DONE(hy_single_enqueue(s));
    HY_TRY_ELSE_DONE(hy_single_wait(s));
    HY_TRY_ELSE_DONE(store_sparse(s, &sink));
    hy_progress_add(&ctx->progress, s->A.rows);
done:
    if (status != HYBRID_OK) {
        s->device->ops->lane_drain(s->lane);
        sink.sink.ops->abort(&sink.sink);
    }
    return status;
}

hybrid_status hy_direct_spgemm(hybrid_engine *engine, const hybrid_plan_options *options,
                               const hybrid_csr *A, const hybrid_csr *B,
                               const hy_beginning *start, hybrid_csr *C,
                               hy_direct_end *end_of)
{
    hy_single s          = hy_single_of(engine, HY_SPGEMM, A);
    hybrid_report r      = HYBRID_REPORT_INIT;
    hybrid_status status = HYBRID_OK;

    s.problem.B = s.problem.source.on_device.csr = B;
    HY_TRY_ELSE_DONE(hy_single_begin(&s));
    HY_TRY_ELSE_DONE(hy_single_plan(&s, B->cols, options->flags, start, end_of));
    if (*end_of == HY_DIRECT_DONE)
        HY_TRY_ELSE_DONE(compute_sparse(&s, options, C, end_of));
    if (*end_of != HY_DIRECT_DONE)
        goto done;
    hy_single_report(&s, start, hy_csr_bytes(C->rows, C->nnz, C->type), C->nnz, &r);
    hy_progress_commit(&engine->ctx.progress);
done:
    hy_single_end(&s, status);
    return status;
}
