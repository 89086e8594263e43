/* pipeline/keep.c - packs of A that stay on the device. */
#include "pipeline/keep.h"

#include "partition/chunks.h"
#include "pipeline/site.h"

/* ---- which ------------------------------------------------------------------------ */

/* Bytes of a chunk's pack, at most, and of all that it needs. */
static size_t pack_bytes(const hy_rates *rates, const hy_chunk *chunk, size_t *all)
{
    const hy_cost cost = chunk->variant->cost(&chunk->features, rates);

    *all = hy_cost_bytes(&cost);
    return hy_align(cost.pack_bytes);
}

/* Rows of X that travel with a chunk change from run to run. */
static int may_keep(const hy_chunk *chunk)
{
    return !chunk->gathered && chunk->variant->prepare;
}

/* `count` of the first panel get their places, and the same rows of later ones. */
static void give_places(const hy_rates *rates, hy_chunk *chunks, int64_t count,
                        int64_t ranges, int64_t all)
{
    size_t kept = 0, bytes;

    for (int64_t i = 0; i < all; i++) {
        chunks[i].kept = i % ranges < count;
        if (i >= ranges) {
            chunks[i].kept_at = chunks[i % ranges].kept_at;
        } else if (i < count) {
            chunks[i].kept_at = kept;
            kept += pack_bytes(rates, &chunks[i], &bytes);
        }
    }
}

void hy_keep_choose(const hy_rates *rates, int depth, size_t room, hy_chunk *chunks,
                    int64_t count)
{
    const int64_t ranges = hy_chunk_ranges(chunks, count);
    const size_t slots   = count < depth ? (size_t)count : (size_t)depth;
    size_t kept = 0, slot = 0, all;
    int64_t k;

    for (k = 0; k < ranges && may_keep(&chunks[k]); k++) {
        const size_t pack = pack_bytes(rates, &chunks[k], &all);
        kept += pack;
        slot = hy_larger(slot, all - pack);
    }
    if (k < ranges) /* all of a plan or none */
        return;
    for (; k > 0 && kept + slots * slot > room; k--) { /* a slot holds what is not kept */
        kept -= pack_bytes(rates, &chunks[k - 1], &all);
        slot = hy_larger(slot, all);
    }
    give_places(rates, chunks, k, ranges, count);
}

int64_t hy_keep_count(const hy_rates *rates, const hy_chunk *chunks, int64_t count,
                      size_t *bytes)
{
    const int64_t ranges = hy_chunk_ranges(chunks, count);
    int64_t k            = 0;
    size_t all;

    for (*bytes = 0; k < ranges && chunks[k].kept; k++)
        *bytes += pack_bytes(rates, &chunks[k], &all);
    return k;
}

/* ---- open and close --------------------------------------------------------------- */

hybrid_status hy_keeper_open(hy_site *site, const hy_chunk *chunks, int64_t count)
{
    hy_keeper *keeper = &site->keeper;
    size_t bytes;
    void *packs;

    keeper->count = hy_keep_count(&site->rates, chunks, count, &bytes);
    if (bytes == 0)
        return HYBRID_OK;
    HY_TRY(
        hy_array(site->ctx, keeper->count, sizeof(hy_pack), "packs that stay", &packs));
    keeper->packs = packs;
    hy_keeper_forget(keeper);
    return site->backend->ops->alloc(site->backend, HY_DEVICE, bytes, &keeper->block);
}

void hy_keeper_close(hy_site *site)
{
    hy_array_free(site->ctx, site->keeper.packs);
    site->backend->ops->free(site->backend, &site->keeper.block);
}

/* ---- chunks ----------------------------------------------------------------------- */

int hy_keeper_has(const hy_site *site, const hy_chunk *chunk, int64_t index)
{
    return chunk->kept && (index >= site->ranges || site->keeper.packs[index].bytes > 0);
}

hy_pack *hy_keeper_pack(hy_site *site, const hy_chunk *chunk, int64_t index)
{
    return chunk->kept ? &site->keeper.packs[index % site->ranges] : NULL;
}

/* ---- runs ------------------------------------------------------------------------ */

void hy_keeper_forget(hy_keeper *keeper)
{
    for (int64_t k = 0; k < keeper->count; k++)
        keeper->packs[k].bytes = 0;
    keeper->there = 0;
}

int64_t hy_keeper_there(const hy_keeper *keeper)
{
    int64_t there = 0;

    for (int64_t k = 0; keeper->lasts && k < keeper->count; k++)
        there += keeper->packs[k].bytes > 0;
    return there;
}

void hy_keeper_begin(hy_keeper *keeper)
{
    if (!keeper->lasts)
        hy_keeper_forget(keeper);
}

/* A run that finds all of them packs nothing, and A may be gone: they outlive it. */
void hy_keeper_end(hy_keeper *keeper, hybrid_status status, int shared)
{
    if (status == HYBRID_OK)
        keeper->there =
            keeper->lasts && !shared && hy_keeper_there(keeper) == keeper->count;
    else if (!keeper->there)
        hy_keeper_forget(keeper);
}
