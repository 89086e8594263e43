/* pipeline/keep.h - packs of A that stay on the device from panel to panel of X, or from
   run to run.

   The first chunks of a plan, as many as fit beside X and the slots, have a place of
   their own for what they pack; chunks of later panels find it there. Where the host
   takes part, a chunk that it has taken so far is not there. A run that fails while it
   fills these places leaves nothing behind: later ones pack all of them. */
#ifndef HY_KEEP_H
#define HY_KEEP_H

#include "base/variant.h"

struct hy_site;

typedef struct hy_keeper {
    hy_buffer block; /* on the device; empty: nothing is kept */
    hy_pack *packs;  /* of each kept chunk of the first panel; bytes 0: not there yet */
    int64_t count;
    int lasts; /* from run to run */
    int there; /* all of them, since a run that succeeded and that nobody took part in */
} hy_keeper;

/* Mark the first chunks, as many as fit beside `depth` slots in `room` bytes, and those
   of the same rows in later panels. */
void hy_keep_choose(const hy_rates *rates, int depth, size_t room, hy_chunk *chunks,
                    int64_t count);

/* How many of the first panel are marked, and the bytes of their places. */
int64_t hy_keep_count(const hy_rates *rates, const hy_chunk *chunks, int64_t count,
                      size_t *bytes);

/* On failure nothing is held that hy_keeper_close() does not free. */
hybrid_status hy_keeper_open(struct hy_site *site, const hy_chunk *chunks, int64_t count);
void hy_keeper_close(struct hy_site *site);

/* How many are there from earlier runs. */
int64_t hy_keeper_there(const hy_keeper *keeper);

/* None is there any more. */
void hy_keeper_forget(hy_keeper *keeper);

/* Whether the chunk's pack will be on the device when its turn on the lanes comes. */
int hy_keeper_has(const struct hy_site *site, const hy_chunk *chunk,
                  int64_t index);

/* Its record; NULL if it is not kept. */
hy_pack *hy_keeper_pack(struct hy_site *site, const hy_chunk *chunk,
                        int64_t index);

/* A run begins; it ended so. `shared`: the host computed a part, and may in the next. */
void hy_keeper_begin(hy_keeper *keeper);
void hy_keeper_end(hy_keeper *keeper, hybrid_status status, int shared);

#endif /* HY_KEEP_H */
