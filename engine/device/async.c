/* engine/device/async.c - runs that return before their work is done.

   All work of a run is enqueued in the caller's stream, so the runs of a plan follow one
   another there and can share the plan's memory. */
#include "engine/device/async.h"

#include "base/data/csr.h"
#include "engine/rates/factors.h"
#include "base/memory/device_full.h"
#include "partition/format/pack.h"

struct hy_async {
    hy_single single; /* the last run of the plan, of which the next run uses lane and
                         memory */
    void *stream;     /* caller's CUDA stream in which the last run was enqueued */
};

static hybrid_status open_state(hybrid_engine *engine, hy_async **async)
{
    void *memory;

    if (*async)
        return HYBRID_OK;
    HY_TRY(hy_array(&engine->ctx, 1, sizeof(hy_async), "an asynchronous run", &memory));
    *async  = memory;
    **async = (hy_async){.single = {.engine = engine, .device = engine->spaces.device}};
    return HYBRID_OK;
}

/* Makes the caller's current stream the lane of the next run. If the last run was
   enqueued in another stream, first waits for that run, because both use the same
   memory. */
static hybrid_status take_lane(hy_async *async)
{
    hy_single *s              = &async->single;
    const hy_backend_ops *ops = s->device->ops;
    void *stream              = s->engine->spaces.stream;

    if (s->lane && async->stream == stream)
        return HYBRID_OK;
    if (s->lane)
        ops->lane_drain(s->lane);
    ops->lane_close(s->lane);
    s->lane       = NULL;
    async->stream = stream;
    return ops->borrow(s->device, stream, &s->lane);
}

/* Makes async->single the next run, with the lane and the memory of the last one. */
static void begin_next(hy_async *async, const hy_chunk *chunk, const hybrid_csr *A,
                       const hybrid_dense *X, const hy_update *update,
                       hy_arranged *arranged)
{
    hy_single *s   = &async->single;
    hy_single next = hy_single_dense(s->engine, A, X, update);

    next.device    = s->device;
    next.lane      = s->lane;
    next.converted = s->converted;
    next.room      = s->room;
    next.arranged  = arranged;
    next.chunk     = *chunk;
    *s             = next;
    hy_single_bind(s);
    s->cost = hy_cost_of(chunk->variant, &chunk->features, &s->rates);
}

static hybrid_status enqueue(hy_single *s, const hy_update *update)
{
    hy_direct_end end = HY_DIRECT_DONE;

    if (update->alpha == 0)
        return hy_single_land_dense(s, update);
    HY_TRY(hy_single_enqueue_dense(s, update, &end));
    if (end == HY_DIRECT_DONE)
        return HYBRID_OK;
    const hy_features *f = &s->chunk.features;
    return hy_device_full(
        s->device, &s->device->device, "the arrays of this run",
        (int64_t)(hy_arranged_bytes(s->problem.op, f, &s->cost) + s->cost.work_bytes),
        "the memory that was free when the plan was made is in use",
        ", or destroy other plans");
}

hybrid_status hy_async_run(hybrid_engine *engine, const hy_chunk *chunk,
                           const hybrid_csr *A, const hybrid_dense *X,
                           const hy_update *update, const hy_beginning *start,
                           hy_arranged *arranged, hy_async **async, hybrid_report *report)
{
    const hybrid_dense *Y  = update->Y;
    const int64_t elements = Y->rows * Y->cols;
    const double plan_s    = report->plan_s;
    const int64_t pattern  = report->pattern_bytes;

    HY_TRY(open_state(engine, async));
    HY_TRY(take_lane(*async));
    begin_next(*async, chunk, A, X, update, arranged);
    hy_single *s               = &(*async)->single;
    const hybrid_status status = enqueue(s, update);
    if (status != HYBRID_OK) {
        s->device->ops->lane_drain(s->lane);
        arranged->done = 0;
        return status;
    }
    s->plan_s        = plan_s;
    s->pattern_bytes = pattern;
    s->begin_ns      = 0; /* 0: unknown, because the device begins only when the stream
                             reaches the run */
    hy_single_report(s, start, elements * (int64_t)hy_value_size(Y->type), elements,
                     report);
    return HYBRID_OK;
}

void hy_async_end(hy_async *async)
{
    if (!async)
        return;
    hy_single *s    = &async->single;
    hy_context *ctx = &s->engine->ctx;
    if (s->lane)
        s->device->ops->lane_drain(s->lane);
    s->device->ops->lane_close(s->lane);
    hy_on_device_end(s->device, &s->converted);
    s->device->ops->free(s->device, &s->room);
    hy_array_free(ctx, async);
}
