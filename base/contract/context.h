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
#endif /* HY_CONTEXT_H */
