/* host/backend/host_lane.h - lanes of the host, and scratch memory that outlives them. */
#ifndef HY_HOST_LANE_H
#define HY_HOST_LANE_H

#include "base/contract/backend.h"
#include "base/data/value_type.h"
#include "base/threads/pool.h"

/* Kinds of scratch memory. Each worker has one workspace of each kind. The code that uses
   a kind decides what it holds between uses. */
typedef enum hy_scratch_kind {
    HY_SCRATCH_TERMS,
    HY_SCRATCH_MORE_TERMS,
    HY_SCRATCH_MARKS,
    HY_SCRATCH_HASH,
    HY_SCRATCH_SORT,
    HY_SCRATCH_SUMS,
    HY_SCRATCH_HUGE_TERMS,
    HY_SCRATCH_HUGE_PRODUCTS,
    HY_SCRATCH_DENSE, /* for the first value type; the next HY_TYPE_COUNT - 1 kinds are
                         for the other types */
    HY_SCRATCH_RECIPES = HY_SCRATCH_DENSE + HY_TYPE_COUNT, /* likewise */
    HY_SCRATCHES       = HY_SCRATCH_RECIPES + HY_TYPE_COUNT
} hy_scratch_kind;

/* Returns the kind for values of `type`, where `first` is that for the first value type:
   HY_SCRATCH_DENSE or HY_SCRATCH_RECIPES. */
static inline hy_scratch_kind hy_scratch_of(hy_scratch_kind first, hybrid_type type)
{
    return (hy_scratch_kind)((int)first + hy_type_index(type));
}

typedef hybrid_status (*hy_host_fn)(hy_lane *lane, void *arg);

/* Queues fn(arg) behind all earlier work of the lane; a worker calls it. On a lane of the
   caller's thread `fn` runs at once. `arg` must stay valid until `fn` has returned.

   After a failure the lane skips later calls, still reaches its marks, and host_wait()
   reports the error. A reported error is cleared once the lane has no entry left. */
hybrid_status hy_host_enqueue(hy_lane *lane, hy_host_fn fn, void *arg);

/* Returns in *out scratch memory of this kind for the calling worker, or for the thread
   that computes on its own lane: at least `bytes` bytes, aligned to 64 bytes. The next
   call for the same thread and kind finds the contents unchanged, whatever its lane.
   *fresh is 0 in this case. If the memory was newly allocated, *fresh is its size in
   bytes, at least `bytes`, and the contents are undefined. Fails with NO_MEMORY and a
   sentence. */
hybrid_status hy_host_workspace(hy_lane *lane, hy_scratch_kind kind, size_t bytes,
                                void **out, size_t *fresh);

/* ---- between host_backend.c and host_lane.c -------------------------------- */

extern const hy_backend_ops hy_host_backend_ops;

/* Floating-point operations of a core in a cycle, as hy_rates.flops counts them: two for
   each of 8 fused multiply-adds. */
enum { HY_HOST_CYCLE_FLOPS = 2 * 8 };

typedef struct hy_host_backend {
    hy_backend       base;
    int              threads, most_threads; /* threads: number of workers that usually
                                               compute; most_threads: number with the
                                               reserve, workers that sleep until they are
                                               called (hy_pool_create()) */
    char             text[128];
    pthread_mutex_t  lock;    /* guards `pooled` */
    hy_lane          caller_lane;
    struct hy_workspace *scratch; /* (most_threads + 1) * HY_SCRATCHES workspaces,
                                     HY_SCRATCHES for each worker; the last HY_SCRATCHES
                                     belong to the thread that calls the library */
    struct hy_host_block *pooled; /* list of freed buffers, to be used again */
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

/* host_measure.c: measures the speeds of this machine (hy_backend_ops.measure) */
hybrid_status hy_host_measure(hy_backend *self, hy_measured *out);

/* host_scratch.c: hy_host_scratch_trim() frees the workspaces that grew in public call
   number `since` or later; 0 means all. No lane may work meanwhile. */
hybrid_status hy_host_scratch_open(hy_host_backend *self);
void          hy_host_scratch_trim(hy_host_backend *self, int64_t since);
void          hy_host_scratch_close(hy_host_backend *self);

#endif /* HY_HOST_LANE_H */
