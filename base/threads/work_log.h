/* base/threads/work_log.h - which threads worked on the stages of a chunk, and when.

   Only traced runs have a log. A thread that begins a stage says so. Parallel loops of
   the stage pass it on to their helpers. A thread works on one stage at a time, so
   entries of one thread never overlap. */
#ifndef HY_WORK_LOG_H
#define HY_WORK_LOG_H

#include <pthread.h>

#include "base/contract/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hy_context;

typedef struct hy_work {
    int stage;  /* number of the stage: a hy_step of pipeline/run/stage.h */
    int worker; /* index of the worker; -1: the thread that runs the product */
    int64_t begin_ns, end_ns;
} hy_work;

typedef struct hy_work_log {
    struct hy_context *ctx;
    pthread_mutex_t lock;
    hy_work *of; /* array of entries, in the order in which threads ended their work */
    int64_t count, room;
    hybrid_status status; /* NO_MEMORY if there was no room for an entry */
} hy_work_log;

/* A stage and its log. With log == NULL nothing is recorded. */
typedef struct hy_work_on {
    hy_work_log *log;
    int stage;
} hy_work_on;

void hy_work_log_open(struct hy_context *ctx, hy_work_log *log);
void hy_work_log_close(hy_work_log *log); /* accepts a zeroed struct */

/* Removes all entries. No thread may work on a stage of the log. */
void hy_work_log_clear(hy_work_log *log);

/* Notes that the calling thread works on this stage from now on. */
void hy_work_begin(hy_work_on on);

/* Returns the stage that the calling thread works on. Its `log` is NULL if the thread
   works on none. */
hy_work_on hy_work_now(void);

/* Adds an entry for the calling thread, whose index as a worker is `worker`: it worked on
   its stage from begin_ns to end_ns. Ends the work on the stage. */
void hy_work_end(int worker, int64_t begin_ns, int64_t end_ns);

#ifdef __cplusplus
}
#endif
#endif /* HY_WORK_LOG_H */
