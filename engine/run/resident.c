/* engine/run/resident.c - HYBRID_RESIDENT: what of A is on a site. */
#include "engine/run/resident.h"

#include "base/data/csr.h"

int64_t hy_resident_bytes(const hy_product *product, const hy_layout *layout,
                          const hy_site *site)
{
    const hy_pack_cache *cache = &site->cache;
    int64_t sum                = 0;

    if (hy_pack_cache_there(cache) == 0)
        return 0;
    for (int64_t i = 0; i < cache->count; i++) {
        const hy_features *f = &layout->chunks[i].features;
        sum += hy_csr_bytes(f->rows, f->nnz, f->type) - 8;
    }
    if (cache->count == cache->ranges && product->profile.begin == 0) /* and once what is
                                                                         left out of A */
        sum += 8 * (product->rows - product->profile.rows);
    return sum;
}

/* Chunks that the host may take are there once the device has had them. In panels it
   takes what is there, and may again: not all are told of until a run was the device's
   alone. */
int64_t hy_resident_chunks(const hy_site *site, int64_t panels, int shared)
{
    const hy_pack_cache *cache = &site->cache;

    if (!cache->lasts)
        return 0;
    if (!shared || cache->there)
        return cache->count * panels;
    const int64_t there = hy_pack_cache_there(cache);
    return there < cache->ranges ? there : there - 1;
}

int hy_resident_all(const hy_site *site)
{
    return site->cache.there && site->cache.count == site->cache.ranges;
}
