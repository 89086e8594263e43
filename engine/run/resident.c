/* engine/run/resident.c - HYBRID_RESIDENT: which rows of A are cached on a site. */
#include "engine/run/resident.h"

#include "base/data/csr.h"

int64_t hy_resident_bytes(const hy_portion *portion)
{
    const hy_pack_cache *cache = &portion->site->cache;
    int64_t sum                = 0;

    if (hy_pack_cache_filled(cache) == 0)
        return 0;
    for (int64_t i = 0; i < cache->count; i++) {
        const hy_features *f = &portion->layout.chunks[i].features;
        sum += hy_csr_bytes(f->rows, f->nnz, f->type) - 8;
    }
    /* if all rows of the reduced A have a place in the cache, the offsets of the empty
       rows of the caller's A are not read again, either */
    if (cache->count == cache->ranges && portion->profile.begin == 0)
        sum += 8 * (portion->product->rows - portion->profile.rows);
    return sum;
}

/* If the host takes no part, or the cache is complete, every chunk with a place in the
   cache counts. If the host may help, a chunk counts once the device has computed it. If
   the packs of all chunks are cached but the cache is not complete, one chunk less
   counts: the host may still take a cached chunk. */
int64_t hy_resident_chunks(const hy_site *site, int64_t col_blocks, int helped)
{
    const hy_pack_cache *cache = &site->cache;

    if (!cache->lasts)
        return 0;
    if (!helped || cache->complete)
        return cache->count * col_blocks;
    const int64_t filled = hy_pack_cache_filled(cache);
    return filled < cache->ranges ? filled : filled - 1;
}

int hy_resident_all(const hy_site *site)
{
    return site->cache.complete && site->cache.count == site->cache.ranges;
}

int hy_resident_everywhere(const hy_portion *portions, int count)
{
    int all = 1;

    for (int i = 0; i < count; i++)
        all = all && hy_resident_all(portions[i].site);
    return all;
}
