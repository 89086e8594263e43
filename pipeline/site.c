/* pipeline/site.c - opening and closing a site. */
#include "pipeline/site.h"

#include <string.h>

/* Of all slots: to pin a block takes 1.2 ms, however small it is. */
static hybrid_status open_blocks(hy_site *site, size_t device, size_t pinned)
{
    const hy_backend_ops *ops = site->backend->ops;

    if (device > 0)
        HY_TRY(ops->alloc(site->backend, HY_DEVICE, device, &site->device));
    return pinned > 0 ? ops->alloc(site->backend, HY_PINNED, pinned, &site->pinned)
                      : HYBRID_OK;
}

static hybrid_status open_slots(hy_site *site, const hy_chunk *chunks, int64_t count,
                                int depth)
{
    size_t device, pinned;
    void *slots;

    hy_slot_sizes(site->backend, &site->rates, chunks, count, site->lands, &device,
                  &pinned);
    HY_TRY(hy_array(site->ctx, depth, sizeof(hy_slot), "slots", &slots));
    site->slots = slots;
    if (depth > 0)
        memset(site->slots, 0, (size_t)depth * sizeof(hy_slot));
    HY_TRY(open_blocks(site, (size_t)depth * device, (size_t)depth * pinned));
    for (site->depth = 0; site->depth < depth; site->depth++) {
        const size_t k = (size_t)site->depth;
        HY_TRY(hy_slot_open(site->backend, site->lane_set, site->stages,
                            hy_buffer_part(&site->device, k * device, device),
                            hy_buffer_part(&site->pinned, k * pinned, pinned),
                            &site->slots[k]));
        site->slots[k].site  = site;
        site->slots[k].lands = site->lands;
    }
    return HYBRID_OK;
}

/* B or X on the device, and lanes: those with which it is loaded early, or new ones. */
static hybrid_status open_lane_set(hy_site *site, int depth, size_t shared_bytes,
                                   hy_loader *early)
{
    site->loader = early;
    if (hy_site_in_place(site) && site->backend->caller_lane && depth <= 1)
        return HYBRID_OK;
    if (early) {
        site->lane_set = early->lane_set;
        return HYBRID_OK;
    }
    HY_TRY(hy_lane_set_take(site->ctx, site->backend, &site->lane_set));
    return shared_bytes > 0 ? hy_loader_open(site->lane_set, shared_bytes, &site->loader)
                            : HYBRID_OK;
}

hybrid_status hy_site_open(hy_backend *backend, const hy_rates *rates, hy_op op,
                           const hy_chunk *chunks, int64_t count, int depth, int lands,
                           size_t shared_bytes, hy_loader *early, hy_site **out)
{
    hy_context *ctx = backend->ctx;
    hybrid_status status;
    void *memory;
    hy_site *site;

    HY_TRY(hy_array(ctx, 1, sizeof *site, "site", &memory));
    site = memory;
    memset(site, 0, sizeof *site);
    site->ctx     = ctx;
    site->backend = backend;
    site->rates   = *rates;
    site->lands   = lands;
    site->stages  = op == HY_SPGEMM ? hy_spgemm_stages : hy_spmm_stages;
    HY_TRY_ELSE_DONE(open_lane_set(site, depth, shared_bytes, early));
    HY_TRY_ELSE_DONE(open_slots(site, chunks, count, depth));
    HY_TRY_ELSE_DONE(
        hy_pack_cache_open(backend, &site->rates, chunks, count, &site->cache));
done:
    if (status == HYBRID_OK) {
        *out = site;
        return HYBRID_OK;
    }
    if (early) {
        site->lane_set = NULL;
        site->loader   = NULL;
    }
    hy_site_close(site);
    return status;
}

/* Buffers last: a lane set that is closed waits for what its lanes still do with them. */
void hy_site_close(hy_site *site)
{
    if (!site)
        return;
    if (site->loader && hy_loader_finish(site->loader) != HYBRID_OK) /* no run came */
        site->failed = 1;
    hy_lane_set_give(site->ctx, site->lane_set, !site->failed);
    for (int i = 0; i < site->depth; i++)
        hy_slot_close(site->backend, &site->slots[i]);
    hy_array_free(site->ctx, site->slots);
    site->backend->ops->free(site->backend, &site->turned.buffer);
    site->backend->ops->free(site->backend, &site->converted.second);
    site->backend->ops->free(site->backend, &site->converted.columns);
    site->backend->ops->free(site->backend, &site->device);
    site->backend->ops->free(site->backend, &site->pinned);
    hy_loader_close(site->loader);
    hy_pack_cache_close(site->backend, &site->cache);
    hy_array_free(site->ctx, site);
}

void hy_site_drain(hy_site *site)
{
    const hy_backend_ops *ops = site->backend->ops;

    site->failed = 1;
    if (hy_site_by_caller(site))
        return;
    for (int i = 0; i < site->depth; i++)
        for (const hy_stage *s = site->stages; s->name; s++) {
            hy_mark *mark = site->slots[i].passage[s->step].end;
            hy_lane *lane =
                s->where < HY_LANES ? hy_slot_lane(&site->slots[i], s->where) : NULL;
            if (lane && ops->mark_set(lane, mark) == HYBRID_OK)
                ops->host_wait(mark);
        }
}
