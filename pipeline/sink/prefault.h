/* pipeline/sink/prefault.h - idle workers prepare pages of C before results are stored in
   them.

   First, workers pin pages that were used before, so that the device copies to them
   directly. Then they touch new pages, which makes them present. They do both only while
   they have no other task. Before entries are stored, hy_prefault_reach() lets all
   workers touch those of the entries' new pages that are still untouched.

   With several devices one worker pins all pages (hy_results_pin_alone()). */
#ifndef HY_PREFAULT_H
#define HY_PREFAULT_H

#include "base/threads/pool.h"
#include "base/memory/results.h"

enum { HY_PREFAULT_TASKS = 16 }; /* maximum number of workers at once */
enum { HY_HOMES_DIFFER = -1 };   /* in place of a home: devices have different homes */

struct hy_prefault;

typedef struct hy_prefault_task {
    hy_task task; /* task for the pool; must be first, because its function casts the task
                     to this struct */
    struct hy_prefault *prefault;
} hy_prefault_task;

typedef struct hy_prefault {
    hy_context *ctx;
    const hy_span *col, *val; /* borrowed until hy_prefault_stop() */
    size_t col_size, size;    /* bytes of a column and of a value */
    int64_t next;             /* number of the next step that a worker will do; atomic. A
                                 step pins one piece, or touches TOUCH_ENTRIES entries */
    int64_t pins, touches;    /* number of steps that pin pages, and number of later steps
                                 that touch pages */
    int64_t by_idle;          /* number of leading steps that idle workers do */
    int64_t touch_first;      /* the first touching step begins at entry touch_first *
                                 TOUCH_ENTRIES */
    int reaches; /* 1: hy_prefault_reach() lets workers touch pages */
    int submitted, done, stop;
    hy_prefault_task tasks[HY_PREFAULT_TASKS];
} hy_prefault;

/* Begins to prepare pages for the first `expected` entries of both spans. Pages that were
   used before are pinned for a quarter more entries, because a copy to pages that are not
   pinned costs more. If columns have 8 bytes, nothing is pinned: workers store these
   columns.

   `home` is the home (hy_backend_home()) of the devices that compute C: fresh pages come
   from its NUMA node. With HY_HOMES_DIFFER, hy_prefault_place() says where each part's
   pages come from, and no new page is touched before hy_prefault_reach(). */
void hy_prefault_start(hy_prefault *prefault, hy_context *ctx, const hy_span *col,
                       const hy_span *val, size_t col_size, size_t value_size,
                       int64_t expected, int home);

/* Asks for the fresh pages of entries [begin, end) from the NUMA node of `home`; does
   nothing if that is 0. */
void hy_prefault_place(const hy_prefault *prefault, int64_t begin, int64_t end, int home);

/* Called before the first `entries` entries are stored. Lets all workers touch the
   expected new pages of these entries that no worker has begun. Does nothing while pages
   are still being pinned. */
hybrid_status hy_prefault_reach(hy_prefault *prefault, int64_t entries);

/* Stops preparing pages, and returns when no worker is in a step. A second call does
   nothing. */
void hy_prefault_stop(hy_prefault *prefault);

#endif /* HY_PREFAULT_H */
