/* pipeline/site/pack_cache.c - packs of A that stay on the device. */
#include "pipeline/site/pack_cache.h"

#include "pipeline/site/tenant.h"

/* ---- which ------------------------------------------------------------------------ */

/* Returns an upper bound on the bytes of the chunk's pack, and sets *all to an upper
   bound on the bytes of all its buffers on the device. */
static size_t pack_bytes(const hy_rates *rates, const hy_chunk *chunk, size_t *all)
{
    const hy_cost cost = chunk->variant->cost(&chunk->features, rates);

    *all = hy_cost_bytes(&cost);
    return hy_align(cost.pack_bytes);
}

/* Gives the first `count` chunks of the first column block their positions in the cache,
   and the chunks of the same rows in later blocks the same positions. */
static void set_positions(const hy_rates *rates, hy_chunk *chunks, int64_t count,
                          int64_t ranges, int64_t all)
{
    size_t cached = 0, bytes;

    for (int64_t i = 0; i < all; i++) {
        chunks[i].cached = i % ranges < count;
        if (i >= ranges) {
            chunks[i].cached_at = chunks[i % ranges].cached_at;
        } else if (i < count) {
            chunks[i].cached_at = cached;
            cached += pack_bytes(rates, &chunks[i], &bytes);
        }
    }
}

void hy_pack_cache_choose(const hy_rates *rates, int depth, size_t room, size_t most,
                          hy_chunk *chunks, int64_t count)
{
    const int64_t ranges = hy_chunk_ranges(chunks, count);
    const size_t slots   = count < depth ? (size_t)count : (size_t)depth;
    size_t cached = 0, slot = 0, all;
    int64_t k;

    for (k = 0; k < ranges && chunks[k].variant->prepare; k++) {
        const size_t pack = pack_bytes(rates, &chunks[k], &all);
        cached += pack;
        slot = hy_larger(slot, all - pack);
    }
    if (k < ranges) /* some chunk cannot be cached, so none is */
        return;
    for (; k > 0 && (cached > most || cached + slots * slot > room);
         k--) { /* leaves out the last pack; its chunk then needs a slot with room for it
                 */
        cached -= pack_bytes(rates, &chunks[k - 1], &all);
        slot = hy_larger(slot, all);
    }
    set_positions(rates, chunks, k, ranges, count);
}

/* Returns the number of cached chunks of the first column block, and sets *bytes to the
   size of the cache. */
static int64_t count_cached(const hy_rates *rates, const hy_chunk *chunks, int64_t count,
                            size_t *bytes)
{
    const int64_t ranges = hy_chunk_ranges(chunks, count);
    int64_t k            = 0;
    size_t all;

    for (*bytes = 0; k < ranges && chunks[k].cached; k++)
        *bytes += pack_bytes(rates, &chunks[k], &all);
    return k;
}

/* ---- open and close --------------------------------------------------------------- */

hybrid_status hy_pack_cache_open(hy_backend *backend, const hy_rates *rates,
                                 const hy_chunk *chunks, int64_t count,
                                 hy_pack_cache *cache)
{
    size_t bytes;
    void *packs;

    cache->ranges        = hy_chunk_ranges(chunks, count);
    const int64_t cached = count_cached(rates, chunks, count, &bytes);
    if (bytes == 0)
        return HYBRID_OK;
    HY_TRY(hy_array(backend->ctx, cached, sizeof(hy_pack), "packs that stay", &packs));
    cache->packs = packs;
    cache->count = cached;
    cache->bytes = bytes;
    hy_pack_cache_forget(cache);
    return hy_pack_cache_return(backend, cache);
}

hybrid_status hy_pack_cache_return(hy_backend *backend, hy_pack_cache *cache)
{
    return hy_tenants_alloc(backend, cache->bytes, "packs of A", &cache->block);
}

void hy_pack_cache_leave(hy_backend *backend, hy_pack_cache *cache)
{
    hy_pack_cache_forget(cache);
    backend->ops->free(backend, &cache->block);
}

void hy_pack_cache_close(hy_backend *backend, hy_pack_cache *cache)
{
    hy_array_free(backend->ctx, cache->packs);
    backend->ops->free(backend, &cache->block);
}

/* ---- chunks ----------------------------------------------------------------------- */

int hy_pack_cache_has(const hy_pack_cache *cache, const hy_chunk *chunk, int64_t index)
{
    return chunk->cached && (index >= cache->ranges || cache->packs[index].bytes > 0);
}

hy_pack *hy_pack_cache_record(const hy_pack_cache *cache, const hy_chunk *chunk,
                              int64_t index)
{
    return chunk->cached ? &cache->packs[index % cache->ranges] : NULL;
}

/* ---- runs ------------------------------------------------------------------------ */

void hy_pack_cache_forget(hy_pack_cache *cache)
{
    for (int64_t k = 0; k < cache->count; k++)
        cache->packs[k].bytes = 0;
    cache->complete = 0;
}

int64_t hy_pack_cache_filled(const hy_pack_cache *cache)
{
    int64_t filled = 0;

    for (int64_t k = 0; cache->lasts && k < cache->count; k++)
        filled += cache->packs[k].bytes > 0;
    return filled;
}

void hy_pack_cache_begin(hy_pack_cache *cache)
{
    if (!cache->lasts)
        hy_pack_cache_forget(cache);
}

/* Once all packs are cached they stay even if a run fails, because A may be freed before
   the next run. */
void hy_pack_cache_end(hy_pack_cache *cache, hybrid_status status, int helped)
{
    if (status == HYBRID_OK)
        cache->complete =
            cache->lasts && !helped && hy_pack_cache_filled(cache) == cache->count;
    else if (!cache->complete)
        hy_pack_cache_forget(cache);
}
