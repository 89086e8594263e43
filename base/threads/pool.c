/* base/threads/pool.c - worker threads of one engine, and their queues.

   One lock guards the queues. A thread holds it for a time that is short compared with a
   task. Loops wait in the queues like any task (loops.c). */
#include "base/threads/pool.h"
#include "base/threads/pool_inside.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/threads/clock.h"
#include "base/threads/spin.h"

/* The worker that the calling thread is; NULL if the thread is no worker of a pool. */
static _Thread_local const struct hy_worker *self;

/* Returns the first task of the queue that suits the worker, or else the first that it
   may take; NULL if there is none. */
static hy_task *choose(const hy_tasks *queue, const struct hy_worker *me)
{
    hy_task *first = NULL;

    for (hy_task *task = queue->first; task; task = task->next) {
        if (hy_loop_part(task) == me->index)
            continue;
        if (hy_worker_suits(me, task))
            return task;
        if (!first)
            first = task;
    }
    return first;
}

/* Returns the worker's next task, or NULL. Takes the task out of its queue, unless it is
   a loop that wants more helpers. */
static hy_task *pop(const struct hy_worker *me)
{
    hy_pool *pool = me->pool;

    if (me->index >= pool->active) /* the worker belongs to the reserve, which may take no
                                      tasks now */
        return NULL;
    for (int u = 0; u < HY_URGENCIES; u++) {
        hy_task *task = choose(&pool->queues[u], me);
        if (!task)
            continue;
        if (hy_loop_leaves(task))
            hy_tasks_take_out(&pool->queues[u], task);
        return task;
    }
    return NULL;
}

/* ---- workers ----------------------------------------------------------------- */

/* Returns 1 if a queue has a task. A thread that submits a task pushes it before it reads
   the states of workers, so a worker that begins to spin misses no task. A loop is first
   given to the workers that spin at that time. */
static int something_waits(const hy_pool *pool)
{
    int count = 0;

    for (int u = 0; u < HY_URGENCIES; u++)
        count += __atomic_load_n(&pool->queues[u].count, __ATOMIC_SEQ_CST);
    return count > 0;
}

/* Takes the task that the worker was given; NULL if there is none. */
static hy_task *take_assigned(struct hy_worker *me)
{
    return __atomic_load_n(&me->assigned, __ATOMIC_RELAXED)
               ? __atomic_exchange_n(&me->assigned, NULL, __ATOMIC_ACQUIRE)
               : NULL;
}

/* Returns 1 if the worker may spin before it sleeps, because it has a core of its own.
   Waking a thread often takes longer than the pause between two loops. */
static int may_spin(const struct hy_worker *me)
{
    return me->pool->spins &&
           me->index < __atomic_load_n(&me->pool->active, __ATOMIC_RELAXED);
}

static void begin_to_spin(struct hy_worker *me)
{
    __atomic_store_n(&me->state, HY_WORKER_SPINS, __ATOMIC_SEQ_CST);
}

/* Spins for a task that the worker is given. Returns NULL after HY_SPINS polls, or once
   another task was queued (pool->offers is no longer `seen`). */
static hy_task *spin(struct hy_worker *me, unsigned seen)
{
    hy_task *task = NULL;

    for (int i = 0; i < HY_SPINS && !task; i++) {
        if (__atomic_load_n(&me->pool->offers, __ATOMIC_RELAXED) != seen)
            break;
        hy_relax();
        task = take_assigned(me);
    }
    return task;
}

/* Spins before the queues are searched, unless a queue has a task. *tired: 1 if the
   worker has spun in vain or may not spin. */
static hy_task *spin_at_once(struct hy_worker *me, int *tired)
{
    const hy_pool *pool = me->pool;
    const unsigned seen = __atomic_load_n(&pool->offers, __ATOMIC_SEQ_CST);

    *tired = !may_spin(me);
    if (*tired)
        return NULL;
    begin_to_spin(me);
    if (something_waits(pool))
        return NULL;
    hy_task *task = spin(me, seen);
    *tired        = __atomic_load_n(&pool->offers, __ATOMIC_RELAXED) == seen;
    return task;
}

/* Sleeps until another thread calls the worker. The caller holds the pool's lock, which
   is released meanwhile. */
static void sleep_until_called(struct hy_worker *me)
{
    __atomic_store_n(&me->state, HY_WORKER_SLEEPS, __ATOMIC_RELAXED);
    __atomic_store_n(&me->cpu, sched_getcpu(), __ATOMIC_RELAXED);
    pthread_cond_wait(&me->called, &me->pool->lock);
    __atomic_store_n(&me->state, HY_WORKER_AWAKE, __ATOMIC_RELAXED);
}

/* Wakes at most `count` sleeping workers, which the task suits (1) or does not suit (0).
   Returns how many more are to be woken. */
static int rouse_some(hy_pool *pool, const hy_task *task, int suits, int count)
{
    const int other = hy_loop_part(task);

    for (int i = 0; i < pool->active && count > 0; i++) {
        struct hy_worker *w = &pool->workers[i];
        if (__atomic_load_n(&w->state, __ATOMIC_RELAXED) != HY_WORKER_SLEEPS ||
            i == other || hy_worker_suits(w, task) != suits)
            continue;
        /* counts as awake at once, so that no other thread wakes the worker again */
        __atomic_store_n(&w->state, HY_WORKER_AWAKE, __ATOMIC_RELAXED);
        pthread_cond_signal(&w->called);
        count--;
    }
    return count;
}

/* Wakes at most `most` workers for a task, first those that it suits. A worker that may
   not take the task, because another thread has its place in the loop, is not woken. */
void hy_pool_rouse(hy_pool *pool, const hy_task *task, int most)
{
    const int left = rouse_some(pool, task, 1, hy_loop_wakes(task, most));

    if (pool->has_nodes)
        rouse_some(pool, task, 0, left);
}

/* Wakes workers for the most urgent task that is left. The caller has taken another task
   and holds the lock. */
static void rouse_for_rest(hy_pool *pool)
{
    for (int u = 0; u < HY_URGENCIES; u++) {
        if (!pool->queues[u].first)
            continue;
        hy_pool_rouse(pool, pool->queues[u].first, HY_WOKEN);
        return;
    }
}

/* Returns the task that the worker was given last, or the most urgent queued task. Wakes
   workers for tasks that are left, also if the worker may not take them, because it was
   dismissed with the reserve after others had relied on it. The lock is held. */
static hy_task *find_task(struct hy_worker *me)
{
    hy_task *task = take_assigned(me);

    __atomic_store_n(&me->state, HY_WORKER_AWAKE, __ATOMIC_RELAXED);
    if (task)
        return task;
    task = pop(me);
    if (task || me->index >= me->pool->active)
        rouse_for_rest(me->pool);
    return task;
}

/* Returns the worker's next task, for which it waits if there is none; NULL if the pool
   is stopped. */
static hy_task *await_task(struct hy_worker *me)
{
    hy_pool *pool = me->pool;
    int stop      = 0, tired;
    hy_task *task = spin_at_once(me, &tired);

    while (!task && !stop) {
        const int may_sleep = tired;
        if (may_sleep) /* binding makes system calls, so the lock is not held */
            hy_worker_bind(me);
        pthread_mutex_lock(&pool->lock);
        task = find_task(me);
        if (!task && !pool->stop && may_sleep) {
            sleep_until_called(me);
            task = find_task(me);
        }
        stop                = pool->stop;
        const unsigned seen = pool->offers;
        const int spins     = !task && !stop && may_spin(me);
        if (spins)
            begin_to_spin(me);
        pthread_mutex_unlock(&pool->lock);
        if (may_sleep)
            hy_worker_unbind(me);
        if (spins)
            task = spin(me, seen);
        tired = !spins || __atomic_load_n(&pool->offers, __ATOMIC_RELAXED) == seen;
    }
    return task;
}

static void run_task(struct hy_worker *me, hy_task *task)
{
    __atomic_fetch_sub(&me->worked_ns, hy_now_ns(), __ATOMIC_RELAXED);
    hy_pool_set_home(task->home);
    task->run(task, me->index);
    __atomic_fetch_add(&me->worked_ns, hy_now_ns(), __ATOMIC_RELAXED);
    hy_worker_return(me);
}

static void *work(void *arg)
{
    struct hy_worker *me = arg;
    hy_task *task;

    self = me;
    if (me->pool->binding == HY_BOUND_ALWAYS || me->node >= 0)
        hy_worker_place(me);
    while ((task = await_task(me)) != NULL)
        run_task(me, task);
    return NULL;
}

static hybrid_status start(hy_context *ctx, hy_pool *pool, int threads)
{
    void *memory;

    HY_TRY(hy_pool_choose_binding(ctx, pool, threads));
    HY_TRY(hy_array(ctx, threads, sizeof(struct hy_worker), "workers", &memory));
    pool->workers = memory;
    memset(pool->workers, 0, (size_t)threads * sizeof(struct hy_worker));
    for (int i = 0; i < threads; i++) {
        struct hy_worker *w = &pool->workers[i];
        w->pool             = pool;
        w->index            = i;
        w->cpu              = -1;
        w->node             = hy_pool_choose_node(pool, i);
        w->ran_ns           = -1;
        pthread_cond_init(&w->called, NULL);
        snprintf(w->name, HY_WORKER_NAME, "cpu%d", i);
        if (pthread_create(&w->thread, NULL, work, w) != 0) {
            pthread_cond_destroy(&w->called);
            return hy_fail(ctx, HYBRID_NO_MEMORY,
                           "the system refuses to start worker %d of %d; use fewer "
                           "threads, or raise the limit on threads (ulimit -u)",
                           i, threads);
        }
        pthread_getcpuclockid(w->thread, &w->clock); /* cannot fail for a running
                                                        thread */
        pool->threads++;
    }
    return HYBRID_OK;
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
    hy_progress_cond_init(&pool->left);
    pool->progress = &ctx->progress;
    threads        = threads > 0 ? threads : cores;
    pool->topology = topology;
    pool->spins    = threads <= cores && threads > 1;
    pool->regular  = threads;
    pool->active   = threads;

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
    __atomic_fetch_add(&pool->offers, 1, __ATOMIC_SEQ_CST);
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
    hy_array_free(ctx, pool->core_used);
    hy_array_free(ctx, pool);
}

int hy_pool_worker(const hy_pool *pool)
{
    return self && self->pool == pool ? self->index : -1;
}

/* ---- tasks ------------------------------------------------------------------- */

/* Returns a spinning worker that the task suits, or else any spinning worker; NULL if
   none spins. */
static struct hy_worker *find_spinning(const hy_pool *pool, const hy_task *task)
{
    struct hy_worker *found = NULL;

    for (int i = 0; i < pool->active; i++) {
        struct hy_worker *w = &pool->workers[i];
        if (!hy_worker_spins(w))
            continue;
        if (hy_worker_suits(w, task))
            return w;
        if (!found)
            found = w;
    }
    return found;
}

/* Queues the task (an offer). A spinning worker sees the offer, and then no other worker
   is woken. The spinning worker counts as awake from now on, so that the next offer
   relies on another worker. */
static void offer(hy_pool *pool, hy_urgency urgency, hy_task *task)
{
    hy_tasks_push(&pool->queues[urgency], task);
    __atomic_fetch_add(&pool->offers, 1, __ATOMIC_SEQ_CST);
    struct hy_worker *w = find_spinning(pool, task);
    if (w)
        __atomic_store_n(&w->state, HY_WORKER_AWAKE, __ATOMIC_RELAXED);
    else
        hy_pool_rouse(pool, task, 1);
}

/* All spinning workers try for a task that is offered, in case the worker that is counted
   on has lost its core. HY_IDLE tasks may come in dozens and are not urgent, so each is
   given to one worker instead. */
void hy_pool_submit(hy_pool *pool, hy_urgency urgency, hy_task *task)
{
    pthread_mutex_lock(&pool->lock);
    struct hy_worker *w = urgency == HY_IDLE ? find_spinning(pool, task) : NULL;
    if (w)
        hy_worker_assign(w, task);
    else
        offer(pool, urgency, task);
    pthread_mutex_unlock(&pool->lock);
}

int hy_pool_withdraw(hy_pool *pool, hy_urgency urgency, hy_task *task)
{
    pthread_mutex_lock(&pool->lock);
    int found = hy_tasks_take_out(&pool->queues[urgency], task);
    for (int i = 0; i < pool->active && !found; i++)
        found = hy_worker_withdraw(&pool->workers[i], task);
    pthread_mutex_unlock(&pool->lock);
    return found;
}
