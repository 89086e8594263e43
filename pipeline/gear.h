/* pipeline/gear.h - what a pipeline works with besides memory: lanes, marks and threads.

   To make them takes longer than a small product. So they outlive their pipeline: the
   context keeps what is idle for the next one on the same backend. A gear belongs to one
   pipeline at a time, and only one whose lanes are idle and without an error is kept. */
#ifndef HY_GEAR_H
#define HY_GEAR_H

#include "pipeline/slot.h"

/* Does one thing with each slot that is pushed into its queue. */
typedef struct hy_thread {
    pthread_t id;
    hy_slot_queue queue;
    void (*serve)(hy_slot *slot);
    int started;
} hy_thread;

/* What was made of a kind; the first `used` are the pipeline's. */
typedef struct hy_made {
    void **items;
    int used, count, room;
} hy_made;

typedef struct hy_gear {
    struct hy_gear *next; /* of the idle ones */
    hy_backend *backend;
    hy_lane *lanes[HY_LANES];     /* NULL where slots have their own, or there is none */
    hy_thread watchers[HY_LANES]; /* one for each lane whose marks the host waits for */
    hy_thread loader;
    hy_made marks, runs; /* runs: lanes of slots */
} hy_gear;

/* An idle gear of that backend, or a new one. */
hybrid_status hy_gear_take(hy_context *ctx, hy_backend *backend, hy_gear **out);

/* The pipeline needs it no more; with it go its marks and the lanes of its slots. `clean`:
   nothing has failed since its lanes were seen idle. NULL is fine. */
void hy_gear_give(hy_context *ctx, hy_gear *gear, int clean);

/* The pipeline's until the gear is given back. */
hybrid_status hy_gear_mark(hy_gear *gear, hy_mark **out);
hybrid_status hy_gear_run_lane(hy_gear *gear, hy_lane **out);

/* Set a mark of which nobody asks when it was reached. */
hybrid_status hy_mark_untimed(hy_lane *lane, hy_mark *mark);

/* Let the loader's thread run, if it does not yet: it calls `load` for each slot. */
hybrid_status hy_gear_loader(hy_gear *gear, void (*load)(hy_slot *slot));

/* Close all that are idle. */
void hy_gears_trim(hy_context *ctx);

#endif /* HY_GEAR_H */
