/* engine/device/single.c - computes a product in device memory as a single chunk. */
#include "engine/device/single.h"

#include "base/threads/clock.h"
#include "base/data/csr.h"
#include "engine/plan/rank.h"
#include "partition/format/pack.h"
#include "partition/move/sources.h"
#include "pipeline/sink/sink_device.h"
#include "pipeline/site/slot.h"
#include "pipeline/site/tenant.h"

/* ---- begin and end ----------------------------------------------------------------- */

hy_single hy_single_of(hybrid_engine *engine, hy_op op, const hybrid_csr *A)
{
    return (hy_single){.engine  = engine,
                       .device  = engine->spaces.device,
                       .problem = {.op       = op,
                                   .ctx      = &engine->ctx,
                                   .a_source = {.on_device = {.csr = A}}}};
}

hy_single hy_single_dense(hybrid_engine *engine, const hybrid_csr *A,
                          const hybrid_dense *X, const hy_update *update)
{
    hy_single s = hy_single_of(engine, HY_SPMM, A);

    s.problem.X      = X;
    s.problem.source = hy_source_dense(&engine->ctx, X);
    s.problem.Y      = update->Y;
    s.problem.alpha  = update->alpha;
    s.problem.beta   = update->beta;
    return s;
}

void hy_single_bind(hy_single *s)
{
    static const int64_t first_offset = 0;

    hy_meter_reset_peak(&s->device->device);
    hy_meter_reset_peak(&s->device->pinned);
    hy_meter_reset_peak(&s->engine->ctx.memory.meter);
    s->A = *s->problem.a_source.on_device.csr;
    /* hybrid_csr has no const pointers, so const is cast away; the offset is only
       read */
    s->A.row_ptr     = (void *)(uintptr_t)&first_offset;
    s->A.offset_type = HYBRID_I64;
    s->problem.A     = &s->A;
    if (!s->arranged)
        s->arranged = &s->own;
    hy_rates_of(s->device, &s->rates);
}

hybrid_status hy_single_begin(hy_single *s)
{
    hy_single_bind(s);
    HY_TRY(hy_lane_set_acquire(&s->engine->ctx, s->device, &s->lanes));
    s->lane = s->lanes->lanes[HY_ON_RUN];
    return hy_lane_set_mark(s->lanes, &s->mark);
}

void hy_single_end(hy_single *s, hybrid_status status)
{
    const hy_backend_ops *ops = s->device->ops;

    if (status != HYBRID_OK && s->lane)
        ops->lane_drain(s->lane);
    if (status != HYBRID_OK)
        s->arranged->done = 0;
    hy_on_device_end(s->device, &s->converted);
    ops->free(s->device, &s->own.in);
    ops->free(s->device, &s->room);
    hy_lane_set_release(&s->engine->ctx, s->lanes, status == HYBRID_OK);
}

hybrid_status hy_single_wait(const hy_single *s)
{
    const hy_backend_ops *ops = s->device->ops;
    hy_progress *progress     = &s->engine->ctx.progress;
    const int64_t begin       = hy_now_ns();
    int reached               = 0;

    HY_TRY(hy_mark_untimed(s->lane, s->mark));
    if (!hy_progress_asked(progress))
        return ops->host_wait(s->mark);
    while (!reached) {
        HY_TRY(hy_progress_check(progress));
        hy_spaces_rest(hy_now_ns() - begin);
        HY_TRY(ops->mark_reached(s->mark, &reached));
    }
    return HYBRID_OK;
}

/* ---- computing --------------------------------------------------------------------- */

hybrid_status hy_single_room(hy_single *s, size_t out_bytes, hy_direct_end *end)
{
    const hy_chunk *chunk = &s->chunk;
    const size_t in =
        hy_align(hy_arranged_bytes(s->problem.op, &chunk->features, &s->cost));
    const size_t work = hy_align(s->cost.work_bytes);
    const size_t all  = work + hy_align(out_bytes);

    if (s->room.ptr && s->room.bytes < all) /* the block will be freed because it is too
                                               small; waits for an earlier run that may
                                               still use it */
        s->device->ops->lane_drain(s->lane);
    s->problem.image = hy_variant_image(chunk->variant, s->A.cols, chunk->col_end,
                                        s->problem.B ? s->problem.B->nnz : 0, s->A.type);
    hybrid_status status =
        hy_tenants_alloc(s->device, in, "packs of A", &s->arranged->in);
    if (status == HYBRID_OK)
        status = hy_tenants_alloc(s->device, all, "arrays of the kernels", &s->room);
    if (status == HYBRID_OK)
        status = hy_on_device_begin(s->lane, &s->converted, &s->problem);
    if (status == HYBRID_NO_DEVICE_MEMORY) {
        s->device->ops->lane_drain(s->lane); /* waits, because operands may still be
                                                converted in memory that is freed now */
        hy_message_clear(&s->engine->ctx.message);
        *end = HY_DIRECT_LEFT;
        return HYBRID_OK;
    }
    s->job =
        (hy_job){.problem = &s->problem,
                 .chunk   = chunk,
                 .variant = chunk->variant,
                 .rates   = &s->rates,
                 .in      = s->arranged->in,
                 .work    = hy_buffer_part(&s->room, 0, work),
                 .out_nnz = s->problem.op == HY_SPGEMM ? &hy_single_told(s)->nnz : NULL,
                 .gate    = s->recalled ? hy_lane_set_gate(s->lanes) : NULL,
                 .a_on_device = 1};
    if (out_bytes > 0)
        s->job.out =
            hy_rows_in((char *)s->room.ptr + work, s->problem.op, &chunk->features, 0);
    return status;
}

hybrid_status hy_single_enqueue(hy_single *s)
{
    const hy_variant *variant = s->chunk.variant;

    hy_arranged *arranged = s->arranged;

    s->begin_ns = hy_now_ns();
    if (arranged->done)
        s->job.pack = arranged->pack;
    else
        HY_TRY(variant->arrange(s->lane, &s->job));
    arranged->pack = s->job.pack;
    arranged->done = 1;
    HY_TRY(variant->multiply(s->lane, &s->job));
    return variant->finish ? variant->finish(s->lane, &s->job) : HYBRID_OK;
}

hy_part hy_single_part(const hy_single *s)
{
    return (hy_part){.chunk = &s->chunk, .rows = s->job.out, .order = HYBRID_ROW_MAJOR};
}

int hy_single_is_written_at_once(const hy_update *u)
{
    const hybrid_dense *Y = u->Y;
    const int in_rows     = Y->order == HYBRID_ROW_MAJOR;

    return u->alpha == 1 && u->beta == 0 && (in_rows ? Y->ld == Y->cols : Y->cols == 1);
}

hybrid_status hy_single_land_dense(hy_single *s, const hy_update *update)
{
    const hy_part part = hy_single_part(s);
    hy_dense_sink sink;

    hy_device_dense_sink_open(&s->engine->ctx, update, &sink);
    return sink.sink.ops->land(&sink.sink, s->lane, &part);
}

hybrid_status hy_single_enqueue_dense(hy_single *s, const hy_update *update,
                                      hy_direct_end *end)
{
    const int at_once = hy_single_is_written_at_once(update);

    HY_TRY(hy_single_room(s, at_once ? 0 : s->cost.out_bytes, end));
    if (*end != HY_DIRECT_DONE)
        return HYBRID_OK;
    if (at_once)
        s->job.out.val = update->Y->data;
    HY_TRY(hy_single_enqueue(s));
    return at_once ? HYBRID_OK : hy_single_land_dense(s, update);
}

/* ---- the report -------------------------------------------------------------------- */

static void tell_listener(const hy_single *s, int64_t end_ns)
{
    hybrid_engine *engine    = s->engine;
    const hybrid_event event = {.stage    = "multiply",
                                .variant  = s->chunk.variant->name,
                                .lane     = hy_lane_name(HY_NAME_RUN, s->device->index),
                                .row_end  = s->A.rows,
                                .begin_ns = s->begin_ns,
                                .end_ns   = end_ns,
                                .flops    = 2 * s->chunk.features.products,
                                .device_bytes = hy_meter_used(&s->device->device),
                                .host_bytes   = hy_meter_used(&engine->ctx.memory.meter),
                                .parts        = 1,
                                .pass         = engine->passes++,
                                .bound        = HYBRID_DEVICE};

    if (engine->trace)
        engine->trace(engine->trace_user, &event);
}

void hy_single_report(const hy_single *s, const hy_beginning *start, int64_t result_bytes,
                      int64_t nnz_out, hybrid_report *r)
{
    hybrid_engine *engine        = s->engine;
    const hy_backend *device     = s->device;
    const hy_reference reference = {0};
    const hy_features *f         = &s->chunk.features;
    const double once_s =
        s->arranged == &s->own ? s->plan_s : 0; /* the time of a one-shot call includes
                                                   planning, that of a run of a plan does
                                                   not */
    const int64_t end_ns = hy_now_ns();

    if (s->begin_ns > 0)
        tell_listener(s, end_ns);
    *r                    = (hybrid_report)HYBRID_REPORT_INIT;
    r->plan_s             = s->plan_s;
    r->pattern_bytes      = s->pattern_bytes;
    r->predicted_s        = once_s + s->cost.multiply_s + s->cost.finish_s;
    r->predicted_device_s = s->cost.multiply_s + s->cost.finish_s;
    r->multiply_s         = s->begin_ns > 0 ? (double)(end_ns - s->begin_ns) * 1e-9 : 0;
    r->chunks             = 1;
    r->rows               = f->rows;
    r->flops              = 2 * f->products;
    r->nnz_out            = nnz_out;
    r->predicted_nnz_out =
        s->problem.op == HY_SPMM ? nnz_out : (int64_t)hy_expected_entries(f);
    r->device_bytes      = hy_csr_bytes(f->rows, f->nnz, f->type) + result_bytes;
    r->other_h2d_bytes   = -1;
    r->peak_device_bytes = hy_meter_peak(&device->device);
    r->peak_pinned_bytes = hy_meter_peak(&device->pinned);
    r->peak_host_bytes   = hy_meter_peak(&engine->ctx.memory.meter);
    hy_usage_end(engine, &device, 1, start, &reference, r);
    r->overlap     = hy_usage_overlap(r);
    engine->report = *r;
}
