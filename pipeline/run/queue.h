/* pipeline/run/queue.h - hands out the rows of a product to the sites that compute them.

   Each site has its own division of the rows into chunks (cut), because budgets and
   speeds differ, and claims rows at the boundaries of that cut.

   Known positions: if every row's position in the result is known, each site owns a
   contiguous range of rows and claims chunks from its front. A site without rows of its
   own (the host beside devices), or with none left, takes rows from the end of another
   site's range. It takes only rows that it is predicted to finish before their owner
   would, in pieces that fit its slots. Rows of B or X that only those pieces touch are
   never sent.

   When an owner reaches a chunk of which other sites took rows, it computes the remaining
   rows, which fit wherever the whole chunk did. Two kinds of chunks are taken whole or
   not at all: a gathered chunk, because the taker would have to count the rows of B or X
   that a part of it touches, and a chunk whose pack is cached on the device. The taker
   computes such a chunk piece by piece.

   In order: if the position of a row follows from the rows before it, all sites claim
   from one front, each up to the next boundary of its own cut. A finished chunk waits in
   its slot until all rows before it are reserved. A site therefore claims only rows that
   it is predicted to have counted by then. */
#ifndef HY_QUEUE_H
#define HY_QUEUE_H

#include "partition/pattern/cut.h"
#include "pipeline/site/site.h"

enum { HY_MAX_SITES = HY_MAX_DEVICES + 1 };

typedef struct hy_queue {
    const hy_profile *profile;
    int in_order;
    int64_t front;     /* if sites claim in order: the first row that no site has claimed */
    int64_t all, left; /* all: work (scalar products plus rows) of the whole run; left:
                          work that no site has claimed */
    int more;          /* 1: the only site gets more chunks (hy_queue_grow()), whose work is
                          not in `left` yet */
    int64_t claimed;   /* number of chunks and pieces claimed so far; also the id of the
                          next one */
    hy_site *of[HY_MAX_SITES];
    int count;
} hy_queue;

/* Makes a queue without sites. hy_queue_add() adds a site whose part in the run is set
   (site.h). */
void hy_queue_open(hy_queue *queue, const hy_profile *profile, int in_order);
void hy_queue_add(hy_queue *queue, hy_site *site);

/* Gives the queue's only site a longer list: `chunks` begins with the chunks of its list
   so far. `more` is 1 if the list will become longer still; later chunks touch no row of
   B before row `ring_begin`. */
void hy_queue_grow(hy_queue *queue, const hy_chunk_array *chunks, int64_t ring_begin,
                   int more);

/* Claims rows for the site. Returns 0 if none are left for it. If `must` is 0, also
   returns 0 if other sites are predicted to finish the remaining rows sooner, or, with
   sites that claim in order, to wait for these rows. */
int hy_queue_claim(hy_queue *queue, int site, int must, hy_claim *out);

/* Called when the site has computed a chunk (for SpGEMM: counted its entries). `ns` is
   the present time, from hy_now_ns(). */
void hy_queue_done(hy_queue *queue, int site, const hy_chunk *chunk, int64_t ns);

/* ---- functions that queue.c and queue_take.c share ---- */

/* Returns the work (scalar products plus rows) of a chunk's rows. The features of a chunk
   may be those of one of its passes. */
int64_t hy_queue_work(const hy_queue *queue, const hy_chunk *chunk);

/* Copies the features that a variant's `choose` (hy_variant.choose) has set from `chosen`
   to f. */
void hy_queue_choose(hy_features *f, const hy_features *chosen);

/* Returns rows [begin, end) of a chunk as a chunk. Its numbers of gathered rows and
   entries are those of the whole chunk, an upper bound. It has room for as many entries
   as the whole chunk. */
hy_chunk hy_queue_rows(const hy_queue *queue, const hy_chunk *chunk, int64_t begin,
                       int64_t end);

/* Returns chunk i of a site's list without the rows that were taken from it. */
hy_chunk hy_queue_rest(const hy_queue *queue, const hy_site *c, int64_t i);

/* Returns the seconds that the site needs for `work` (scalar products plus rows), from
   its predicted and its measured speed. */
double hy_queue_seconds(const hy_site *c, int64_t work);

/* Returns 1 if another site can take some of the owner's remaining rows and the owner
   should leave them to it. `rest` is the chunk that the owner would claim next. */
int hy_queue_leaves(const hy_queue *queue, const hy_site *owner, const hy_chunk *rest);

/* Takes rows of another site for `taker`. Returns 0 if there are none that the taker is
   predicted to finish in time. */
int hy_queue_take(hy_queue *queue, hy_site *taker, hy_claim *out);

#endif /* HY_QUEUE_H */
