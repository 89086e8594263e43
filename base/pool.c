/* base/pool.c - CPU workers of one engine.

   One lock guards the queues; tasks are long compared with it. A loop lives on its
   caller's stack and waits in a queue like any task, but stays there until as many
   workers have joined as it wants. Whoever finds no more pieces takes it out of the
   queue, and hy_pool_for() returns when all who joined have left. A worker that starts a
   loop draws pieces itself, so a loop always gets on, also inside a task on a pool of
   one; and it waits only for workers that are inside loops begun after its own, so nobody
   waits in a circle. A helper that sees something more urgent waiting leaves after its
   piece, and the loop wants another helper.

   Why that is right. `next` never falls below `pieces` again once it is there, and pieces
   that are drawn are done by who is inside. The loop is in the queue if and only if
   wanted > 0. While pieces are left, wanted + inside is what was wanted at first: a
   helper that joins or is called away moves one from the one to the other. So somebody
   will come for them, and as the sum is not 0, `over` is not set. When none is left,
   whoever leaves sets wanted to 0, for good, since only pieces that are left make it rise
   again; nobody joins any more, and the last to leave sets `over`. Until then its caller,
   unless it left last itself, does not return; and `over` is the last word of a loop that
   is touched, under the lock that everybody took to leave. Nobody need be woken when a
   helper is called away: it takes its next task itself, after it has put the loop back,
   and a worker that finds its urgent task gone finds the loop. */
#include "base/pool.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/look.h"
#include "base/tasks.h"

enum { NAME_BYTES = 16 };

typedef struct worker {
    struct hy_pool *pool;
    int index;
    pthread_t thread;
    char name[NAME_BYTES];
} worker;

struct hy_pool {
    pthread_mutex_t lock;
    pthread_cond_t filled; /* a task came, or stop */
    pthread_cond_t left;   /* the last helper left a loop */
    pthread_cond_t called; /* the reserve was, or stop */
    hy_tasks queues[HY_URGENCIES];
    int stop;
    unsigned offers; /* counts what came into the queues; read without the lock */
    const hy_topology *topology;
    int looks; /* workers without work look for some before they sleep */
    /* A core for each worker. Not when cores are left to others: the system does not
       preempt a thread that only looks, and a worker bound to its core waits for 2 ms. */
    int bind;
    int threads; /* that run, */
    int regular; /* of which so many always work, */
    int active;  /* and so many now: the first ones */
    worker *workers;
};

/* The worker that this thread is, or NULL. */
static _Thread_local const worker *self;

/* ---- loops, with the lock held ----------------------------------------------- */

static void help(hy_task *task, int index);

/* One more helper; 1 if the loop wants others as well. */
static int join_loop(hy_loop *l)
{
    l->inside++;
    l->wanted--;
    return l->wanted > 0;
}

/* A helper was called away from pieces that are left. */
static void want_another(hy_loop *l)
{
    if (l->wanted++ == 0)
        hy_tasks_push(&l->pool->queues[l->urgency], &l->task);
}

/* Whoever leaves so has found no more pieces: nobody else need join. */
static void leave_loop(hy_loop *l, hybrid_status status)
{
    if (l->status == HYBRID_OK)
        l->status = status;
    if (l->wanted > 0)
        hy_tasks_take_out(&l->pool->queues[l->urgency], &l->task);
    l->wanted = 0;
}

/* The task to run next, taken out of its queue unless it is a loop that wants more. */
static hy_task *pop(hy_pool *pool)
{
    for (int u = 0; u < HY_URGENCIES; u++) {
        hy_task *task = pool->queues[u].first;
        if (!task)
            continue;
        if (task->run != help || !join_loop((hy_loop *)task))
            hy_tasks_take_out(&pool->queues[u], task);
        return task;
    }
    return NULL;
}

/* ---- workers ----------------------------------------------------------------- */

/* Waking a thread takes longer than the pause between two loops often is: a worker with a
   core of its own looks for a while before it sleeps. Called and left with the lock. */
static void await_offer(hy_pool *pool)
{
    const unsigned seen = pool->offers;

    if (pool->looks) {
        pthread_mutex_unlock(&pool->lock);
        for (int i = 0; i < HY_LOOKS; i++) {
            if (__atomic_load_n(&pool->offers, __ATOMIC_RELAXED) != seen)
                break;
            hy_relax();
        }
        pthread_mutex_lock(&pool->lock);
    }
    if (pool->offers == seen && !pool->stop)
        pthread_cond_wait(&pool->filled, &pool->lock);
}

/* Until the reserve is called, if the worker belongs to it. With the lock. */
static void await_call(const worker *me)
{
    hy_pool *pool = me->pool;

    while (me->index >= pool->active && !pool->stop)
        pthread_cond_wait(&pool->called, &pool->lock);
}

static void *work(void *arg)
{
    worker *me    = arg;
    hy_pool *pool = me->pool;

    self = me;
    if (pool->bind)
        hy_topology_bind(pool->topology, me->index);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        await_call(me);
        hy_task *task = pop(pool);
        if (task) {
            pthread_mutex_unlock(&pool->lock);
            task->run(task, me->index);
            pthread_mutex_lock(&pool->lock);
        } else if (pool->stop) {
            break;
        } else {
            await_offer(pool);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static hybrid_status start(hy_context *ctx, hy_pool *pool, int threads)
{
    void *memory;

    HY_TRY(hy_array(ctx, threads, sizeof(worker), "workers", &memory));
    pool->workers = memory;
    memset(pool->workers, 0, (size_t)threads * sizeof(worker));
    for (int i = 0; i < threads; i++) {
        worker *w = &pool->workers[i];
        w->pool   = pool;
        w->index  = i;
        snprintf(w->name, NAME_BYTES, "cpu%d", i);
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            return hy_fail(ctx, HYBRID_NO_MEMORY, "worker %d of %d cannot be started", i,
                           threads);
        pool->threads++;
    }
    return HYBRID_OK;
}

static void set_active(hy_pool *pool, int active)
{
    pthread_mutex_lock(&pool->lock);
    pool->active = active;
    __atomic_fetch_add(&pool->offers, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&pool->called);
    pthread_cond_broadcast(&pool->filled); /* nobody of the reserve is to be woken by what
                                              comes for the others */
    pthread_mutex_unlock(&pool->lock);
}

hybrid_status hy_pool_create(hy_context *ctx, const hy_topology *topology, int threads,
                             int reserve, hy_pool **out)
{
    void *memory;
    const int cores = hy_topology_cores(topology);

    HY_TRY(hy_array(ctx, 1, sizeof(hy_pool), "the pool", &memory));
    hy_pool *pool = memory;
    memset(pool, 0, sizeof *pool);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->filled, NULL);
    pthread_cond_init(&pool->left, NULL);
    pthread_cond_init(&pool->called, NULL);
    threads        = threads > 0 ? threads : cores;
    pool->topology = topology;
    pool->looks    = threads <= cores && threads > 1;
    pool->bind     = threads == cores && threads > 1; /* one: the system knows better */

    pool->regular = threads;
    pool->active  = threads;

    const hybrid_status status = start(ctx, pool, threads + reserve);
    if (status == HYBRID_OK)
        *out = pool;
    else
        hy_pool_destroy(ctx, pool);
    return status;
}

void hy_pool_destroy(hy_context *ctx, hy_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = 1;
    pthread_cond_broadcast(&pool->filled);
    pthread_cond_broadcast(&pool->called);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->threads; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->called);
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->filled);
    pthread_mutex_destroy(&pool->lock);
    hy_array_free(ctx, pool->workers);
    hy_array_free(ctx, pool);
}

int hy_pool_threads(const hy_pool *pool)
{
    return pool->active;
}

int hy_pool_most_threads(const hy_pool *pool)
{
    return pool->threads;
}

void hy_pool_call_reserve(hy_pool *pool)
{
    if (pool->threads > pool->regular)
        set_active(pool, pool->threads);
}

void hy_pool_dismiss_reserve(hy_pool *pool)
{
    if (pool->threads > pool->regular)
        set_active(pool, pool->regular);
}

int hy_pool_worker(const hy_pool *pool)
{
    return self && self->pool == pool ? self->index : -1;
}

int hy_pool_leaves_cores(const hy_pool *pool)
{
    return pool->active + HY_DRIVER_CORES <= hy_topology_cores(pool->topology);
}

size_t hy_pool_l2_bytes(const hy_pool *pool)
{
    return hy_topology_l2_bytes(pool->topology);
}

const hy_topology *hy_pool_topology(const hy_pool *pool)
{
    return pool->topology;
}

const char *hy_pool_worker_name(const hy_pool *pool, int index)
{
    return pool->workers[index].name;
}

/* ---- tasks ------------------------------------------------------------------- */

void hy_pool_submit(hy_pool *pool, hy_urgency urgency, hy_task *task)
{
    pthread_mutex_lock(&pool->lock);
    hy_tasks_push(&pool->queues[urgency], task);
    __atomic_fetch_add(&pool->offers, 1, __ATOMIC_RELAXED);
    pthread_cond_signal(&pool->filled);
    pthread_mutex_unlock(&pool->lock);
}

int hy_pool_withdraw(hy_pool *pool, hy_urgency urgency, hy_task *task)
{
    pthread_mutex_lock(&pool->lock);
    const int found = hy_tasks_take_out(&pool->queues[urgency], task);
    pthread_mutex_unlock(&pool->lock);
    return found;
}

/* ---- loops ------------------------------------------------------------------- */

static int is_called_away(const hy_loop *l)
{
    int waiting = 0;

    for (int u = 0; u < (int)l->urgency; u++)
        waiting += __atomic_load_n(&l->pool->queues[u].count, __ATOMIC_RELAXED);
    return waiting > 0;
}

/* Draw pieces until there are none, one fails, or a helper is called away. A worker is in
   a loop once at a time: its number is its part. */
static hybrid_status draw(hy_loop *l, int part, int helps)
{
    do {
        const int64_t piece = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
        if (piece >= l->pieces)
            break;
        const int64_t begin = l->begin + piece * l->grain;
        const int64_t end   = l->end - begin < l->grain ? l->end : begin + l->grain;
        const hybrid_status status = l->fn(l->arg, part, begin, end);
        if (status != HYBRID_OK) {
            __atomic_store_n(&l->next, l->pieces, __ATOMIC_RELAXED);
            return status;
        }
    } while (!helps || !is_called_away(l));
    return HYBRID_OK;
}

static void help(hy_task *task, int index)
{
    hy_loop *l                 = (hy_loop *)task;
    hy_pool *pool              = l->pool;
    const hybrid_status status = draw(l, index, 1);

    pthread_mutex_lock(&pool->lock);
    l->inside--;
    if (__atomic_load_n(&l->next, __ATOMIC_RELAXED) < l->pieces)
        want_another(l);
    else
        leave_loop(l, status);
    if (l->wanted == 0 && l->inside == 0) { /* its caller may return, and it be gone */
        __atomic_store_n(&l->over, 1, __ATOMIC_RELEASE);
        pthread_cond_broadcast(&pool->left);
    }
    pthread_mutex_unlock(&pool->lock);
}

static void offer(hy_loop *l)
{
    hy_pool *pool = l->pool;

    pthread_mutex_lock(&pool->lock);
    hy_tasks_push(&pool->queues[l->urgency], &l->task);
    __atomic_fetch_add(&pool->offers, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&pool->filled);
    pthread_mutex_unlock(&pool->lock);
}

/* Waking the caller takes as long as waking a worker: it looks for a while too. */
static int sees_end(const hy_loop *l)
{
    for (int i = 0; i < HY_LOOKS && l->pool->looks; i++) {
        if (__atomic_load_n(&l->over, __ATOMIC_ACQUIRE))
            return 1;
        hy_relax();
    }
    return 0;
}

/* Whether this thread is a worker of the pool, which takes part in its own loops. */
static int draws_in(const hy_pool *pool)
{
    return self && self->pool == pool;
}

/* Helpers that a loop has use for. */
static int helpers(const hy_loop *l, int draws)
{
    const int64_t others = l->pieces - draws;
    const int spare      = l->pool->active - draws;
    return others < spare ? (int)others : spare;
}

void hy_pool_begin(hy_loop *loop, hy_pool *pool, hy_urgency urgency, int64_t begin,
                   int64_t end, int64_t grain, hy_loop_fn fn, void *arg)
{
    *loop = (hy_loop){.task    = {help, NULL},
                      .pool    = pool,
                      .urgency = urgency,
                      .fn      = fn,
                      .arg     = arg,
                      .begin   = begin,
                      .end     = end,
                      .grain   = grain};
    if (begin >= end)
        return;
    loop->pieces = (end - begin - 1) / grain + 1;
    loop->wanted = helpers(loop, draws_in(pool));
    if (loop->wanted > 0)
        offer(loop);
}

hybrid_status hy_pool_end(hy_loop *l)
{
    hy_pool *pool = l->pool;

    if (l->pieces == 0)
        return HYBRID_OK;
    if (draws_in(pool)) {
        const hybrid_status status = draw(l, self->index, 0);
        pthread_mutex_lock(&pool->lock);
        leave_loop(l, status);
        const int alone = l->inside == 0;
        pthread_mutex_unlock(&pool->lock);
        if (alone)
            return l->status;
    }
    if (sees_end(l))
        return l->status;
    pthread_mutex_lock(&pool->lock);
    while (l->wanted > 0 || l->inside > 0)
        pthread_cond_wait(&pool->left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    return l->status;
}

hybrid_status hy_pool_for(hy_pool *pool, hy_urgency urgency, int64_t begin, int64_t end,
                          int64_t grain, hy_loop_fn fn, void *arg)
{
    hy_loop loop;

    if (begin < end && end - begin <= grain) /* done before a worker has woken */
        return fn(arg, draws_in(pool) ? self->index : 0, begin, end);
    hy_pool_begin(&loop, pool, urgency, begin, end, grain, fn, arg);
    return hy_pool_end(&loop);
}
