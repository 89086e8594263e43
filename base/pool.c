/* base/pool.c - CPU workers of one engine.

   One lock guards the queues; tasks are long compared with it. Loops wait there like any
   task (loops.c). */
#include "base/pool_inside.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/look.h"

enum { WOKEN = 2 }; /* by one thread at a time: it takes some 2 us for each */

/* The worker that this thread is, or NULL. */
static _Thread_local const struct hy_worker *self;

/* The worker's next task, taken out of its queue unless it is a loop that wants more. */
static hy_task *pop(const struct hy_worker *me)
{
    hy_pool *pool = me->pool;

    if (me->index >= pool->active) /* of the reserve, which is not called */
        return NULL;
    for (int u = 0; u < HY_URGENCIES; u++) {
        hy_task *task = pool->queues[u].first;
        while (task && hy_loop_part(task) == me->index)
            task = task->next;
        if (!task)
            continue;
        if (hy_loop_leaves(task))
            hy_tasks_take_out(&pool->queues[u], task);
        return task;
    }
    return NULL;
}

/* ---- workers ----------------------------------------------------------------- */

/* Given up meanwhile: the lock. */
static void look(struct hy_worker *me, unsigned seen)
{
    hy_pool *pool = me->pool;

    me->state = HY_WORKER_LOOKS;
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < HY_LOOKS; i++) {
        if (__atomic_load_n(&pool->offers, __ATOMIC_RELAXED) != seen)
            break;
        hy_relax();
    }
    pthread_mutex_lock(&pool->lock);
}

/* Waking a thread takes longer than the pause between two loops often is: a worker with a
   core of its own looks for a while before it sleeps. Called and left with the lock. */
static void await_offer(struct hy_worker *me)
{
    hy_pool *pool       = me->pool;
    const unsigned seen = pool->offers;

    if (pool->looks && me->index < pool->active)
        look(me, seen);
    if (pool->offers == seen && !pool->stop) {
        me->state = HY_WORKER_SLEEPS;
        __atomic_store_n(&me->cpu, sched_getcpu(), __ATOMIC_RELAXED);
        pthread_cond_wait(&me->called, &pool->lock);
    }
    me->state = HY_WORKER_AWAKE;
}

/* Who looks comes by himself. Nobody counts twice for what came before he is there, and
   `other`, who may not take it, does not count. */
static int call_all_in(hy_pool *pool, hy_worker_state state, int count, int other)
{
    for (int i = 0; i < pool->active && count > 0; i++) {
        struct hy_worker *w = &pool->workers[i];
        if (w->state != state || i == other)
            continue;
        w->state = HY_WORKER_AWAKE;
        if (state == HY_WORKER_SLEEPS)
            pthread_cond_signal(&w->called);
        count--;
    }
    return count;
}

void hy_pool_wake(hy_pool *pool, int count, int other)
{
    __atomic_fetch_add(&pool->offers, 1, __ATOMIC_RELAXED);
    count = call_all_in(pool, HY_WORKER_LOOKS, count, other);
    call_all_in(pool, HY_WORKER_SLEEPS, count < WOKEN ? count : WOKEN, other);
}

/* For the most urgent task that is left. With the lock, another having been taken. */
static void wake_for_rest(hy_pool *pool)
{
    const hy_task *task = NULL;

    for (int u = 0; u < HY_URGENCIES && !task; u++)
        task = pool->queues[u].first;
    if (task)
        call_all_in(pool, HY_WORKER_SLEEPS, WOKEN, hy_loop_part(task));
}

/* Called and left with the lock. */
static void run_task(struct hy_worker *me, hy_task *task)
{
    hy_pool *pool = me->pool;

    me->begun_ns = hy_now_ns();
    pthread_mutex_unlock(&pool->lock);
    task->run(task, me->index);
    pthread_mutex_lock(&pool->lock);
    me->busy_ns += hy_now_ns() - me->begun_ns;
    me->begun_ns = 0;
}

static void *work(void *arg)
{
    struct hy_worker *me = arg;
    hy_pool *pool        = me->pool;

    self = me;
    if (pool->bind)
        hy_topology_bind(pool->topology, me->index);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        hy_task *task = pop(me);
        if (task) {
            wake_for_rest(pool);
            run_task(me, task);
        } else if (pool->stop) {
            break;
        } else {
            await_offer(me);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static hybrid_status start(hy_context *ctx, hy_pool *pool, int threads)
{
    void *memory;

    HY_TRY(hy_array(ctx, threads, sizeof(struct hy_worker), "workers", &memory));
    pool->workers = memory;
    memset(pool->workers, 0, (size_t)threads * sizeof(struct hy_worker));
    for (int i = 0; i < threads; i++) {
        struct hy_worker *w = &pool->workers[i];
        w->pool             = pool;
        w->index            = i;
        w->cpu              = -1;
        pthread_cond_init(&w->called, NULL);
        snprintf(w->name, HY_WORKER_NAME, "cpu%d", i);
        if (pthread_create(&w->thread, NULL, work, w) != 0) {
            pthread_cond_destroy(&w->called);
            return hy_fail(ctx, HYBRID_NO_MEMORY, "worker %d of %d cannot be started", i,
                           threads);
        }
        pool->threads++;
    }
    return HYBRID_OK;
}

static void set_active(hy_pool *pool, int active)
{
    pthread_mutex_lock(&pool->lock);
    pool->active = active;
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
    pthread_cond_init(&pool->left, NULL);
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
    for (int i = 0; i < pool->threads; i++)
        pthread_cond_signal(&pool->workers[i].called);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->threads; i++)
        pthread_join(pool->workers[i].thread, NULL);
    for (int i = 0; i < pool->threads; i++)
        pthread_cond_destroy(&pool->workers[i].called);
    pthread_cond_destroy(&pool->left);
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

int64_t hy_pool_busy_ns(hy_pool *pool)
{
    int64_t sum = __atomic_load_n(&pool->others_ns, __ATOMIC_RELAXED);

    pthread_mutex_lock(&pool->lock);
    const int64_t now = hy_now_ns();
    for (int i = 0; i < pool->threads; i++) {
        const struct hy_worker *w = &pool->workers[i];
        sum += w->busy_ns + (w->begun_ns ? now - w->begun_ns : 0);
    }
    pthread_mutex_unlock(&pool->lock);
    return sum;
}

void hy_pool_worked(hy_pool *pool, int64_t ns)
{
    __atomic_fetch_add(&pool->others_ns, ns, __ATOMIC_RELAXED);
}

int64_t hy_pool_waited_ns(const hy_pool *pool)
{
    return __atomic_load_n(&pool->waited_ns, __ATOMIC_RELAXED);
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
    return index < 0 ? "caller" : pool->workers[index].name;
}

/* ---- tasks ------------------------------------------------------------------- */

void hy_pool_submit(hy_pool *pool, hy_urgency urgency, hy_task *task)
{
    pthread_mutex_lock(&pool->lock);
    hy_tasks_push(&pool->queues[urgency], task);
    hy_pool_wake(pool, 1, -1);
    pthread_mutex_unlock(&pool->lock);
}

int hy_pool_withdraw(hy_pool *pool, hy_urgency urgency, hy_task *task)
{
    pthread_mutex_lock(&pool->lock);
    const int found = hy_tasks_take_out(&pool->queues[urgency], task);
    pthread_mutex_unlock(&pool->lock);
    return found;
}
