/* pipeline/run/driver.h - issue, watch, collect; the first error stops all.

   The thread that calls hy_drive() drives a run. It claims chunks as slots become free (that
   is the back-pressure), enqueues lane stages in order of chunks, and hands a slot

       to the pool       for a stage on the CPU;
       to the watcher    of the lane on which its last stage runs, when what follows
                         needs the host to know that it has finished.

   Both give it back through the run's inbox, in which the loader says, too, that rows are
   there that a chunk waits for. One watcher a lane that the host waits for, because marks of
   one lane are reached in the order in which they were set.

   On a site where nothing goes on beside a chunk (hy_site_by_caller()) the thread does all
   stages itself: there are no lane set, no inbox and no marks. */
#ifndef HY_DRIVER_H
#define HY_DRIVER_H

#include "pipeline/run/queue.h"
#include "pipeline/site/site.h"
#include "pipeline/run/trace.h"

/* One product on one or more sites, each with slots and lanes of its own; queue, inbox and
   sink are the run's. The sides are the queue's. */
typedef struct hy_run {
    hy_context *ctx;
    hy_sink *sink;
    hy_tracer tracer;
    hy_queue queue;
    hy_inbox inbox;
    int64_t reserved_rows;    /* of the result, if its parts are reserved in order */
    int64_t reserved, stored; /* parts that are; by the driver, if it is who stores */
    hybrid_status status; /* of the first error */
    int stopped;
} hy_run;

/* All chunks of the queue through all stages, or those that are begun to where they are
   when something fails. */
void hy_drive(hy_run *run);

/* Nothing more is issued. */
void hy_run_stop(hy_run *run, hybrid_status status);

/* Blocks of the image, the first ones, that no chunk needs any more. */
int64_t hy_side_passed(const hy_side *side);

static inline int hy_run_stopped(const hy_run *run)
{
    return __atomic_load_n(&run->stopped, __ATOMIC_ACQUIRE);
}

/* ---- driver_slot.c, for the driver ---- */

/* Take the slot through its stages until somebody else has it or the chunk is done. */
hybrid_status hy_slot_advance(hy_slot *slot);

/* Whether the slot's next stage may begin, which waits for others: of its site, or of the
   run. */
int hy_slot_may_go_on(const hy_slot *slot);

/* The calling thread does a stage. */
hybrid_status hy_slot_do(hy_slot *slot, const hy_stage *stage);

/* The chunk is done. */
hybrid_status hy_slot_finish(hy_slot *slot);

/* The slot is free, its chunk done or dropped. */
void hy_slot_release(hy_slot *slot);

#endif /* HY_DRIVER_H */
