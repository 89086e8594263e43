/* pipeline/site/site.c - opening and closing a site, and its device memory between two
   runs. */
#include "pipeline/site/site.h"

#include <string.h>

enum {
    MANY = 64, /* minimum number of chunks for a second lane */
    FEW_PRODUCTS =
        16 << 20 /* a chunk with at least this many scalar products keeps a device busy */
};

/* ---- device memory ----------------------------------------------------------------- */

/* Allocates the device memory of all slots, unless the site has it, as one block, and
   gives each slot its part. */
static hybrid_status get_device(hy_site *site)
{
    const size_t bytes = site->slot_device;

    HY_TRY(hy_tenants_alloc(site->backend, (size_t)site->depth * bytes, "chunk buffers",
                            &site->device));
    for (int i = 0; i < site->depth; i++)
        site->slots[i].device = hy_buffer_part(&site->device, (size_t)i * bytes, bytes);
    return HYBRID_OK;
}

static hy_tenancy bytes_of(const hy_tenant *tenant)
{
    const hy_site *site     = (const hy_site *)tenant;
    const hy_loader *loader = site->loader;
    const size_t slots      = (size_t)site->depth * site->slot_device;
    const size_t packs      = site->cache.bytes;
    const size_t lasting    = site->cache.lasts ? packs : 0;
    size_t held             = site->device.bytes + site->cache.block.bytes +
                  site->transposed.buffer.bytes + site->converted.second.bytes +
                  site->converted.columns.bytes;

    if (loader)
        held += loader->image_memory.bytes + loader->columns.room.bytes;
    return (hy_tenancy){.held      = held,
                        .transient = slots + packs - lasting + site->room +
                                     (loader ? loader->image_room : 0),
                        .lasting = lasting};
}

/* Frees transient device memory. Packs that the next run relies on stay. */
static void leave(hy_tenant *tenant)
{
    hy_site *site             = (hy_site *)tenant;
    const hy_backend_ops *ops = site->backend->ops;

    ops->free(site->backend, &site->device);
    ops->free(site->backend, &site->transposed.buffer);
    hy_on_device_end(site->backend, &site->converted);
    if (site->loader)
        hy_loader_leave(site->loader);
    if (!site->cache.lasts)
        hy_pack_cache_leave(site->backend, &site->cache);
}

static const hy_tenant_ops tenant_ops = {.bytes = bytes_of, .leave = leave};

hybrid_status hy_site_work(hy_site *site)
{
    hy_tenant_work(&site->tenant);
    HY_TRY(get_device(site));
    if (site->loader)
        HY_TRY(hy_loader_return(site->loader));
    return hy_pack_cache_return(site->backend, &site->cache);
}

void hy_site_rest(hy_site *site, hybrid_status status)
{
    if (status != HYBRID_OK) {
        leave(&site->tenant);
        for (int i = 0; i < site->depth; i++)
            site->backend->ops->free(site->backend, &site->slots[i].coded);
    }
    hy_tenant_rest(&site->tenant);
}

/* Returns 1 if the chunks are many and small, as with little device memory. Their longest
   rows then leave most of the device idle. Few or large chunks keep the device busy. */
static int are_small(const hy_chunk *chunks, int64_t count)
{
    int64_t products = 0;

    for (int64_t i = 0; i < count; i++)
        products += chunks[i].features.products;
    return count >= MANY && products / count < FEW_PRODUCTS;
}

/* Lets every second slot of an SpGEMM with many small chunks, and with C in host memory,
   compute in a second lane of the device, so that kernels of two chunks run at once. Each
   slot has its own memory, and the results of chunks are reserved in order whichever is
   computed first. */
static hybrid_status open_second_lane(hy_site *site, const hy_site_spec *spec)
{
    hy_lane *second = NULL;

    if (hy_site_in_place(site) || site->stages != hy_spgemm_stages || site->lands ||
        !are_small(spec->chunks, spec->count))
        return HYBRID_OK;
    for (int i = 1; i < site->depth; i += 2) {
        if (!second)
            HY_TRY(hy_lane_set_run_lane(site->lane_set, &second));
        site->slots[i].run = second;
    }
    return HYBRID_OK;
}

static hybrid_status open_slots(hy_site *site, const hy_site_spec *spec)
{
    const int depth = spec->depth;
    void *slots;

    hy_slot_sizes(site->backend, &site->rates, spec->chunks, spec->count, site->lands,
                  &site->slot_device, &site->slot_pinned);
    HY_TRY(hy_array(site->ctx, depth, sizeof(hy_slot), "slots", &slots));
    site->slots = slots;
    if (depth > 0)
        memset(site->slots, 0, (size_t)depth * sizeof(hy_slot));
    HY_TRY(hy_tenants_alloc(site->backend, (size_t)depth * site->slot_device,
                            "chunk buffers", &site->device));
    for (site->depth = 0; site->depth < depth; site->depth++) {
        hy_slot *slot = &site->slots[site->depth];
        HY_TRY(hy_slot_open(site->backend, site->lane_set, site->stages, slot));
        slot->site  = site;
        slot->lands = site->lands;
    }
    HY_TRY(open_second_lane(site, spec));
    return get_device(site);
}

/* Takes the lane set and the loader with memory for B or X: those of `prefetcher`, or new
   ones. A site whose chunks the calling thread computes alone gets no lane set, and
   without image_room a site gets no loader. */
static hybrid_status open_lane_set(hy_site *site, const hy_site_spec *spec)
{
    site->loader = spec->prefetcher;
    if (hy_site_in_place(site) && site->backend->caller_lane && spec->depth <= 1)
        return HYBRID_OK;
    if (spec->prefetcher) {
        site->lane_set = spec->prefetcher->lane_set;
        return HYBRID_OK;
    }
    HY_TRY(hy_lane_set_acquire(site->ctx, site->backend, &site->lane_set));
    return spec->image_room > 0
               ? hy_loader_open(site->lane_set, spec->image_room, &site->loader)
               : HYBRID_OK;
}

static void init(hy_site *site, const hy_site_spec *spec)
{
    memset(site, 0, sizeof *site);
    site->tenant          = (hy_tenant){.ops     = &tenant_ops,
                                        .backend = spec->backend,
                                        .op      = spec->op,
                                        .rows    = spec->rows,
                                        .cols    = spec->cols};
    site->ctx             = spec->backend->ctx;
    site->backend         = spec->backend;
    site->rates           = *spec->rates;
    site->lands           = spec->lands;
    site->stages          = spec->op == HY_SPGEMM ? hy_spgemm_stages : hy_spmm_stages;
    site->transposed.room = spec->transposed_room;
    site->room            = spec->room;
}

hybrid_status hy_site_open(const hy_site_spec *spec, hy_site **out)
{
    hybrid_status status;
    void *memory;
    hy_site *site;

    HY_TRY(hy_array(spec->backend->ctx, 1, sizeof *site, "a site", &memory));
    site = memory;
    init(site, spec);
    HY_TRY_ELSE_DONE(open_lane_set(site, spec));
    HY_TRY_ELSE_DONE(open_slots(site, spec));
    HY_TRY_ELSE_DONE(hy_pack_cache_open(spec->backend, &site->rates, spec->chunks,
                                        spec->count, &site->cache));
    site->cache.lasts = spec->lasts;
done:
    if (status == HYBRID_OK) {
        hy_tenant_work(&site->tenant);
        *out = site;
        return HYBRID_OK;
    }
    if (spec->prefetcher) {
        site->lane_set = NULL;
        site->loader   = NULL;
    }
    hy_site_close(site);
    return status;
}

/* Frees buffers last, because closing a lane set waits for work that uses them. */
void hy_site_close(hy_site *site)
{
    if (!site)
        return;
    hy_tenant_exit(&site->tenant);
    /* the loader of a prefetched B may still be at work if the plan is destroyed before
       its first run */
    if (site->loader && hy_loader_finish(site->loader) != HYBRID_OK)
        site->failed = 1;
    hy_lane_set_release(site->ctx, site->lane_set, !site->failed);
    for (int i = 0; i < site->depth; i++)
        hy_slot_close(site->backend, &site->slots[i]);
    hy_array_free(site->ctx, site->slots);
    leave(&site->tenant);
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
    for (int lane = 0; lane < HY_LANES; lane++)
        if (site->lane_set->lanes[lane])
            ops->lane_drain(site->lane_set->lanes[lane]);
    if (site->lane_set->peer)
        ops->lane_drain(site->lane_set->peer);
    for (int i = 0; i < site->depth; i++)
        if (site->slots[i].run)
            ops->lane_drain(site->slots[i].run);
}
