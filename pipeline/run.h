/* pipeline/run.h - one product: issue, watch, collect; the first error stops all.

   The thread that calls hy_run_product() drives. It takes chunks from the front of the
   queue as slots become free (that is the back-pressure), enqueues lane stages in order of
   chunks, and hands a slot

       to the pool       for a stage on the CPU;
       to the watcher    of the lane on which its last stage runs, when what follows
                         needs the host to know that it has finished.

   Both give it back through the run's inbox. One watcher a lane that the host waits for,
   because marks of one lane are reached in the order in which they were set.

   A run has one or two sites, each with slots and lanes of its own; queue, driver, inbox
   and the place in C are the run's. The second site is the host, which helps a device. */
#ifndef HY_RUN_H
#define HY_RUN_H

#include "pipeline/queue.h"
#include "pipeline/site.h"
#include "pipeline/trace.h"

struct hy_run;

/* A site's part in a run. */
typedef struct hy_side {
    struct hy_run *run;
    hy_site *site;
    int64_t next;      /* chunks begun */
    int64_t next_lane; /* chunk whose turn it is on the lanes */
    int64_t finished;
    int turns; /* Y is transposed by the device (turned.h) */
} hy_side;

enum { HY_SIDES = 2 };

/* Who takes part. `host` is NULL, and `sharing` with it, where `device` is alone; the host
   alone is the `device` that computes in place. */
typedef struct hy_sites {
    hy_site *device, *host;
    const hy_sharing *sharing;
} hy_sites;

typedef struct hy_run {
    hy_context *ctx;
    const hy_problem *problem;
    hy_place *place; /* of SpGEMM, else NULL */
    hy_tracer tracer;
    hy_queue queue;
    hy_inbox inbox;
    hy_side sides[HY_SIDES];
    int side_count;
    hybrid_status status; /* of the first error */
    int stopped;
} hy_run;

/* Whether the side is the host's that helps a device. */
static inline int hy_side_helps(const hy_side *side)
{
    return side != side->run->sides;
}

/* Walk all chunks of the list, which are those that the sites were made for, through all
   stages. `place` is for SpGEMM, else NULL. Events go to
   `trace` (may be NULL); times and bytes are added to `report`. */
hybrid_status hy_run_product(const hy_sites *sites, const hy_chunk_list *list,
                             hy_problem *problem, hy_place *place,
                             hybrid_trace_fn trace, void *user, hybrid_report *report);

#endif /* HY_RUN_H */
