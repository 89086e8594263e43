/* pipeline/site/lane_set.h - lanes, marks and threads of a site.

   Creating them takes longer than a small product, so they outlive their site: the
   context keeps idle lane sets for the next site of the same backend. A lane set belongs
   to one site at a time. The context keeps it only if its lanes are idle and none has
   failed. */
#ifndef HY_LANE_SET_H
#define HY_LANE_SET_H

#include "base/contract/backend.h"
#include "pipeline/site/inbox.h"
#include "pipeline/run/stage.h"

/* A thread that executes the tasks of its inbox. */
typedef struct hy_thread {
    pthread_t id;
    hy_inbox inbox;
    const struct hy_backend *backend; /* the thread runs on the NUMA node of this device */
    int started;
} hy_thread;

/* Marks, or run lanes of slots, in a growing array. The site uses the first `used` of
   `count`. */
typedef struct hy_made {
    void **items;
    int used, count, room;
} hy_made;

typedef struct hy_lane_set {
    struct hy_lane_set *next; /* next idle lane set of the context */
    int64_t call;             /* number of the last public call (ctx->call) that created a
                                 lane, mark or thread of this set */
    hy_backend *backend;
    hy_lane *lanes[HY_LANES];     /* lanes that all slots share. An element is NULL if
                                     every slot has its own lane instead, or if the
                                     backend has no such lane. */
    hy_lane *peer;                /* lane of copies from other devices; NULL until
                                     hy_lane_set_peer() */
    hy_thread watchers[HY_LANES]; /* watchers: one thread for each lane with marks for
                                     which the host waits */
    hy_thread loader;             /* started when B or X is loaded for the first time */
    hy_made marks, runs;          /* `marks`: marks of the site; `runs`: run lanes that
                                     single slots have for themselves */
    hy_buffer told, survey; /* buffers for surveys, in which a device counts what planning
                               needs to know about operands in its memory; empty until the
                               first survey. `told`: pinned memory that receives the
                               numbers. `survey`: hy_surveying.work, followed by the
                               gate. */
} hy_lane_set;

/* Kinds of lanes, by what they carry. hy_lane_name() returns the name of a lane in traces
   and profilers: for packs "h2d" on the first device, "h2d1" on the second, and so on.
   The string is static. */
typedef enum hy_lane_kind {
    HY_NAME_IN,   /* packs of chunks, to the device */
    HY_NAME_RUN,  /* kernels */
    HY_NAME_OUT,  /* results of chunks, to the host */
    HY_NAME_LOAD, /* B or X, to the device */
    HY_NAME_PEER, /* B or X, from another device */
    HY_NAME_PIN,  /* no copies: when the device's pinned memory was allocated */
    HY_LANE_NAMES
} hy_lane_kind;
const char *hy_lane_name(hy_lane_kind kind, int device);

/* Takes an idle lane set of the backend, or creates one. */
hybrid_status hy_lane_set_acquire(hy_context *ctx, hy_backend *backend,
                                  hy_lane_set **out);

/* Returns the lane set to the context, with its marks and the lanes of its slots. `clean`
   is 1 if no call has failed since its lanes were last idle. The lane set is closed if
   `clean` is 0, or if the context has enough idle ones of this backend. Does nothing if
   lane_set is NULL. */
void hy_lane_set_release(hy_context *ctx, hy_lane_set *lane_set, int clean);

/* Set *out to a mark or a run lane, which the site may use until it releases the lane
   set. */
hybrid_status hy_lane_set_mark(hy_lane_set *lane_set, hy_mark **out);
hybrid_status hy_lane_set_run_lane(hy_lane_set *lane_set, hy_lane **out);

/* Sets a mark. The caller will not ask for its time (mark_ns() of hy_backend_ops). */
hybrid_status hy_mark_untimed(hy_lane *lane, hy_mark *mark);

/* Opens the lane of copies from other devices unless it is open. */
hybrid_status hy_lane_set_peer(hy_lane_set *lane_set);

/* Starts the loader's thread unless it runs. */
hybrid_status hy_lane_set_loader(hy_lane_set *lane_set);

/* Unless they exist, allocates `told`, with `told_bytes` bytes, and `survey`, and
   enqueues work that sets `survey` to 0. */
hybrid_status hy_lane_set_survey(hy_lane_set *lane_set, size_t told_bytes);

/* Returns the gate of surveys (hy_surveying.gate), which lies behind the work memory. */
int *hy_lane_set_gate(const hy_lane_set *lane_set);

/* Closes the idle lane sets for which public call number `since` or a later one created a
   lane, mark or thread. 0 closes all idle lane sets. */
void hy_lane_sets_trim(hy_context *ctx, int64_t since);

#endif /* HY_LANE_SET_H */
