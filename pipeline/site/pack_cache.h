/* pipeline/site/pack_cache.h - packs of A that are cached on the device, for later column
   blocks of X or for later runs.

   The first chunks of a plan, as many as fit beside X and the slots, have fixed positions
   for their packs. Chunks of later column blocks find the packs there. A chunk that the
   host computes has no pack in the cache. If a run fails before the cache is complete,
   the cache is emptied, and the next run packs all chunks again. */
#ifndef HY_PACK_CACHE_H
#define HY_PACK_CACHE_H

#include "partition/pattern/chunks.h"

typedef struct hy_pack_cache {
    size_t bytes;    /* size of the cache on the device; 0: no pack is cached */
    hy_buffer block; /* device memory of the cache. If `lasts` is 0, it is empty while the
                        site rests. */
    hy_pack *packs;  /* one for each cached chunk of the first column block; its `bytes`
                        is 0 if the pack is not in the cache */
    int64_t count;
    int64_t ranges; /* number of chunks of one column block, cached or not */
    int lasts;      /* 1: packs stay from run to run */
    int complete;   /* 1: all packs are in the cache, because a run has succeeded without
                       the host's help */
} hy_pack_cache;

/* Sets hy_chunk.cached for the first chunks, as many as fit in `room` bytes beside
   `depth` slots, and for the chunks of the same rows in later column blocks. Their packs
   take at most `most` bytes. Does nothing if the variant makes no packs. The chunks must
   not gather, because rows of X change from run to run. */
void hy_pack_cache_choose(const hy_rates *rates, int depth, size_t room, size_t most,
                          hy_chunk *chunks, int64_t count);

/* hy_pack_cache_leave() frees the device memory of the cache. hy_pack_cache_return()
   allocates it again; the cache then holds no packs. */
hybrid_status hy_pack_cache_return(hy_backend *backend, hy_pack_cache *cache);
void hy_pack_cache_leave(hy_backend *backend, hy_pack_cache *cache);

/* Allocates an empty cache for the chunks with hy_chunk.cached. After a failure,
   hy_pack_cache_close() frees what was allocated. */
hybrid_status hy_pack_cache_open(hy_backend *backend, const hy_rates *rates,
                                 const hy_chunk *chunks, int64_t count,
                                 hy_pack_cache *cache);
void hy_pack_cache_close(hy_backend *backend, hy_pack_cache *cache);

/* Returns the number of packs that earlier runs have left in the cache; 0 if packs do not
   stay from run to run. */
int64_t hy_pack_cache_filled(const hy_pack_cache *cache);

/* Empties the cache; its device memory stays allocated. */
void hy_pack_cache_forget(hy_pack_cache *cache);

/* Returns 1 if the pack of chunk `index` of the run will be on the device when the chunk
   reaches the lanes. */
int hy_pack_cache_has(const hy_pack_cache *cache, const hy_chunk *chunk, int64_t index);

/* Returns the cache's description of the chunk's pack; NULL if the chunk is not
   cached. */
hy_pack *hy_pack_cache_record(const hy_pack_cache *cache, const hy_chunk *chunk,
                              int64_t index);

/* Called at the beginning and at the end of a run. hy_pack_cache_begin() empties the
   cache unless packs stay from run to run. hy_pack_cache_end() gets the status of the
   run; after a failure it empties a cache that was not complete. `helped` is 1 if other
   sites, such as the host, took rows of this site in the run. */
void hy_pack_cache_begin(hy_pack_cache *cache);
void hy_pack_cache_end(hy_pack_cache *cache, hybrid_status status, int helped);

#endif /* HY_PACK_CACHE_H */
