/* tests/support/fake/fake_lane.c - lanes of the fake device. A lane is a thread with a
   queue. */
#include "tests/support/fake/fake_lane.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/inputs/cases.h"
#include "tests/support/fake/fake_backend.h"
#include "tests/support/fake/fake_memory.h"

typedef enum action { CALL, COPY, REACH, WAIT } action;

typedef struct entry {
    struct entry *next;
    action action;
    hy_fake_fn fn; /* kind CALL: function that is called with `bytes` if kept > 0, else
                      with `arg` */
    void *arg;
    size_t kept;
    _Alignas(max_align_t) char bytes[FAKE_ARG_BYTES];
    hy_row_copy rows; /* kind COPY: rows to copy */
    hy_mark *mark;    /* kinds REACH and WAIT: the mark */
    int64_t turn;
} entry;

typedef struct lane {
    hy_lane base;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled, idle;
    entry *first, *last;
    int busy, stop;
    hybrid_status status; /* status of the first work that failed */
    int reported;
    unsigned seed;
    int most_us;
    int at_once; /* 1: enqueueing returns when the work is done */
} lane;

static unsigned delay_seed = 1;
static int delay_most_us   = 50;
void fake_delays(unsigned seed, int most_us)
{
    delay_seed    = seed;
    delay_most_us = most_us;
}

/* ---- the thread of a lane ---- */

static void delay(lane *l)
{
    const uint64_t dice = test_hash(l->seed++, 1);

    if (l->most_us == 0 || dice % 4 != 0)
        return;
    const uint64_t us            = (dice >> 2) % (uint64_t)l->most_us;
    const struct timespec moment = {0, (long)us * 1000};
    nanosleep(&moment, NULL);
}

static void copy(const hy_row_copy *c)
{
    for (size_t i = 0; i < (size_t)c->rows; i++)
        memcpy((char *)c->dst + i * c->dst_pitch, (const char *)c->src + i * c->src_pitch,
               c->bytes);
}

/* Runs the call or the copy of an entry, unless the device is lost. */
static hybrid_status act(lane *l, entry *e)
{
    hybrid_status status = HYBRID_OK;

    if (!fault_lets_begin(l->base.backend))
        return hy_fail(l->base.backend->ctx, HYBRID_DEVICE_FAILED,
                       "fake device %d: it is lost", l->base.backend->index);
    fake_memory_open();
    if (e->action == COPY)
        copy(&e->rows);
    else
        status = e->fn(&l->base, e->kept > 0 ? e->bytes : e->arg);
    fake_memory_close();
    fault_lets_end();
    return status;
}

/* Processes an entry. Returns the status of the lane afterwards; `status` is the one
   before. */
static hybrid_status work(lane *l, entry *e, hybrid_status status)
{
    hybrid_status waited;

    switch (e->action) {
    case CALL:
    case COPY:
        return status == HYBRID_OK ? act(l, e) : status;
    case WAIT:
        waited = fake_mark_wait(e->mark, e->turn);
        return status == HYBRID_OK ? waited : status;
    case REACH:
        fake_mark_reach(e->mark, e->turn, status);
    }
    return status;
}

static entry *take(lane *l)
{
    entry *e = l->first;

    l->first = e->next;
    if (!l->first)
        l->last = NULL;
    return e;
}

static void *serve(void *arg)
{
    lane *l = arg;

    pthread_mutex_lock(&l->lock);
    for (;;) {
        while (!l->first && !l->stop)
            pthread_cond_wait(&l->filled, &l->lock);
        if (!l->first)
            break;
        entry *e                   = take(l);
        const hybrid_status before = l->status;
        l->busy                    = 1;
        pthread_mutex_unlock(&l->lock);
        delay(l);
        const hybrid_status after = work(l, e, before);
        hy_array_free(l->base.backend->ctx, e);
        pthread_mutex_lock(&l->lock);
        l->status = after;
        l->busy   = 0;
        if (!l->first)
            pthread_cond_broadcast(&l->idle);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- enqueueing ---- */

static hybrid_status push(lane *l, const entry *what)
{
    void *memory;

    HY_TRY(
        hy_array(l->base.backend->ctx, 1, sizeof(entry), "work of a fake lane", &memory));
    entry *e = memory;
    *e       = *what;
    pthread_mutex_lock(&l->lock);
    if (l->reported && !l->busy && !l->first) {
        l->status   = HYBRID_OK;
        l->reported = 0;
    }
    if (l->last)
        l->last->next = e;
    else
        l->first = e;
    l->last = e;
    pthread_cond_signal(&l->filled);
    while (l->at_once && (l->first || l->busy))
        pthread_cond_wait(&l->idle, &l->lock);
    const hybrid_status status = l->at_once ? l->status : HYBRID_OK;
    pthread_mutex_unlock(&l->lock);
    return status;
}

static hybrid_status launch(hy_lane *base, const entry *e)
{
    if (base->backend->ops == &hy_fault_backend_ops &&
        fault_hits(base->backend, "a launch"))
        return HYBRID_DEVICE_FAILED;
    return push((lane *)base, e);
}

hybrid_status hy_fake_enqueue(hy_lane *base, hy_fake_fn fn, void *arg)
{
    return launch(base, &(entry){.action = CALL, .fn = fn, .arg = arg});
}

hybrid_status hy_fake_enqueue_copy(hy_lane *base, hy_fake_fn fn, const void *arg,
                                   size_t bytes)
{
    entry e = {.action = CALL, .fn = fn, .kept = bytes};

    assert(bytes > 0 && bytes <= sizeof e.bytes);
    memcpy(e.bytes, arg, bytes);
    return launch(base, &e);
}

hybrid_status fake_lane_copy(hy_lane *base, const hy_row_copy *rows)
{
    const entry e = {.action = COPY, .rows = *rows};
    return push((lane *)base, &e);
}

static hybrid_status set_mark(hy_lane *base, hy_mark *mark, int untimed)
{
    const int64_t turn = fake_mark_begin(mark, base, untimed);
    const hybrid_status status =
        push((lane *)base, &(entry){.action = REACH, .mark = mark, .turn = turn});

    if (status != HYBRID_OK) /* no thread must wait for a setting that is never reached */
        fake_mark_reach(mark, turn, status);
    return status;
}

hybrid_status fake_mark_set(hy_lane *base, hy_mark *mark)
{
    return set_mark(base, mark, 0);
}

hybrid_status fake_mark_untimed(hy_lane *base, hy_mark *mark)
{
    return set_mark(base, mark, 1);
}

hybrid_status fake_lane_wait(hy_lane *base, hy_mark *mark)
{
    hy_lane *on;
    const int64_t turn = fake_mark_latest(mark, &on);

    return push((lane *)base, &(entry){.action = WAIT, .mark = mark, .turn = turn});
}

void fake_lane_report(hy_lane *base)
{
    lane *l = (lane *)base;

    pthread_mutex_lock(&l->lock);
    l->reported = 1;
    pthread_mutex_unlock(&l->lock);
}

/* ---- open and close ---- */

hybrid_status fake_lane_open(hy_backend *self, const char *name, int urgent,
                             hy_lane **out)
{
    void *memory;

    (void)urgent; /* ignored: each lane has a thread of its own */
    HY_TRY(hy_array(self->ctx, 1, sizeof(lane), "fake lane", &memory));
    lane *l = memory;
    *l      = (lane){.base    = {.backend = self, .name = name},
                     .seed    = __atomic_fetch_add(&delay_seed, 1, __ATOMIC_RELAXED),
                     .most_us = delay_most_us};
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->filled, NULL);
    pthread_cond_init(&l->idle, NULL);
    if (pthread_create(&l->thread, NULL, serve, l) != 0) {
        pthread_cond_destroy(&l->filled);
        pthread_cond_destroy(&l->idle);
        pthread_mutex_destroy(&l->lock);
        hy_array_free(self->ctx, l);
        return hy_fail(self->ctx, HYBRID_NO_MEMORY, "no thread for the fake lane %s",
                       name);
    }
    fake_count(1);
    *out = &l->base;
    return HYBRID_OK;
}

/* A kernel of the fake device reads its job when it runs. A CUDA kernel reads its job
   when it is enqueued, and the owner may change the job afterwards. The lane of a
   borrowed stream therefore does all work at once. */
hybrid_status fake_borrow(hy_backend *self, void *stream, hy_lane **out)
{
    (void)stream;
    HY_TRY(fake_lane_open(self, "caller", 0, out));
    ((lane *)*out)->at_once = 1;
    return HYBRID_OK;
}

void fake_lane_drain(hy_lane *base)
{
    lane *l = (lane *)base;

    pthread_mutex_lock(&l->lock);
    while (l->first || l->busy)
        pthread_cond_wait(&l->idle, &l->lock);
    l->status   = HYBRID_OK;
    l->reported = 0;
    pthread_mutex_unlock(&l->lock);
}

void fake_lane_close(hy_lane *base)
{
    lane *l = (lane *)base;

    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->stop = 1;
    pthread_cond_signal(&l->filled);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    pthread_cond_destroy(&l->filled);
    pthread_cond_destroy(&l->idle);
    pthread_mutex_destroy(&l->lock);
    hy_array_free(l->base.backend->ctx, l);
    fake_count(-1);
}
