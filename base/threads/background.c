/* base/threads/background.c - does one thing in a thread of its own, ahead of its need.
 */
#include "base/threads/background.h"

#include "base/threads/clock.h"

void hy_background_open(hy_context *ctx, hy_background *out)
{
    *out = (hy_background){.ctx = ctx};
    hy_message_init(&out->aside);
    pthread_mutex_init(&out->lock, NULL);
    hy_progress_cond_init(&out->done);
}

static void *run(void *arg)
{
    hy_background *a = arg;

    hy_message_aside(&a->aside);
    a->begin_ns = hy_now_ns();
    a->status   = a->fn(a->arg);
    a->end_ns   = hy_now_ns();
    hy_message_aside(NULL);
    pthread_mutex_lock(&a->lock);
    a->is_done = 1;
    pthread_cond_signal(&a->done);
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

void hy_background_start(hy_background *a, hy_background_fn fn, void *arg)
{
    a->fn         = fn;
    a->arg        = arg;
    a->status     = HYBRID_OK;
    a->is_done    = 0;
    a->is_running = pthread_create(&a->thread, NULL, run, a) == 0;
    if (!a->is_running)
        run(a);
}

/* Waits until fn has returned, and joins the thread. Returns at once if none runs. */
static void join(hy_background *a)
{
    pthread_mutex_lock(&a->lock);
    while (a->is_running && !a->is_done)
        hy_progress_wait(&a->ctx->progress, &a->done, &a->lock);
    pthread_mutex_unlock(&a->lock);
    if (a->is_running)
        pthread_join(a->thread, NULL);
    a->is_running = 0;
}

hybrid_status hy_background_wait(hy_background *a)
{
    join(a);
    return a->status == HYBRID_OK ? HYBRID_OK
                                  : hy_fail(a->ctx, a->status, "%s", a->aside.text);
}

void hy_background_close(hy_background *a)
{
    join(a);
    hy_message_destroy(&a->aside);
    pthread_cond_destroy(&a->done);
    pthread_mutex_destroy(&a->lock);
}
