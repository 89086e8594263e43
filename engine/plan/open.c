/* engine/plan/open.c - opens and closes the sites of portions. */
#include "engine/plan/open.h"

#include "engine/plan/layout.h"
#include "engine/report/reading.h"
#include "engine/run/prefetch.h"
#include "engine/sites/divide.h"

static hybrid_status open_once(hy_portion *portion, hy_loader **prefetcher)
{
    const hy_product *product = portion->product;
    const hy_layout *l        = &portion->layout;
    const size_t image_room   = l->count > 0 ? l->image_room : 0;
    const size_t transposed   = portion->transposed_room;

    if (*prefetcher && (*prefetcher)->image_memory.bytes != image_room)
        HY_TRY(hy_prefetch_end(prefetcher)); /* ends the prefetch, because the loader's
                                                memory has another size than this site
                                                needs */
    const hy_site_spec spec = {.backend = portion->backend,
                               .rates   = &portion->rates,
                               .op      = product->op,
                               .rows    = product->rows,
                               .cols    = product->cols,
                               .chunks  = l->chunks,
                               .count   = l->count,
                               .depth   = l->count < l->depth ? (int)l->count : l->depth,
                               .lands   = product->result_on != NULL,
                               .lasts   = (product->options.flags & HYBRID_RESIDENT) != 0,
                               .image_room      = image_room,
                               .transposed_room = transposed,
                               .room            = 2 * transposed + product->narrow_room +
                                       l->converted_bytes,
                               .prefetcher = *prefetcher};
    HY_TRY(hy_site_open(&spec, &portion->site));
    *prefetcher = NULL;
    return HYBRID_OK;
}

/* Returns 1 if device memory is left for transposing X and Y, which takes two times
   transposed_room. If the budget seems exhausted, tries an allocation: free blocks in the
   backend's pool count as used, but the allocation may use them. */
static int leaves_rooms(const hy_portion *portion)
{
    hy_backend *backend       = portion->backend;
    const hy_backend_ops *ops = backend->ops;
    const size_t cap = (size_t)backend->device.cap, bytes = portion->transposed_room;
    hy_buffer x = {0}, y = {0};

    if (cap == 0 || (size_t)hy_meter_used(&backend->device) + 2 * bytes <= cap)
        return 1;
    const int can =
        hy_tenants_alloc(backend, bytes, "X in another order", &x) == HYBRID_OK &&
        hy_tenants_alloc(backend, bytes, "Y in another order", &y) == HYBRID_OK;
    ops->free(backend, &x);
    ops->free(backend, &y);
    return can;
}

/* Opens the site of one portion. *prefetcher is a loader for the site's device, or NULL,
   and is NULL afterwards. After a failure the portion has no site. */
static hybrid_status open_site(hy_portion *portion, hy_loader **prefetcher)
{
    hy_backend *backend        = portion->backend;
    const hybrid_status status = open_once(portion, prefetcher);

    if (status == HYBRID_OK && leaves_rooms(portion))
        return HYBRID_OK;
    if (status != HYBRID_OK && status != HYBRID_NO_DEVICE_MEMORY)
        return status;
    /* memory may be short because the pool gave the site blocks larger than needed;
       empties the pool and tries again */
    hy_message_clear(&backend->ctx->message);
    hy_site_close(portion->site);
    portion->site = NULL;
    HY_TRY(hy_prefetch_end(prefetcher));
    backend->ops->trim(backend, 0);
    return open_once(portion, prefetcher);
}

/* Gives sites their pinned memory, and tells the caller's trace when. */
static hybrid_status pin_sites(const hy_portion *portions, int count)
{
    hy_site *sites[HY_MAX_DEVICES];

    for (int i = 0; i < count; i++)
        sites[i] = portions[i].site;
    HY_TRY(hy_sites_pin(sites, count));
    for (int i = 0; i < count; i++)
        hy_tell_pinning(portions->product->engine, sites[i]);
    return HYBRID_OK;
}

hybrid_status hy_portions_open(hy_portion *portions, int count, hy_loader **prefetcher)
{
    hy_loader *none = NULL;

    for (int i = 0; i < count; i++) {
        hy_portion *p       = &portions[i];
        const int has_begun = *prefetcher && (*prefetcher)->backend == p->backend;
        HY_TRY(open_site(p, has_begun ? prefetcher : &none));
        if (count > 1)
            hy_divide_taking(p);
    }
    HY_TRY(hy_prefetch_end(prefetcher));
    return pin_sites(portions, count);
}

void hy_portion_close(hy_portion *portion)
{
    hy_site_close(portion->site);
    portion->site = NULL;
    hy_layout_free(portion->product, &portion->layout);
}
