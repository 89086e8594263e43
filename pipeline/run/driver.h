/* pipeline/run/driver.h - the loop that takes chunks through their stages.

   The thread that calls hy_drive() drives a run. It claims a chunk when a slot is free,
   which limits the work in flight. It enqueues stages on lanes in the order of chunks,
   and hands a slot

       to the pool       for a stage on the CPU;
       to the watcher    of a lane, if the host must know that the lane is done before
                         the next stage begins.

   Both return the slot through the run's inbox. The loader uses the inbox as well, to
   announce rows of B or X that a chunk waits for. Each such lane has one watcher, because
   marks of a lane are reached in the order in which they were set.

   If the site has a single slot and computes in place (hy_site_by_caller()), the driving
   thread does all stages itself, without a lane set, an inbox or marks. */
#ifndef HY_DRIVER_H
#define HY_DRIVER_H

#include "pipeline/load/load.h"
#include "pipeline/run/refine.h"
#include "pipeline/run/queue.h"
#include "pipeline/site/site.h"
#include "pipeline/run/trace.h"

/* One product on one or more sites. Each site has its own slots and lanes; all sites
   share the run's queue, inbox and sink. */
typedef struct hy_run {
    hy_context *ctx;
    hy_sink *sink;
    hy_tracer tracer;
    hy_queue queue;
    hy_refine refine; /* cuts chunks while earlier ones are under way */
    hy_inbox inbox;
    hy_relay relay; /* state of devices that load the same image together (load.h) */
    int64_t reserved_rows;    /* if the sink is in order: number of leading rows of the
                                 result whose parts are reserved */
    int64_t reserved, stored; /* number of parts that are reserved, and number of parts
                                 that the driver has stored */
    hybrid_status status; /* status of the first error */
    int stopped;
} hy_run;

/* Takes all chunks of the queue through all stages. After an error, no chunk enters
   another stage. */
void hy_drive(hy_run *run);

/* Records the first error and stops the run: no further chunk or stage begins. */
void hy_run_stop(hy_run *run, hybrid_status status);

/* Returns the number of leading blocks of the site's image that none of its chunks needs
   any longer. */
int64_t hy_site_passed(const hy_site *site);

static inline int hy_run_stopped(const hy_run *run)
{
    return __atomic_load_n(&run->stopped, __ATOMIC_ACQUIRE);
}

/* ---- driver_slot.c, for the driver ---- */

/* Takes the slot through its stages until another thread has it or the chunk is done. */
hybrid_status hy_slot_advance(hy_slot *slot);

/* Returns 1 if the slot's next stage may begin, 0 if it must wait for other chunks of the
   site or of the run. */
int hy_slot_may_go_on(const hy_slot *slot);

/* Runs a stage of the slot's chunk in the calling thread. */
hybrid_status hy_slot_do(hy_slot *slot, const hy_stage *stage);

/* Called when all stages of the slot's chunk are done: adds the chunk to progress and
   report, and makes the slot free. */
hybrid_status hy_slot_finish(hy_slot *slot);

/* Makes the slot free, after its chunk was done or dropped. */
void hy_slot_release(hy_slot *slot);

#endif /* HY_DRIVER_H */
