/* pipeline/run/queue.h - the rows of a product, handed out to the sites that compute
   them.

   Each site has a cut of its own, since budgets and speeds differ, and claims rows at its
   boundaries.

   Where every row knows its place in the result, a site owns rows that follow each other,
   and claims chunks from their front. Who has none left, or never had any as the host,
   takes rows of others from their end, in pieces that its slots hold, if it will be done
   with them before their owner would: rows of B or X that they alone touch are never sent.

   What others took of a chunk is missing when its owner's turn comes: a chunk with fewer
   rows fits wherever the whole one did. Two kinds of chunks are not divided so: a gathered
   one, because others would have to count what it carries, and one whose pack stays on the
   device, which has it whole or not. Who takes such a chunk takes all of it, and computes
   it piece by piece.

   Where places follow from each other (in order), all sites claim from one front, each up
   to the next boundary of its own cut, and only what it will have counted when its turn
   comes: finished chunks wait in slots, and who has none free waits for the slower one. */
#ifndef HY_QUEUE_H
#define HY_QUEUE_H

#include "base/contract/backend.h"
#include "partition/pattern/chunks.h"

enum { HY_MOST_SITES = HY_MOST_DEVICES + 1 };

/* How a site takes rows of others; made by the plan. Work is products and rows. */
typedef struct hy_sharing {
    const hy_variant *variant;
    hy_rates rates;         /* of the site */
    int64_t products, rows; /* of a piece, at most; single rows may have more products */
    size_t slot_bytes;      /* what a piece may need */
    size_t pinned_bytes;    /* and in pinned memory; 0: it computes in place */
    double share;           /* of the work; < 0: as much as makes the run short */
    double device_rate, host_rate; /* predicted, work a second: of all devices together */
} hy_sharing;

/* How fast a site is. */
typedef struct hy_pace {
    double expected; /* work a second */
    int64_t flying;  /* work taken and not done */
    int64_t timed;   /* work done between these: */
    int64_t first_ns, last_ns;
} hy_pace;

/* A site's part in a run: of a device, or of the host, whether it computes all or takes rows
   of devices. */
typedef struct hy_side {
    struct hy_site *site;
    hy_image image;     /* how B or X lies there */
    hy_chunk_list list; /* at the boundaries of its cut; empty: it has no rows of its own */
    int64_t begin, end; /* of the list's rows, those that are its own; in order: all */
    const hy_sharing *sharing; /* how it takes rows of others; NULL: it does not */
    double rate;               /* predicted, work a second */
    int depth;                 /* chunks that it has in flight at most */

    /* the queue's */
    int64_t next, stop; /* chunks that are left; */
    int64_t row_begin,
        row_end;     /* of the first from this row on, of the last up to this */
    int64_t left;    /* work of its own that nobody took */
    int64_t taken;   /* work that it took of others, */
    int64_t given;   /* and others of it */
    hy_pace pace;
    hy_chunk claim; /* rows taken of others and not begun; may be none */

    /* the driver's */
    struct hy_run *run;
    int index;          /* among the queue's */
    int64_t begun;      /* chunks */
    int64_t next_lane;  /* chunk whose turn it is on the lanes */
    int64_t finished;   /* chunks */
    hy_problem problem; /* the run's, as it lies on this site */
} hy_side;

typedef struct hy_queue {
    const hy_profile *profile;
    int in_order;
    int64_t front;     /* in order: the first row that nobody claimed */
    int64_t all, left; /* work; left: what nobody claimed */
    int64_t claimed;   /* chunks and pieces; their ids */
    hy_side of[HY_MOST_SITES];
    int count;
} hy_queue;

/* What a site is to compute next. */
typedef struct hy_claim {
    hy_chunk chunk;
    int64_t index; /* in its list; the list's count if the rows are another's */
} hy_claim;

/* Opens a queue without sides. hy_queue_add() adds one, as it is given up to `depth`, and
   returns it. */
void hy_queue_open(hy_queue *queue, const hy_profile *profile, int in_order);
hy_side *hy_queue_add(hy_queue *queue, const hy_side *given);

/* 0: none is left for that site, or others will be done with the rest sooner, unless it
   `must`. */
int hy_queue_claim(hy_queue *queue, int site, int must, hy_claim *out);

/* The site has computed it, at that time. */
void hy_queue_done(hy_queue *queue, int site, const hy_chunk *chunk, int64_t ns);

/* ---- what queue.c and queue_take.c tell each other ---- */

int64_t hy_queue_work(const hy_chunk *chunk);

/* Rows [begin, end) of a chunk. What it gathers is no more than for all of its rows. */
hy_chunk hy_queue_rows(const hy_queue *queue, const hy_chunk *chunk, int64_t begin,
                       int64_t end);

/* What is left of a site's chunk i. */
hy_chunk hy_queue_rest(const hy_queue *queue, const hy_side *c, int64_t i);

/* Seconds in which a site does that much. */
double hy_queue_seconds(const hy_side *c, int64_t work);

/* Whether some other site can take what is left of the owner's rows, of which `rest` would be
   its next chunk, and had better. */
int hy_queue_leaves(const hy_queue *queue, const hy_side *owner, const hy_chunk *rest);

/* Rows of others for a site that has a way to take them. 0: none, or none that it would be
   done with in time. */
int hy_queue_take(hy_queue *queue, hy_side *taker, hy_claim *out);

#endif /* HY_QUEUE_H */
