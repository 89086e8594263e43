/* pipeline/run/queue.h - hands out the rows of a product to the sites that compute them.

   Each site has its own cut, because budgets and speeds differ, and claims rows at the
   boundaries of that cut.

   If every row's position in the result is known, each site owns a contiguous range and
   claims chunks from its front. A site that has no rows left, or that never had any, as
   the host, takes rows from the end of another site's range, in pieces that fit its
   slots, if it will finish them before their owner would. Rows of B or X that only those
   pieces touch are never sent.

   An owner that reaches a chunk of which rows were taken computes the remaining rows,
   which fit wherever the whole chunk did. Two kinds of chunks are not divided: a gathered
   chunk, because the taker would have to count what it carries, and a chunk whose pack is
   cached on the device. A site that takes such a chunk takes all of it and computes it
   piece by piece.

   If positions follow from each other (in order), all sites claim from one front, each up
   to the next boundary of its own cut. A finished chunk waits in its slot until all rows
   before it are reserved, so a site claims only rows that it will have counted by
   then. */
#ifndef HY_QUEUE_H
#define HY_QUEUE_H

#include "base/contract/backend.h"
#include "partition/pattern/chunks.h"

enum { HY_MAX_SITES = HY_MAX_DEVICES + 1 };

/* How a site takes rows of others, as the plan has found. Work is scalar products plus
   rows. */
typedef struct hy_sharing {
    const hy_variant *variant;
    hy_rates rates;         /* of the site */
    int64_t products, rows; /* most scalar products and rows of a piece, the rows that it
                               computes at once; a single row may have more scalar
                               products */
    size_t slot_bytes;      /* most bytes of a piece in its slot */
    size_t pinned_bytes;    /* if the site computes in place 0, else bytes of pinned
                               memory that a piece may need */
    double share;           /* share of all work that the site takes, 0 to 1; below 0: as
                               much as makes the run shortest */
    double device_rate, host_rate; /* predicted work (scalar products plus rows) per
                                      second, of all devices together and of the host */
} hy_sharing;

/* Speed of a site, predicted and measured. Work is scalar products plus rows. */
typedef struct hy_pace {
    double expected; /* predicted work per second */
    int64_t flying;  /* work that was claimed and is not done */
    int64_t timed;   /* work done between first_ns and last_ns */
    int64_t first_ns, last_ns;
} hy_pace;

/* The part of one site in a run. The site is a device, or the host, which computes all
   rows or takes rows of devices. */
typedef struct hy_side {
    struct hy_site *site;
    hy_image image;     /* how B or X lies on the site */
    hy_chunk_list list; /* chunks at the boundaries of its cut; empty: the site has no
                           rows of its own */
    int64_t begin, end; /* range of the list's rows that the site owns; in order: all */
    const hy_sharing *sharing; /* how it takes rows of others; NULL: it takes none */
    double rate;               /* predicted work per second */
    int depth;                 /* largest number of chunks in flight */

    /* fields that the queue sets */
    int64_t next, stop; /* chunks of the list that are left: `next` is the first, `stop`
                           is behind the last */
    int64_t row_begin,
        row_end;     /* rows of that range: from this row of the first chunk to this row
                        of the last */
    int64_t left;    /* work of its own that no site has claimed */
    int64_t taken;   /* work that it has taken from others */
    int64_t ceded;   /* work that others have taken from it */
    hy_pace pace;
    hy_chunk claim; /* rows taken from others and not begun; may be empty */

    /* fields that the driver sets */
    struct hy_run *run;
    int index;          /* index among the queue's sides; hy_queue_add() sets it */
    int64_t begun;      /* number of chunks begun */
    int64_t next_lane;  /* hy_slot.sequence of the chunk that is next to enter the
                           lanes */
    int64_t finished;   /* number of chunks finished */
    hy_problem problem; /* the run's problem, as it lies on this site */
} hy_side;

typedef struct hy_queue {
    const hy_profile *profile;
    int in_order;
    int64_t front;     /* in order: the first row that no site has claimed */
    int64_t all, left; /* all work of the run, and work that no site has claimed */
    int64_t claimed;   /* number of chunks and pieces claimed so far, which is the id of
                          the next */
    hy_side of[HY_MAX_SITES];
    int count;
} hy_queue;

/* What a site computes next. */
typedef struct hy_claim {
    hy_chunk chunk;
    int64_t index; /* index in the site's list; the list's count if the rows belong to
                      another site */
} hy_claim;

/* Makes a queue without sides. hy_queue_add() copies the fields of `given` up to `depth`
   to a new side and returns it. */
void hy_queue_open(hy_queue *queue, const hy_profile *profile, int in_order);
hy_side *hy_queue_add(hy_queue *queue, const hy_side *given);

/* Claims rows for the site. Returns 0 if none are left for it, or if other sites will
   finish the rest sooner, unless `must` is 1. */
int hy_queue_claim(hy_queue *queue, int site, int must, hy_claim *out);

/* Called when the site has computed a chunk. `ns` is the present time, from
   hy_now_ns(). */
void hy_queue_done(hy_queue *queue, int site, const hy_chunk *chunk, int64_t ns);

/* ---- what queue.c and queue_take.c tell each other ---- */

int64_t hy_queue_work(const hy_chunk *chunk);

/* Returns rows [begin, end) of a chunk. What they gather is bounded by what the chunk
   gathers. */
hy_chunk hy_queue_rows(const hy_queue *queue, const hy_chunk *chunk, int64_t begin,
                       int64_t end);

/* Returns what is left of a site's chunk i. */
hy_chunk hy_queue_rest(const hy_queue *queue, const hy_side *c, int64_t i);

/* Returns the seconds that a site needs for that much work. */
double hy_queue_seconds(const hy_side *c, int64_t work);

/* Returns 1 if some other site can take what is left of the owner's rows and would finish
   sooner; `rest` would be the owner's next chunk. */
int hy_queue_leaves(const hy_queue *queue, const hy_side *owner, const hy_chunk *rest);

/* Takes rows of other sites for `taker`. Returns 0 if there are none that it would finish
   in time. */
int hy_queue_take(hy_queue *queue, hy_side *taker, hy_claim *out);

#endif /* HY_QUEUE_H */
