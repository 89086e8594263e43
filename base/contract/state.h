/* base/contract/state.h - the state that every layer of one engine shares: hy_context,
   and the structs of modules of base/ that it contains. */
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
struct hy_io_sizes;
struct hy_lane_set;
struct hy_tenant;
typedef struct hy_pool hy_pool;
typedef struct hy_results hy_results;

typedef struct hy_memory {
    hybrid_allocator allocator;
    hy_meter meter;   /* counts the bytes of working memory and of results on the host */
    int strict;       /* 1: the caller set the budget of host memory (host_bytes), and the
                         memory of the process must stay close to what the meter counts.
                         Pages are then counted before they are touched, and large arrays
                         return to the system when freed. */
    int64_t (*limit)(int64_t times); /* reads the limit of host memory again (cgroup.h);
                                        NULL: meter.cap is fixed */
    int grown;        /* 1: the limit has grown since the engine was opened */
    int64_t expected; /* bytes of host memory that other arrays will use while the next
                         plan runs; a reader may still be allocating some of them. 0: the
                         bytes that `meter` counts. Set and read by the calling thread */
    int64_t failures; /* tests: the allocation that lowers this from 1 to 0 fails; 0:
                         none */
} hy_memory;

enum { HY_MESSAGE_BYTES = 1024 };

/* The first error sentence since the message was cleared. Later ones are dropped, because
   many workers may fail at the same time. */
typedef struct hy_message {
    pthread_mutex_t lock;
    char text[HY_MESSAGE_BYTES]; /* the stored sentence; empty: there is none */
} hy_message;

typedef struct hy_pin {
    char *ptr;
    size_t bytes;
} hy_pin;

/* Ranges of the caller's memory that one engine has pinned (pinned.h); all zero at first.
   They change only between calls and therefore need no lock. */
typedef struct hy_pins {
    struct hy_backend *device; /* device that copies to pinned memory; NULL: no device
                                  can, and ranges are only recorded */
    hy_pin *pins;              /* the pinned ranges, sorted by address, without overlaps */
    size_t count, room;
} hy_pins;

/* The result arrays of one engine in device memory (device_results.h). */
typedef struct hy_device_results {
    pthread_mutex_t lock;
    struct hy_device_array *first;
} hy_device_results;

typedef struct hy_context {
    hy_memory memory;
    hy_message message;     /* sentence of the first error since the public call began */
    char note[HY_MESSAGE_BYTES]; /* what the public call guessed (hy_note()); "": nothing */
    hy_progress progress;   /* progress of the public call under way */
    int64_t call;           /* number of the public call under way, or of the last one */
    hy_pool *pool;          /* worker threads of the host */
    hy_results *results;    /* mappings for results in host memory (results.h) */
    hy_pins pins;           /* pinned memory of the caller */
    hy_device_results device_results; /* list of results in device memory
                                         (device_results.h) */
    const char *spill_path; /* folder for temporary files; the engine owns the string */
    const struct hy_io_sizes *io_sizes; /* sizes of steps of io/ (io/text/io_sizes.h);
                                           NULL: the usual ones; set by tests only */
    struct hy_lane_set *lane_sets; /* sets of lanes, marks and threads of finished runs,
                                      for reuse (pipeline/site/lane_set.h) */
    struct hy_tenant *tenants;     /* sites of live plans, which share device memory
                                      (pipeline/site/tenant.h); the most recently used is
                                      first */
    pthread_mutex_t tenants_lock;
    void (*relieve)(struct hy_context *ctx); /* frees idle host memory, from any thread;
                                                NULL if there is nothing to free */
    pthread_mutex_t relief_lock;             /* held by the thread that frees memory;
                                                other threads that are short of memory
                                                wait for the lock */
} hy_context;

#ifdef __cplusplus
}
#endif
#endif /* HY_STATE_H */
