/* base/contract/context.h - what every layer of one engine shares. */
#ifndef HY_CONTEXT_H
#define HY_CONTEXT_H

#include "base/memory/device_results.h"
#include "base/memory/memory.h"
#include "base/text/message.h"
#include "base/memory/pinned.h"
#include "base/text/progress.h"
#include "base/contract/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_pool hy_pool;
typedef struct hy_results hy_results;
struct hy_lane_set;
struct hy_tenant;

typedef struct hy_context {
    hy_memory memory;
    hy_message message;     /* sentence of the first error since the public call began */
    hy_progress progress;   /* progress of the public call under way */
    int64_t call;           /* number of the public call under way, or of the last one */
    hy_pool *pool;          /* worker threads of the host */
    hy_results *results;    /* host memory of results */
    hy_pins pins;           /* pinned memory of the caller */
    hy_device_results kept; /* results in device memory */
    struct hy_lane_set *lane_sets; /* idle lanes, marks and threads, for reuse */
    struct hy_tenant *tenants;     /* sites of live plans, the most recently used first */
    pthread_mutex_t tenants_lock;
    void (*relieve)(struct hy_context *ctx); /* frees idle host memory, from any thread;
                                                NULL if there is nothing to free */
    pthread_mutex_t relief_lock;             /* held by the one thread that frees memory;
                                                others that are short wait for it */
} hy_context;

#ifdef __cplusplus
}
#endif
#endif /* HY_CONTEXT_H */
