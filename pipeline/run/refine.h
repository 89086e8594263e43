/* pipeline/run/refine.h - cuts the chunks of a site while earlier ones are under way.

   The chunks of a plan that was made from a sample are estimates. For each of them a task
   of the pool counts its rows and turns it into exact chunks (exact.h). The tasks are
   queued in the order of the chunks, and run ahead of the driver. Each returns through
   the inbox of the run, and the driver appends its chunks to the site's list once all
   tasks before it have returned.

   A ring of entries keeps the last `span` entries (hy_image) before the last row of B
   that any chunk so far has touched. Which rows the loader may replace therefore follows
   from the chunks so far, whatever later rows of A touch. A chunk that touches a row
   before the kept ones, or one more than `span` entries beyond them, gathers. */
#ifndef HY_REFINE_H
#define HY_REFINE_H

#include "pipeline/run/exact.h"
#include "pipeline/run/queue.h"

typedef struct hy_refine_part hy_refine_part;

typedef struct hy_refine {
    hy_exact exact;
    hy_queue *queue;
    hy_inbox *inbox;
    const int *stopped;   /* the run's flag: tasks then do nothing */
    hy_refine_part *parts; /* a task for each planned chunk */
    int64_t count;        /* number of planned chunks; 0: the site's chunks are exact */
    int64_t appended;     /* number of planned chunks whose exact chunks are in the list */
    int64_t out;          /* number of tasks that have not returned */
    hy_chunk_array chunks;  /* the site's list */
    int holds;              /* 1: `held` is an exact chunk that is not in the list yet */
    hy_chunk held;
    int64_t far, ring_begin;      /* ring of entries: end of the rows of B that chunks so far
                               touch, and first row that the ring keeps for later chunks */
    int64_t products;       /* scalar products of the chunks in the list */
} hy_refine;

/* Begins to cut the chunks of the queue's only site if the site has planned chunks
   (hy_site.planned). Otherwise there is nothing to do. hy_refine_end() must be called also
   after a failure. */
hybrid_status hy_refine_begin(hy_refine *refine, hy_queue *queue, hy_inbox *inbox,
                             const int *stopped);

/* Returns 1 if the task, which came through the inbox, belongs to `refine`. The driver
   then calls hy_refine_take(), which appends the chunks that are ready. */
int hy_refine_has(const hy_refine *refine, const hy_task *task);
hybrid_status hy_refine_take(hy_refine *refine, hy_task *task);

/* Frees all memory, and empties the site's list. All tasks must have returned. */
void hy_refine_end(hy_refine *refine);

#endif /* HY_REFINE_H */
