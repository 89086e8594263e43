/* host/backend/host_lane.c - a lane is a FIFO that one task of the pool works through.

   An entry is a call, a mark to be reached, or a mark to be waited for. A lane that waits
   for a mark is parked: it occupies no worker, and the thread that reaches the mark puts
   the lane's task back into the pool. The task gives its worker back after every call, so
   that more urgent tasks come between.

   Locks: a thread that holds a mark's lock never takes a lane's. */
#include "host/backend/host_lane.h"

#include "base/threads/clock.h"

typedef enum action { CALL, REACH, WAIT } action;

typedef struct entry {
    action action;
    hy_host_fn fn; /* entry of kind CALL: the function to call */
    void *arg;
    hy_work_on work; /* entry of kind CALL: the stage that fn belongs to */
    hy_mark *mark;   /* entry of kind REACH or WAIT: the mark */
    int64_t setting; /* REACH, WAIT: which setting of the mark is meant: the number of
                        mark_set() calls up to it */
} entry;

typedef struct lane {
    hy_lane base;
    hy_task task; /* the task in the pool that works through the lane; walk() finds the
                     lane from its address */
    pthread_mutex_t lock;
    pthread_cond_t idle;
    entry *ring;
    int64_t room, head, count; /* room: size of `ring`, a power of two; head: first entry;
                                  count: number of entries */
    int busy;                  /* 1: the task is queued, running or parked; 0: the lane
                                  has nothing to do */
    hybrid_status status;      /* error of the first call that failed */
    int reported;              /* 1: host_wait() has returned the error to a caller */
    struct lane *next_parked;
} lane;

struct hy_mark {
    hy_context *ctx;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t set, reached; /* set: number of times the mark was set; reached: number of the
                             latest setting that a lane has reached */
    int64_t ns;
    hybrid_status status; /* status of the lane when the mark was reached */
    lane *on;             /* lane that set the mark last */
    lane *parked;         /* list of the lanes that wait for the mark */
};

enum { FIRST_ROOM = 64 };

static lane *of(hy_lane *base)
{
    return (lane *)base;
}

static hy_pool *pool_of(const lane *l)
{
    return l->base.backend->ctx->pool;
}

/* ---- marks ------------------------------------------------------------------ */

hybrid_status hy_host_mark_new(hy_backend *self, hy_mark **out)
{
    void *made = NULL;

    HY_TRY(hy_array(self->ctx, 1, sizeof(hy_mark), "a mark", &made));
    hy_mark *mark = made;
    *mark         = (hy_mark){.ctx = self->ctx};
    pthread_mutex_init(&mark->lock, NULL);
    pthread_cond_init(&mark->changed, NULL);
    *out = mark;
    return HYBRID_OK;
}

void hy_host_mark_free(hy_mark *mark)
{
    if (!mark)
        return;
    pthread_cond_destroy(&mark->changed);
    pthread_mutex_destroy(&mark->lock);
    hy_array_free(mark->ctx, mark);
}

/* Records that the lane has reached setting number `setting` of the mark, with `status`,
   and resumes the lanes that wait for the mark. A setting whose entry cannot be appended
   is reached at once, perhaps before earlier ones. */
static void reach(hy_mark *mark, int64_t setting, hybrid_status status)
{
    pthread_mutex_lock(&mark->lock);
    if (setting > mark->reached) {
        mark->reached = setting;
        mark->status  = status;
    }
    mark->ns     = hy_now_ns();
    lane *parked = mark->parked;
    mark->parked = NULL;
    pthread_cond_broadcast(&mark->changed);
    pthread_mutex_unlock(&mark->lock);
    while (parked) {
        lane *next = parked->next_parked; /* read first, because the lane may park again
                                             at once */
        hy_pool_submit(pool_of(parked), HY_COMPUTE, &parked->task);
        parked = next;
    }
}

/* Checks a WAIT entry. If the setting of the mark that it waits for is reached, sets
 *status and returns 1. Otherwise parks the lane and returns 0. */
static int pass_or_park(lane *l, const entry *e, hybrid_status *status)
{
    hy_mark *mark = e->mark;

    pthread_mutex_lock(&mark->lock);
    const int passed = mark->reached >= e->setting;
    if (passed) {
        *status = mark->status;
    } else {
        l->next_parked = mark->parked;
        mark->parked   = l;
    }
    pthread_mutex_unlock(&mark->lock);
    return passed;
}

int64_t hy_host_mark_ns(const hy_mark *mark)
{
    hy_mark *m =
        (hy_mark *)mark; /* dropping const is safe, because only the lock changes */

    pthread_mutex_lock(&m->lock);
    const int64_t ns = m->ns;
    pthread_mutex_unlock(&m->lock);
    return ns;
}

/* ---- working through the FIFO --------------------------------------------------- */

/* Clears an error that was reported to the caller, once the lane has no entry left. */
static void forget_reported(lane *l)
{
    if (l->reported && l->count == 0) {
        l->status   = HYBRID_OK;
        l->reported = 0;
    }
}

static void note_first(lane *l, hybrid_status status)
{
    if (l->status == HYBRID_OK)
        l->status = status;
}

static void pop(lane *l)
{
    l->head = (l->head + 1) & (l->room - 1);
    l->count--;
}

/* Calls the function of a CALL entry, unless an earlier call in the lane failed. The
   caller holds the lane's lock, which is released during the call. */
static void call(lane *l, const entry *e, int worker)
{
    if (l->status != HYBRID_OK)
        return;
    pthread_mutex_unlock(&l->lock);
    const int64_t begin_ns = e->work.log ? hy_now_ns() : 0;
    hy_work_begin(e->work);
    const hybrid_status status = e->fn(&l->base, e->arg);
    hy_work_end(worker, begin_ns, e->work.log ? hy_now_ns() : 0);
    pthread_mutex_lock(&l->lock);
    note_first(l, status);
}

static void walk(hy_task *task, int worker)
{
    lane *l    = (lane *)(void *)((char *)task - offsetof(lane, task));
    int called = 0;

    pthread_mutex_lock(&l->lock);
    while (l->count > 0) {
        const entry e        = l->ring[l->head];
        hybrid_status status = HYBRID_OK;

        if (e.action == CALL && called) {
            hy_pool_submit(pool_of(l), HY_COMPUTE, &l->task);
            pthread_mutex_unlock(&l->lock);
            return;
        }
        if (e.action == WAIT && !pass_or_park(l, &e, &status)) {
            pthread_mutex_unlock(&l->lock);
            return;
        }
        pop(l);
        if (e.action == CALL) {
            call(l, &e, worker);
            called = 1;
        } else if (e.action == WAIT) {
            note_first(l, status);
        } else {
            reach(e.mark, e.setting, l->status);
        }
    }
    forget_reported(l);
    l->busy = 0;
    pthread_cond_broadcast(&l->idle);
    pthread_mutex_unlock(&l->lock);
}

/* ---- filling the FIFO --------------------------------------------------------- */

static hybrid_status grow(lane *l)
{
    hy_context *ctx    = l->base.backend->ctx;
    const int64_t room = l->room ? 2 * l->room : FIRST_ROOM;
    void *made         = NULL;

    HY_TRY(hy_array(ctx, room, sizeof(entry), "the queue of a lane", &made));
    entry *ring = made;
    for (int64_t i = 0; i < l->count; i++)
        ring[i] = l->ring[(l->head + i) & (l->room - 1)];
    hy_array_free(ctx, l->ring);
    l->ring = ring;
    l->room = room;
    l->head = 0;
    return HYBRID_OK;
}

/* Appends an entry, and starts the lane's task if it is idle. The caller holds the lane's
   lock. */
static hybrid_status push(lane *l, const entry *e)
{
    if (l->count == l->room)
        HY_TRY(grow(l));
    l->ring[(l->head + l->count) & (l->room - 1)] = *e;
    l->count++;
    if (!l->busy) {
        l->busy = 1;
        hy_pool_submit(pool_of(l), HY_COMPUTE, &l->task);
    }
    return HYBRID_OK;
}

hybrid_status hy_host_enqueue(hy_lane *base, hy_host_fn fn, void *arg)
{
    const entry e = {.action = CALL, .fn = fn, .arg = arg, .work = hy_work_now()};

    if (base == base->backend->caller_lane)
        return fn(base, arg);
    pthread_mutex_lock(&of(base)->lock);
    const hybrid_status status = push(of(base), &e);
    pthread_mutex_unlock(&of(base)->lock);
    return status;
}

hybrid_status hy_host_mark_set(hy_lane *base, hy_mark *mark)
{
    lane *l = of(base);
    entry e = {.action = REACH, .mark = mark};

    pthread_mutex_lock(&l->lock);
    pthread_mutex_lock(&mark->lock);
    e.setting = ++mark->set;
    mark->on  = l;
    pthread_mutex_unlock(&mark->lock);
    const hybrid_status status = push(l, &e);
    if (status != HYBRID_OK)
        reach(mark, e.setting, status); /* the mark is reached at once, since threads that
                                           wait for it would otherwise never wake */
    pthread_mutex_unlock(&l->lock);
    return status;
}

hybrid_status hy_host_lane_wait(hy_lane *base, hy_mark *mark)
{
    entry e = {.action = WAIT, .mark = mark};

    pthread_mutex_lock(&mark->lock);
    e.setting = mark->set;
    pthread_mutex_unlock(&mark->lock);
    pthread_mutex_lock(&of(base)->lock);
    const hybrid_status status = push(of(base), &e);
    pthread_mutex_unlock(&of(base)->lock);
    return status;
}

hybrid_status hy_host_wait(hy_mark *mark)
{
    pthread_mutex_lock(&mark->lock);
    for (const int64_t setting = mark->set; mark->reached < setting;)
        pthread_cond_wait(&mark->changed, &mark->lock);
    const hybrid_status status = mark->status;
    lane *l                    = mark->on;
    pthread_mutex_unlock(&mark->lock);
    if (status != HYBRID_OK && l) {
        pthread_mutex_lock(&l->lock);
        l->reported = l->status != HYBRID_OK;
        forget_reported(l);
        pthread_mutex_unlock(&l->lock);
    }
    return status;
}

/* ---- opening and closing ------------------------------------------------------ */

hybrid_status hy_host_lane_open(hy_backend *self, const char *name, int urgent,
                                hy_lane **out)
{
    hybrid_status status = HYBRID_OK;
    void *made           = NULL;

    (void)urgent; /* lanes of the host have no priorities */
    HY_TRY(hy_array(self->ctx, 1, sizeof(lane), "a lane", &made));
    lane *l = made;
    *l      = (lane){.base = {self, name}, .task = {.run = walk}};
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->idle, NULL);
    HY_TRY_ELSE_DONE(grow(l));
    *out = &l->base;
done:
    if (status != HYBRID_OK)
        hy_host_lane_close(&l->base);
    return status;
}

void hy_host_lane_drain(hy_lane *base)
{
    lane *l = of(base);

    pthread_mutex_lock(&l->lock);
    while (l->busy)
        pthread_cond_wait(&l->idle, &l->lock);
    l->status   = HYBRID_OK;
    l->reported = 0;
    pthread_mutex_unlock(&l->lock);
}

void hy_host_lane_close(hy_lane *base)
{
    if (!base)
        return;
    lane *l         = of(base);
    hy_context *ctx = base->backend->ctx;
    hy_host_lane_drain(base);
    pthread_cond_destroy(&l->idle);
    pthread_mutex_destroy(&l->lock);
    hy_array_free(ctx, l->ring);
    hy_array_free(ctx, l);
}
