/* engine/plan/portion.c - what one site does of a product, and how. */
#include "engine/plan/portion.h"

#include "engine/run/prefetch.h"

void hy_portion_of(const hy_product *product, hy_portion *portion)
{
    portion->product = *product;
    portion->begin   = 0;
    portion->end     = product->profile.rows;
    portion->weight  = 1;
}

/* ---- the site --------------------------------------------------------------------- */

static hybrid_status open_once(hy_portion *portion, hy_loader **prefetcher)
{
    const hy_product *product = &portion->product;
    const hy_layout *l        = &portion->layout;
    const int slots           = l->count < l->depth ? (int)l->count : l->depth;
    hy_backend *backend       = product->backend;
    const size_t image_room   = l->count > 0 ? l->image_room : 0;

    if (*prefetcher && ((*prefetcher)->backend != backend ||
                        (*prefetcher)->image_memory.bytes != image_room))
        HY_TRY(hy_prefetch_end(prefetcher)); /* the loader is for another device or has
                                           memory of another size */
    HY_TRY(hy_site_open(backend, &product->rates, product->op, l->chunks, l->count, slots,
                        product->result_on != NULL, image_room, *prefetcher,
                        &portion->site));
    hy_site *site         = portion->site;
    site->transposed.room = product->transposed_room;
    site->room = 2 * product->transposed_room + product->narrow_room + l->converted_bytes;
    site->cache.lasts = (product->options.flags & HYBRID_RESIDENT) != 0;
    site->tenant.rows = product->rows;
    site->tenant.cols = product->cols;
    *prefetcher       = NULL;
    return HYBRID_OK;
}

/* Returns 1 if device memory is left for transposing X and Y, which takes two times
   transposed_room. If the budget seems exhausted, tries an allocation: free blocks in the
   backend's pool count as used, but the allocation may use them. */
static int leaves_rooms(const hy_product *product)
{
    hy_backend *backend       = product->backend;
    const hy_backend_ops *ops = backend->ops;
    const size_t cap = (size_t)backend->device.cap, bytes = product->transposed_room;
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

hybrid_status hy_portion_open(hy_portion *portion, hy_loader **prefetcher)
{
    hy_backend *backend        = portion->product.backend;
    const hybrid_status status = open_once(portion, prefetcher);

    if (status == HYBRID_OK && leaves_rooms(&portion->product))
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

void hy_portion_close(hy_portion *portion)
{
    hy_site_close(portion->site);
    portion->site = NULL;
    hy_layout_free(&portion->product, &portion->layout);
}

/* ---- estimates -------------------------------------------------------------------- */

hy_estimate hy_portion_estimate(const hy_portion *portion, const hy_circumstances *found)
{
    const hy_layout *layout = &portion->layout;
    const hy_estimate e     = hy_estimate_device(&portion->product, layout, found);

    /* a portion of a dense result has a layout with its own rows only */
    return portion->product.op == HY_SPGEMM && portion->weight < 1
               ? hy_estimate_part(&e, layout, portion->weight)
               : e;
}

double hy_portions_s(const hy_portion *portions, int count, const hy_circumstances *found)
{
    const hy_product *first = &portions->product;
    hy_estimate each[HY_MAX_DEVICES];
    const hy_rates *rates[HY_MAX_DEVICES];
    hy_rates host;

    if (!hy_product_on_device(first))
        return hy_estimated_host_s(first->engine, &first->profile.features,
                                   first->variant);
    hy_rates_of(first->engine->host, &host);
    for (int i = 0; i < count; i++) {
        each[i]  = hy_portion_estimate(&portions[i], &found[i]);
        rates[i] = &portions[i].product.rates;
    }
    return hy_seconds_together(each, rates, count, &host);
}

double hy_portions_workers_s(const hy_portion *portions, int count,
                             const hy_circumstances *found)
{
    hy_rates host;
    double sum = 0;

    hy_rates_of(portions->product.engine->host, &host);
    for (int i = 0; i < count; i++) {
        const hy_estimate e = hy_portion_estimate(&portions[i], &found[i]);
        sum += hy_workers_seconds(&e, &host);
    }
    return sum;
}
