/* pipeline/sink/prefault.h - idle workers make pages of C ready before they are written.

   Pages that were used before are pinned, so that the device copies to them directly;
   fresh ones are touched. Both only while nobody has anything better to do, until somebody
   is about to write to fresh pages. */
#ifndef HY_PREFAULT_H
#define HY_PREFAULT_H

#include "base/threads/pool.h"
#include "base/memory/results.h"

enum { HY_AHEAD_TASKS = 16 }; /* most workers at once */

struct hy_prefault;

typedef struct hy_prefault_task {
    hy_task task; /* first: the pool hands it back */
    struct hy_prefault *ahead;
} hy_prefault_task;

typedef struct hy_prefault {
    hy_context *ctx;
    const hy_span *col, *val; /* borrowed until hy_prefault_stop() */
    size_t col_size, size;    /* bytes of a column and of a value */
    int64_t next;             /* step to be drawn, atomically */
    int64_t pins, touches;    /* steps that pin, then steps that touch */
    int64_t touch_first;      /* piece that the first of these touches */
    int submitted, done, stop;
    hy_prefault_task tasks[HY_AHEAD_TASKS];
} hy_prefault;

/* Begin for the first `expected` entries of both spans. Of pages that were used before, a
   quarter more are pinned: copies to what is not go another way, and cost more. None are if
   columns have 8 bytes: workers store those. */
void hy_prefault_start(hy_prefault *ahead, hy_context *ctx, const hy_span *col,
                    const hy_span *val, size_t col_size, size_t value_size,
                    int64_t expected);

/* Whether workers that have nothing better to do would still find something. */
int hy_prefault_goes_on(const hy_prefault *ahead);

/* So many entries are about to be written by all workers: touch what nobody is at of the
   fresh pages that are expected, once no pages are left to be pinned. */
hybrid_status hy_prefault_reach(hy_prefault *ahead, int64_t entries);

/* Returns when no worker is at it. Harmless when repeated. */
void hy_prefault_stop(hy_prefault *ahead);

#endif /* HY_PREFAULT_H */
