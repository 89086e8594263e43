/* pipeline/open.c - opening and closing a pipeline. */
#include <string.h>

#include "partition/chunks.h"
#include "pipeline/run.h"

/* Of all slots: to pin a block takes 1.2 ms, however small it is. */
static hybrid_status open_blocks(hy_pipeline *p, size_t device, size_t pinned)
{
    const hy_backend_ops *ops = p->backend->ops;

    if (device > 0)
        HY_TRY(ops->alloc(p->backend, HY_DEVICE, device, &p->device));
    return pinned > 0 ? ops->alloc(p->backend, HY_PINNED, pinned, &p->pinned) : HYBRID_OK;
}

static hybrid_status open_slots(hy_pipeline *p, int depth)
{
    size_t device, pinned;
    void *slots;

    hy_slot_sizes(p->backend, &p->rates, p->chunks, p->count, &device, &pinned);
    HY_TRY(hy_array(p->ctx, depth, sizeof(hy_slot), "slots", &slots));
    p->slots = slots;
    if (depth > 0)
        memset(p->slots, 0, (size_t)depth * sizeof(hy_slot));
    HY_TRY(open_blocks(p, (size_t)depth * device, (size_t)depth * pinned));
    for (p->depth = 0; p->depth < depth; p->depth++) {
        const size_t k = (size_t)p->depth;
        HY_TRY(hy_slot_open(p, hy_buffer_part(&p->device, k * device, device),
                            hy_buffer_part(&p->pinned, k * pinned, pinned),
                            &p->slots[k]));
    }
    return HYBRID_OK;
}

/* B or X on the device, and lanes: those with which it is loaded early, or new ones. */
static hybrid_status open_gear(hy_pipeline *p, size_t shared_bytes, hy_loader *early)
{
    p->loader = early;
    if (early) {
        p->gear = early->gear;
        return HYBRID_OK;
    }
    HY_TRY(hy_gear_take(p->ctx, p->backend, &p->gear));
    return shared_bytes > 0 ? hy_loader_open(p->gear, shared_bytes, &p->loader)
                            : HYBRID_OK;
}

hybrid_status hy_pipeline_open(hy_backend *backend, const hy_rates *rates, hy_op op,
                               const hy_chunk *chunks, int64_t count, int depth,
                               size_t shared_bytes, hy_loader *early, hy_pipeline **out)
{
    hy_context *ctx = backend->ctx;
    hybrid_status status;
    void *memory;
    hy_pipeline *p;

    HY_TRY(hy_array(ctx, 1, sizeof *p, "pipeline", &memory));
    p = memory;
    memset(p, 0, sizeof *p);
    p->ctx     = ctx;
    p->backend = backend;
    p->rates   = *rates;
    p->stages  = op == HY_SPGEMM ? hy_spgemm_stages : hy_spmm_stages;
    p->chunks  = chunks;
    p->count   = count;
    p->ranges  = hy_chunk_ranges(chunks, count);
    p->lead    = p;
    hy_slot_queue_open(&p->inbox, hy_pool_leaves_cores(ctx->pool));
    HY_TRY_ELSE_DONE(open_gear(p, shared_bytes, early));
    HY_TRY_ELSE_DONE(open_slots(p, depth));
    HY_TRY_ELSE_DONE(hy_keeper_open(p));
done:
    if (status == HYBRID_OK) {
        *out = p;
        return HYBRID_OK;
    }
    if (early) {
        p->gear   = NULL;
        p->loader = NULL;
    }
    hy_pipeline_close(p);
    return status;
}

/* Buffers last: a gear that is closed waits for what its lanes still do with them. */
void hy_pipeline_close(hy_pipeline *p)
{
    if (!p)
        return;
    if (p->loader && hy_loader_finish(p->loader) != HYBRID_OK) /* no run came */
        p->failed = 1;
    hy_gear_give(p->ctx, p->gear, !p->lead->failed);
    for (int i = 0; i < p->depth; i++)
        hy_slot_close(&p->slots[i]);
    hy_array_free(p->ctx, p->slots);
    p->backend->ops->free(p->backend, &p->turned);
    p->backend->ops->free(p->backend, &p->device);
    p->backend->ops->free(p->backend, &p->pinned);
    hy_loader_close(p->loader);
    hy_keeper_close(p);
    hy_slot_queue_destroy(&p->inbox);
    hy_array_free(p->ctx, p);
}
