/* host/backend/host_lane.h - work in order on the pool, and scratch that outlives it. */
#ifndef HY_HOST_LANE_H
#define HY_HOST_LANE_H

#include "base/contract/backend.h"
#include "base/threads/pool.h"

/* Workspaces of a worker. What a kind holds between uses is the business
   of the code that uses it. */
typedef enum hy_scratch_kind {
    HY_SCRATCH_TERMS,
    HY_SCRATCH_MORE_TERMS,
    HY_SCRATCH_DENSE_F32,
    HY_SCRATCH_DENSE_F64,
    HY_SCRATCH_MARKS,
    HY_SCRATCH_HASH,
    HY_SCRATCH_SORT,
    HY_SCRATCH_SUMS,
    HY_SCRATCH_HUGE_TERMS,
    HY_SCRATCH_HUGE_PRODUCTS,
    HY_SCRATCH_RECIPES_F32,
    HY_SCRATCH_RECIPES_F64,
    HY_SCRATCHES
} hy_scratch_kind;

typedef hybrid_status (*hy_host_fn)(hy_lane *lane, void *arg);

/* Run `fn` on a worker after everything enqueued before; in the caller's lane at once.
   `arg` is borrowed until then. After a failure the rest is skipped; marks are still reached, and report it
   through host_wait. The error leaves the lane when it was reported and nothing is
   left to do. */
hybrid_status hy_host_enqueue(hy_lane *lane, hy_host_fn fn, void *arg);

/* Scratch of this kind for the worker that calls, or the thread that uses the caller's lane: at least `bytes`, 64-byte aligned, kept
   with its contents for the next call, whichever lane that is for. *fresh: how many bytes
   were just allocated, and hold nothing yet (all, and perhaps more than asked for), or 0. */
hybrid_status hy_host_workspace(hy_lane *lane, hy_scratch_kind kind, size_t bytes, void **out,
                                size_t *fresh);

/* ---- between host_backend.c and host_lane.c -------------------------------- */

extern const hy_backend_ops hy_host_backend_ops;

enum { HY_HOST_CYCLE_FLOPS = 2 * 8 }; /* of a core, as hy_rates.flops counts */

typedef struct hy_host_backend {
    hy_backend       base;
    int              threads, most_threads; /* workers, without and with the reserve */
    char             text[128];
    pthread_mutex_t  lock;    /* of kept */
    hy_lane          caller_lane;
    struct hy_workspace *scratch; /* (most_threads + 1) * HY_SCRATCHES: the last are the caller's */
    struct hy_host_block *kept;  /* freed buffers */
} hy_host_backend;

hybrid_status hy_host_lane_open(hy_backend *self, const char *name, int urgent,
                                hy_lane **out);
void          hy_host_lane_close(hy_lane *lane);
void          hy_host_lane_drain(hy_lane *lane);
hybrid_status hy_host_mark_new(hy_backend *self, hy_mark **out);
void          hy_host_mark_free(hy_mark *mark);
hybrid_status hy_host_mark_set(hy_lane *lane, hy_mark *mark);
hybrid_status hy_host_lane_wait(hy_lane *lane, hy_mark *mark);
hybrid_status hy_host_wait(hy_mark *mark);
int64_t       hy_host_mark_ns(const hy_mark *mark);

/* host_measure.c */
hybrid_status hy_host_measure(hy_backend *self, hy_measured *out);

/* host_scratch.c. Trimming frees workspaces that grew in call number `since` or later; 0
   means all. No lane works. */
hybrid_status hy_host_scratch_open(hy_host_backend *self);
void          hy_host_scratch_trim(hy_host_backend *self, int64_t since);
void          hy_host_scratch_close(hy_host_backend *self);

#endif /* HY_HOST_LANE_H */
