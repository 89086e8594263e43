/* base/threads/background.h - does one thing in a thread of its own, ahead of its need.

   Readers of files use it: while one part of an operand is multiplied, the next one is
   read. The thread is no worker, so it takes no worker from the multiplication. */
#ifndef HY_BACKGROUND_H
#define HY_BACKGROUND_H

#include <pthread.h>

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef hybrid_status (*hy_background_fn)(void *arg);

typedef struct hy_background {
    hy_context *ctx;
    hy_background_fn fn;
    void *arg;
    pthread_t thread;
    int is_running; /* 1 from the start of the thread until it is joined */
    int is_done;    /* 1 once fn has returned; guarded by `lock` */
    pthread_mutex_t lock;
    pthread_cond_t done;
    hybrid_status status; /* that fn returned */
    hy_message aside;     /* error sentence of fn. It must not be the context's message,
                             because planning clears that one. */
    int64_t begin_ns, end_ns; /* hy_now_ns() before and after fn */
} hy_background;

/* Fills *out and starts no thread. Call hy_background_close() in the end, even if nothing
   was started. */
void hy_background_open(hy_context *ctx, hy_background *out);

/* Starts fn(arg) in a thread. If no thread can be made, calls it at once. Call
   hy_background_wait() before the next start. */
void hy_background_start(hy_background *background, hy_background_fn fn, void *arg);

/* Waits for the end of fn, and reports the progress of the public call meanwhile. Returns
   the status of fn, whose sentence becomes that of the context. */
hybrid_status hy_background_wait(hy_background *background);

/* Waits for the end of fn, and forgets its status. */
void hy_background_close(hy_background *background);

#ifdef __cplusplus
}
#endif
#endif /* HY_BACKGROUND_H */
