/* base/contract/state.h - the state that every layer of one engine shares: one struct for each module
   of base/ that keeps some, and hy_context, which holds them. */
#ifndef HY_STATE_H
#define HY_STATE_H

#include <pthread.h>

#include "base/memory/meter.h"
#include "base/text/progress.h"
#include "hybrid_spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hy_backend;
struct hy_lane_set;
struct hy_tenant;
typedef struct hy_pool hy_pool;
typedef struct hy_results hy_results;

typedef struct hy_memory {
    hybrid_allocator allocator;
    hy_meter meter;   /* host bytes: this allocator's and the results' */
    int strict;       /* the cap is the caller's: no page is touched that is not counted,
                         and large arrays that are freed go back to the system at once, so
                         that what is resident follows the meter */
    int64_t failures; /* tests: the allocation that brings this from 1 to 0
                         fails; 0 = none does */
} hy_memory;

enum { HY_MESSAGE_BYTES = 1024 };

/* Workers fail at the same time; the first sentence after a clear stays. */
typedef struct hy_message {
    pthread_mutex_t lock;
    char text[HY_MESSAGE_BYTES]; /* empty = none yet */
} hy_message;

typedef struct hy_pin {
    char *ptr;
    size_t bytes;
} hy_pin;

/* Memory of the caller that is pinned (pinned.h). It changes between calls only, so that no
   lock is needed; it is all zero at first. */
typedef struct hy_pins {
    struct hy_backend *device; /* NULL = none that could use it: ranges are just noted */
    hy_pin *pins;              /* ascending, without overlaps */
    size_t count, room;
} hy_pins;

/* Results on devices (device_results.h). */
typedef struct hy_device_results {
    pthread_mutex_t lock;
    struct hy_device_array *first;
} hy_device_results;

typedef struct hy_context {
    hy_memory memory;      /* working memory */
    hy_message message;    /* the sentence of the first error since the call began */
    hy_progress progress;  /* of the call under way, for a function of the caller */
    int64_t call;          /* number of the public call under way, or of the last one */
    hy_pool *pool;         /* CPU workers */
    hy_results *results;   /* pages of results */
    hy_pins pins;          /* memory of the caller that is pinned */
    hy_device_results kept;          /* results in the memory of devices */
    struct hy_lane_set *lane_sets; /* idle lanes, marks and threads of pipelines */
    struct hy_tenant *tenants;     /* sites of live plans, the one that worked last first */
    pthread_mutex_t tenants_lock;
    void (*relieve)(struct hy_context *ctx); /* gives back host memory that is idle; NULL: there
                                                is none. From any thread */
    pthread_mutex_t relief_lock;             /* threads that are short wait for the first */
} hy_context;

#ifdef __cplusplus
}
#endif
#endif /* HY_STATE_H */
