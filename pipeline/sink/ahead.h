/* pipeline/sink/ahead.h - idle workers make pages of C ready before they are written.

   Pages that were used before are pinned, so that the device copies to them directly;
   fresh ones are touched. Both only while nobody has anything better to do, until somebody
   is about to write to fresh pages. */
#ifndef HY_AHEAD_H
#define HY_AHEAD_H

#include "base/threads/pool.h"
#include "base/memory/results.h"

enum { HY_AHEAD_TASKS = 16 }; /* most workers at once */

struct hy_ahead;

typedef struct hy_ahead_task {
    hy_task task; /* first: the pool hands it back */
    struct hy_ahead *ahead;
} hy_ahead_task;

typedef struct hy_ahead {
    hy_context *ctx;
    const hy_span *col, *val; /* borrowed until hy_ahead_stop() */
    size_t col_size, size;    /* bytes of a column and of a value */
    int64_t next;             /* step to be drawn, atomically */
    int64_t pins, touches;    /* steps that pin, then steps that touch */
    int64_t touch_first;      /* piece that the first of these touches */
    int submitted, done, stop;
    hy_ahead_task tasks[HY_AHEAD_TASKS];
} hy_ahead;

/* Begin for the first `expected` entries of both spans. Of pages that were used before, a
   quarter more are pinned: copies to what is not go another way, and cost more. None are if
   columns have 8 bytes: workers store those. */
void hy_ahead_start(hy_ahead *ahead, hy_context *ctx, const hy_span *col,
                    const hy_span *val, size_t col_size, size_t value_size,
                    int64_t expected);

/* So many entries are about to be written by all workers: touch what nobody is at of the
   fresh pages that are expected, once no pages are left to be pinned. */
hybrid_status hy_ahead_reach(hy_ahead *ahead, int64_t entries);

/* Returns when no worker is at it. Harmless when repeated. */
void hy_ahead_stop(hy_ahead *ahead);

#endif /* HY_AHEAD_H */
