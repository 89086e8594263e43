/* pipeline/run.h - the driver: issue, watch, collect; the first error stops all.

   The thread that calls hy_pipeline_run() drives. It takes chunks from the front of
   the list as slots become free (that is the back-pressure), enqueues lane stages in
   order of chunks, and hands a slot

       to the pool       for a stage on the CPU;
       to the watcher    of the lane on which its last stage runs, when what follows
                         needs the host to know that it has finished.

   Both give it back through the driver's inbox. One watcher a lane that the host
   waits for, because marks of one lane are reached in the order in which they were set.

   The host can help a device: then its pipeline, which computes in place, has slots and a
   watcher of its own, but deck, driver and inbox are the device's. */
#ifndef HY_RUN_H
#define HY_RUN_H

#include "pipeline/deck.h"
#include "pipeline/gear.h"
#include "pipeline/keep.h"
#include "pipeline/load.h"
#include "pipeline/slot.h"
#include "pipeline/trace.h"

typedef struct hy_pipeline {
    hy_context *ctx;
    hy_backend *backend;
    hy_rates rates;
    const hy_stage *stages;
    const hy_chunk *chunks; /* the plan's */
    int64_t count;
    int64_t ranges;    /* chunks of a panel of columns; count: there is one */
    hy_gear *gear;     /* lanes and watchers */
    hy_loader *loader; /* of B or X on the device; NULL if it is not resident */
    hy_keeper keeper;  /* of A */
    hy_slot *slots;
    int depth;
    hy_buffer device, pinned; /* of all slots */
    size_t turned_room; /* set by who opens it: hy_turned_room() */
    hy_buffer turned;   /* on the device: room for a part of Y in columns; may be none */
    int turns;          /* Y of this run goes so */
    struct hy_pipeline *lead; /* whose driver this is: itself, or the device's */
    struct hy_pipeline *crew; /* that helps in the next run; NULL */
    const hy_sharing *sharing;
    int failed; /* a run did, or one of its lead: lanes may be in any state */

    /* of one run; a crew has its lead's problem, place and tracer */
    const hy_problem *problem;
    hy_place *place;
    hy_tracer tracer;
    hy_slot_queue inbox;
    hy_deck deck;
    int64_t next;      /* chunks begun */
    int64_t next_lane; /* chunk whose turn it is on the lanes */
    int64_t finished;
    hybrid_status status; /* of the first error */
    int stopped;
} hy_pipeline;

/* A gear, `depth` slots for any of the chunks, and `shared_bytes` on the device.
   `chunks` is borrowed until close. `early` may be NULL, or a loader of the backend, with
   so many bytes, that has begun with what the run will need: it and its gear are the
   pipeline's then. On failure nothing is held, and `early` is the caller's as before. */
hybrid_status hy_pipeline_open(hy_backend *backend, const hy_rates *rates, hy_op op,
                               const hy_chunk *chunks, int64_t count, int depth,
                               size_t shared_bytes, hy_loader *early, hy_pipeline **out);
void hy_pipeline_close(hy_pipeline *pipeline); /* NULL is fine */

/* Walk all chunks through all stages. `place` is for SpGEMM, else NULL. Events go to
   `trace` (may be NULL); times and bytes are added to `report`. */
hybrid_status hy_pipeline_run(hy_pipeline *pipeline, hy_problem *problem, hy_place *place,
                              hybrid_trace_fn trace, void *user, hybrid_report *report);

#endif /* HY_RUN_H */
