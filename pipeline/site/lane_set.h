/* pipeline/site/lane_set.h - what a site works with besides memory: lanes, marks and
   threads.

   To make them takes longer than a small product. So they outlive their site: the context
   keeps what is idle for the next one on the same backend. A lane set belongs to one site
   at a time, and only one whose lanes are idle and without an error is kept. */
#ifndef HY_LANE_SET_H
#define HY_LANE_SET_H

#include "base/contract/backend.h"
#include "pipeline/site/inbox.h"
#include "pipeline/run/stage.h"

/* Does the tasks that are put into its inbox. */
typedef struct hy_thread {
    pthread_t id;
    hy_inbox inbox;
    int started;
} hy_thread;

/* What was made of a kind; the first `used` are the site's. */
typedef struct hy_made {
    void **items;
    int used, count, room;
} hy_made;

typedef struct hy_lane_set {
    struct hy_lane_set *next; /* of the idle ones */
    int64_t call;             /* number of the last call that made parts of it (ctx->call) */
    hy_backend *backend;
    hy_lane *lanes[HY_LANES];     /* NULL where slots have their own, or there is none */
    hy_thread watchers[HY_LANES]; /* one for each lane whose marks the host waits for */
    hy_thread loader;             /* if B or X was ever loaded */
    hy_made marks, runs;          /* runs: lanes of slots */
    hy_buffer told, survey; /* if operands were ever surveyed: what the device tells the host,
                               pinned, and hy_surveying.work */
} hy_lane_set;

/* As traces and profilers print it: "h2d" on the first device, "h2d1" on the next. Static. */
typedef enum hy_lane_kind {
    HY_NAME_IN,
    HY_NAME_RUN,
    HY_NAME_OUT,
    HY_NAME_LOAD,
    HY_LANE_NAMES
} hy_lane_kind;
const char *hy_lane_name(hy_lane_kind kind, int device);

/* An idle lane set of that backend, or a new one. */
hybrid_status hy_lane_set_take(hy_context *ctx, hy_backend *backend, hy_lane_set **out);

/* The site needs it no more; with it go its marks and the lanes of its slots. `clean`:
   nothing has failed since its lanes were seen idle. NULL is fine. */
void hy_lane_set_give(hy_context *ctx, hy_lane_set *lane_set, int clean);

/* The site's until the lane set is given back. */
hybrid_status hy_lane_set_mark(hy_lane_set *lane_set, hy_mark **out);
hybrid_status hy_lane_set_run_lane(hy_lane_set *lane_set, hy_lane **out);

/* Set a mark of which nobody asks when it was reached. */
hybrid_status hy_mark_untimed(hy_lane *lane, hy_mark *mark);

/* Let the loader's thread run, if it does not yet. */
hybrid_status hy_lane_set_loader(hy_lane_set *lane_set);

/* Makes told, with so many bytes, and survey, unless they are there. */
hybrid_status hy_lane_set_survey(hy_lane_set *lane_set, size_t told_bytes);

/* Closes idle lane sets of which parts were made in call number `since` or later; 0 means
   all. */
void hy_lane_sets_trim(hy_context *ctx, int64_t since);

#endif /* HY_LANE_SET_H */
