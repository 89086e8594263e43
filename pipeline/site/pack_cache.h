/* pipeline/site/pack_cache.h - packs of A that stay on the device from panel to panel of
   X, or from run to run.

   The first chunks of a plan, as many as fit beside X and the slots, have a place of
   their own for what they pack; chunks of later panels find it there. Where the host
   takes part, a chunk that it has taken so far is not there. A run that fails while it
   fills these places leaves nothing behind: later ones pack all of them. */
#ifndef HY_PACK_CACHE_H
#define HY_PACK_CACHE_H

#include "partition/pattern/chunks.h"

typedef struct hy_pack_cache {
    size_t bytes;    /* of the places on the device; 0: nothing is kept */
    hy_buffer block; /* they; empty while the site rests and packs do not last */
    hy_pack *packs;  /* of each kept chunk of the first panel; bytes 0: not there yet */
    int64_t count;
    int64_t ranges; /* chunks of one panel of columns, kept or not */
    int lasts;      /* from run to run */
    int there;      /* all of them, since a run that succeeded and that nobody took part in */
} hy_pack_cache;

/* Mark the first chunks, as many as fit beside `depth` slots in `room` bytes, and those
   of the same rows in later panels. Their packs take `most` bytes at most. */
void hy_pack_cache_choose(const hy_rates *rates, int depth, size_t room, size_t most,
                          hy_chunk *chunks, int64_t count);

/* How many of the first panel are marked, and the bytes of their places. */
int64_t hy_pack_cache_count(const hy_rates *rates, const hy_chunk *chunks, int64_t count,
                      size_t *bytes);

/* The places that hy_pack_cache_leave() gave back, again; none holds a pack. */
hybrid_status hy_pack_cache_return(hy_backend *backend, hy_pack_cache *cache);
void hy_pack_cache_leave(hy_backend *backend, hy_pack_cache *cache);

/* On failure nothing is held that hy_pack_cache_close() does not free. */
hybrid_status hy_pack_cache_open(hy_backend *backend, const hy_rates *rates,
                                 const hy_chunk *chunks, int64_t count,
                                 hy_pack_cache *cache);
void hy_pack_cache_close(hy_backend *backend, hy_pack_cache *cache);

/* How many are there from earlier runs. */
int64_t hy_pack_cache_there(const hy_pack_cache *cache);

/* None is there any more. */
void hy_pack_cache_forget(hy_pack_cache *cache);

/* Whether the pack of a run's chunk `index` will be on the device when its turn on the
   lanes comes. */
int hy_pack_cache_has(const hy_pack_cache *cache, const hy_chunk *chunk, int64_t index);

/* Its record; NULL if it is not kept. */
hy_pack *hy_pack_cache_record(const hy_pack_cache *cache, const hy_chunk *chunk,
                              int64_t index);

/* A run begins; it ended so. `shared`: the host computed a part, and may in the next. */
void hy_pack_cache_begin(hy_pack_cache *cache);
void hy_pack_cache_end(hy_pack_cache *cache, hybrid_status status, int shared);

#endif /* HY_PACK_CACHE_H */
