/* tests/support/fake/fake_mark.c - marks of the fake device.

   A mark counts how often it was set and how often it was reached. A wait is for the
   setting that is the latest one when the wait is enqueued; it ends when that setting is
   reached. */
#include "tests/support/fake/fake_lane.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/threads/clock.h"
#include "tests/support/fake/fake_backend.h"

struct hy_mark {
    hy_backend *backend;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t set, reached, ns;
    hybrid_status status; /* status of the lane when the mark was reached */
    hy_lane *on;          /* lane on which the mark was set last */
    int untimed;          /* 1: the time of the mark must not be asked for */
};

static int64_t (*clock_ns)(void);

void fake_clock(int64_t (*now_ns)(void))
{
    clock_ns = now_ns;
}

hybrid_status fake_mark_new(hy_backend *self, hy_mark **out)
{
    void *memory;

    HY_TRY(hy_array(self->ctx, 1, sizeof(hy_mark), "fake mark", &memory));
    hy_mark *mark = memory;
    *mark         = (hy_mark){.backend = self};
    pthread_mutex_init(&mark->lock, NULL);
    pthread_cond_init(&mark->changed, NULL);
    fake_count(1);
    *out = mark;
    return HYBRID_OK;
}

void fake_mark_free(hy_mark *mark)
{
    if (!mark)
        return;
    pthread_cond_destroy(&mark->changed);
    pthread_mutex_destroy(&mark->lock);
    hy_array_free(mark->backend->ctx, mark);
    fake_count(-1);
}

const hy_backend *fake_mark_backend(const hy_mark *mark)
{
    return mark->backend;
}

int64_t fake_mark_begin(hy_mark *mark, hy_lane *on, int untimed)
{
    pthread_mutex_lock(&mark->lock);
    const int64_t turn = ++mark->set;
    mark->on           = on;
    mark->untimed      = untimed;
    pthread_mutex_unlock(&mark->lock);
    return turn;
}

void fake_mark_reach(hy_mark *mark, int64_t turn, hybrid_status status)
{
    pthread_mutex_lock(&mark->lock);
    if (turn > mark->reached) /* a setting that failed is reached at once, perhaps before
                                 earlier settings */
        mark->reached = turn;
    mark->status = status;
    mark->ns     = clock_ns ? clock_ns() : hy_now_ns();
    pthread_cond_broadcast(&mark->changed);
    pthread_mutex_unlock(&mark->lock);
}

hybrid_status fake_mark_wait(hy_mark *mark, int64_t turn)
{
    pthread_mutex_lock(&mark->lock);
    while (mark->reached < turn)
        pthread_cond_wait(&mark->changed, &mark->lock);
    const hybrid_status status = mark->status;
    pthread_mutex_unlock(&mark->lock);
    return status;
}

int64_t fake_mark_latest(hy_mark *mark, hy_lane **on)
{
    pthread_mutex_lock(&mark->lock);
    const int64_t turn = mark->set;
    *on                = mark->on;
    pthread_mutex_unlock(&mark->lock);
    return turn;
}

hybrid_status fake_host_wait(hy_mark *mark)
{
    hy_lane *on;
    const int64_t turn         = fake_mark_latest(mark, &on);
    const hybrid_status status = fake_mark_wait(mark, turn);

    if (status != HYBRID_OK)
        fake_lane_report(on);
    return status;
}

hybrid_status fake_mark_reached(hy_mark *mark, int *out)
{
    hy_lane *on;
    const int64_t turn = fake_mark_latest(mark, &on);

    pthread_mutex_lock(&mark->lock);
    *out = mark->reached >= turn;
    pthread_mutex_unlock(&mark->lock);
    return *out ? fake_host_wait(mark) : HYBRID_OK;
}

int64_t fake_mark_ns(const hy_mark *mark)
{
    hy_mark *m = (hy_mark *)(uintptr_t)mark; /* querying a mark changes nothing of it but
                                                its lock */

    pthread_mutex_lock(&m->lock);
    const int64_t ns = m->ns;
    if (m->untimed) /* the pipeline asks for the time of an untimed mark */
        abort();
    pthread_mutex_unlock(&m->lock);
    return ns;
}
