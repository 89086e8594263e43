/* pipeline/sink/prefault.h - idle workers prepare pages of C before they are written.

   First, pages that were used before are pinned, so that the device copies to them
   directly. Then new pages are touched. Workers do both only while they have no other
   task. Before entries are stored, hy_prefault_reach() lets all workers touch those of
   their new pages that are still untouched. */
#ifndef HY_PREFAULT_H
#define HY_PREFAULT_H

#include "base/threads/pool.h"
#include "base/memory/results.h"

enum { HY_PREFAULT_TASKS = 16 }; /* maximum workers at once */

struct hy_prefault;

typedef struct hy_prefault_task {
    hy_task task; /* first member; the pool returns it */
    struct hy_prefault *prefault;
} hy_prefault_task;

typedef struct hy_prefault {
    hy_context *ctx;
    const hy_span *col, *val; /* borrowed until hy_prefault_stop() */
    size_t col_size, size;    /* bytes of a column and of a value */
    int64_t next;             /* next step to do; atomic */
    int64_t pins, touches;    /* number of steps that pin; number of steps after them that
                                 touch */
    int64_t touch_first;      /* index of the first TOUCH_ENTRIES entries that are
                                 touched, in units of TOUCH_ENTRIES */
    int submitted, done, stop;
    hy_prefault_task tasks[HY_PREFAULT_TASKS];
} hy_prefault;

/* Begins for the first `expected` entries of both spans. Pages used before are pinned for
   a quarter more entries, because a copy to pages that are not pinned costs more. Nothing
   is pinned if columns have 8 bytes, because workers store those. */
void hy_prefault_start(hy_prefault *prefault, hy_context *ctx, const hy_span *col,
                       const hy_span *val, size_t col_size, size_t value_size,
                       int64_t expected);

/* Lets all workers touch the expected new pages of the first `entries` entries that no
   worker has begun, because these are about to be written. Does nothing while pages are
   still being pinned. */
hybrid_status hy_prefault_reach(hy_prefault *prefault, int64_t entries);

/* Stops, and returns when no worker is at a step. A second call does nothing. */
void hy_prefault_stop(hy_prefault *prefault);

#endif /* HY_PREFAULT_H */
