/* base/threads/loops.c - parallel loops, cut into pieces that threads draw one by one.

   A loop lives on its caller's stack. A helper is a worker that draws pieces of the loop.
   The loop waits in a queue until as many helpers have joined as it wants. The worker
   that finds no more pieces takes the loop out of the queue. hy_pool_for() returns when
   all helpers have left. The caller draws pieces itself, so a loop makes progress on a
   pool of one worker, too. A worker waits only for loops that began after its own, so no
   two loops wait for each other. A helper that sees a more urgent task leaves after its
   piece, and the loop wants another helper.

   Spinning workers are given a loop when it begins: each polls a word of its own, without
   the lock, and counts as inside at once. A caller that finds no more pieces takes the
   loop back from workers that have not begun it.

   Correctness:

     - Once `next` has reached `pieces` it stays there. Threads inside do what they drew.
     - The loop is in the queue if and only if helpers are wanted. Only a thread that
       holds the lock changes this.
     - While pieces are left, wanted + inside is constant: a helper that joins moves one
       from wanted to inside, and a helper that is called away moves one back. The sum is
       not 0, so helpers will come for the pieces, and the loop is not over.
     - When no piece is left, the first thread that leaves with the lock, or that waits
       for the end, takes the loop out of the queue. A helper leaves without the lock
       only if no helper is wanted.
     - A helper that is called away checks for pieces again after it has put the loop
       back. Either it finds none and takes the loop out of the queue, or the thread that
       draws the last piece sees that a helper is wanted.
     - A helper that is called away need not wake a worker: any worker that finds the
       urgent task gone finds the loop. */
#include "base/threads/clock.h"
#include "base/threads/loop_people.h"
#include "base/threads/spin.h"

enum {
    PATIENCE = HY_SPINS / 20, /* number of polls, some microseconds in all, for which the
                                 caller waits for helpers before it takes the loop back
                                 from workers that have not begun it */
    LEND = HY_SPINS / 5       /* number of polls, some 10 us in all, after which the
                                 caller looks for helpers that do not run, to lend them
                                 its core */
};

/* ---- pieces ------------------------------------------------------------------------ */

static int is_called_away(const hy_loop *l)
{
    int waiting = 0;

    for (int u = 0; u < (int)l->urgency; u++)
        waiting += __atomic_load_n(&l->pool->queues[u].count, __ATOMIC_RELAXED);
    return waiting > 0;
}

/* Draws pieces until none is left, one fails, or the helper is called away. `part` is the
   thread's index in the loop (hy_loop_fn). A worker is inside a loop only once at a
   time. */
static hybrid_status draw(hy_loop *l, int part, int helps)
{
    do {
        const int64_t piece = __atomic_fetch_add(&l->next, 1, __ATOMIC_SEQ_CST);
        if (piece >= l->pieces)
            break;
        const int64_t begin  = l->begin + piece * l->grain;
        const int64_t end    = l->end - begin < l->grain ? l->end : begin + l->grain;
        hybrid_status status = hy_progress_check(l->pool->progress);
        if (status == HYBRID_OK)
            status = l->fn(l->arg, part, begin, end);
        if (status != HYBRID_OK) {
            __atomic_store_n(&l->next, l->pieces, __ATOMIC_RELAXED);
            return status;
        }
    } while (!helps || !is_called_away(l));
    return HYBRID_OK;
}

/* Draws pieces as a helper, and logs the time. The entry is complete before the helper
   leaves, so that the thread that ends the loop finds it. */
static hybrid_status draw_logged(hy_loop *l, int index)
{
    const int64_t begin_ns = hy_now_ns();

    if (!has_pieces(l))
        return HYBRID_OK;
    hy_work_begin(l->work);
    const hybrid_status status = draw(l, index, 1);
    hy_work_end(index, begin_ns, hy_now_ns());
    return status;
}

/* Lets a helper leave the loop without taking the lock, and returns 1. Returns 0 if
   helpers are wanted, because leaving then requires the lock. Sets *last to 1 if `people`
   became 0; the loop may then no longer exist. */
static int leaves_quietly(hy_loop *l, int *last)
{
    uint64_t now = people(l);

    while (now < WANTED) {
        *last = now == INSIDE;
        if (__atomic_compare_exchange_n(&l->people, &now, now - INSIDE, 0,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return 1;
    }
    return 0;
}

static void leave(hy_loop *l, hybrid_status status)
{
    hy_pool *pool = l->pool;

    pthread_mutex_lock(&pool->lock);
    const int called_away = has_pieces(l);
    if (called_away)
        want_another(l);
    if (!has_pieces(l) && leave_loop(l, called_away ? 0 : INSIDE, status) == 0)
        pthread_cond_broadcast(&pool->left);
    pthread_mutex_unlock(&pool->lock);
}

/* Wakes callers that sleep. A caller counts itself in `waiting` before it reads `people`
   for the last time. */
static void tell_callers(hy_pool *pool)
{
    if (__atomic_load_n(&pool->waiting, __ATOMIC_SEQ_CST) == 0)
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->left);
    pthread_mutex_unlock(&pool->lock);
}

static void help(hy_task *task, int index)
{
    hy_loop *l           = (hy_loop *)task;
    hy_pool *pool        = l->pool;
    struct hy_worker *me = &pool->workers[index];
    int last             = 0;

    __atomic_store_n(&me->loop, l, __ATOMIC_RELAXED);
    hy_message_aside(l->aside);
    const hybrid_status status = l->work.log ? draw_logged(l, index) : draw(l, index, 1);
    hy_message_aside(NULL);
    __atomic_store_n(&me->loop, NULL, __ATOMIC_RELAXED);

    if (status != HYBRID_OK || has_pieces(l) || !leaves_quietly(l, &last))
        leave(l, status);
    else if (last)
        tell_callers(pool);
}

int hy_loop_leaves(hy_task *task)
{
    return task->run != help || !join_loop((hy_loop *)task);
}

int hy_loop_wakes(const hy_task *task, int most)
{
    const hy_loop *l = (const hy_loop *)task;

    if (task->run != help)
        return most;
    const uint64_t wanted = people(l) / WANTED;
    const uint64_t count  = wanted > l->idle ? wanted - l->idle : 0;
    return count < (uint64_t)most ? (int)count : most;
}

int hy_loop_part(const hy_task *task)
{
    return task->run == help ? ((const hy_loop *)task)->part : -1;
}

/* Gives the loop to spinning workers that it suits (1) or does not suit (0). */
static void assign_some(hy_loop *l, int suits)
{
    hy_pool *pool = l->pool;

    for (int i = 0; i < pool->active && wants_some(l); i++) {
        struct hy_worker *w = &pool->workers[i];
        if (i == l->part || !hy_worker_spins(w) || hy_worker_suits(w, &l->task) != suits)
            continue;
        join_loop(l);
        hy_worker_assign(w, &l->task);
    }
}

/* Gives the loop to spinning workers, first to those that it suits. The caller holds the
   pool's lock. */
static void assign_workers(hy_loop *l)
{
    assign_some(l, 1);
    if (l->pool->has_nodes)
        assign_some(l, 0);
}

static void offer(hy_loop *l)
{
    hy_pool *pool = l->pool;

    pthread_mutex_lock(&pool->lock);
    assign_workers(l);
    if (wants_some(l)) {
        hy_tasks_push(&pool->queues[l->urgency], &l->task);
        hy_pool_rouse(pool, &l->task, HY_WOKEN);
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Takes the loop back from workers that have not begun it, because no piece is left. */
static void recall(hy_loop *l)
{
    hy_pool *pool   = l->pool;
    uint64_t inside = 0;

    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < pool->active; i++)
        inside += hy_worker_withdraw(&pool->workers[i], &l->task) ? INSIDE : 0;
    leave_loop(l, inside, HYBRID_OK);
    pthread_mutex_unlock(&pool->lock);
}

/* Polls for the end of the loop, at most `polls` times. Waking the caller takes as long
   as waking a worker, so the caller spins before it sleeps. */
static int sees_end(const hy_loop *l, int polls)
{
    for (int i = 0; i < polls && l->pool->spins; i++) {
        if (people(l) == 0)
            return 1;
        hy_relax();
    }
    return people(l) == 0;
}

/* Returns the number of helpers that the loop can use. */
static int helpers(const hy_loop *l)
{
    const int draws      = l->part >= 0;
    const int64_t others = l->pieces - draws;
    const int spare      = hy_pool_threads(l->pool) - draws;
    return others < spare ? (int)others : spare;
}

static hy_loop loop_of(hy_pool *pool, hy_urgency urgency, int64_t begin, int64_t end,
                       int64_t grain, hy_loop_fn fn, void *arg)
{
    return (hy_loop){.task    = {.run = help, .home = hy_pool_home()},
                     .pool    = pool,
                     .urgency = urgency,
                     .fn      = fn,
                     .arg     = arg,
                     .begin   = begin,
                     .end     = end,
                     .grain   = grain,
                     .pieces  = begin < end ? (end - begin - 1) / grain + 1 : 0,
                     .part    = hy_pool_worker(pool),
                     .work    = hy_work_now(),
                     .aside   = hy_message_get_aside()};
}

/* Queues the loop. One worker is woken for every `fine` pieces. */
static void begin_loop(hy_loop *l, int fine)
{
    if (l->pieces == 0)
        return;
    const uint64_t count = (uint64_t)helpers(l);
    const int64_t worth  = (l->pieces - (l->part >= 0)) / fine;
    l->idle              = worth < (int64_t)count ? count - (uint64_t)worth : 0;
    l->people            = count * WANTED;
    if (count > 0)
        offer(l);
}

/* Draws the remaining pieces. Returns 1 if no helper is inside any more. */
static int ends_alone(hy_loop *l)
{
    hy_pool *pool              = l->pool;
    const hybrid_status status = draw(l, l->part, 0);

    if (status == HYBRID_OK && !wants_some(l))
        return people(l) == 0;
    pthread_mutex_lock(&pool->lock);
    const uint64_t left = leave_loop(l, 0, status);
    pthread_mutex_unlock(&pool->lock);
    return left == 0;
}

/* Waits for the end of the loop and lends the caller's core to helpers that do not run.
   Returns 1 if the end was seen. Returns 0 if the caller should sleep, because it has
   waited long or has lent its core. */
static int sees_end_or_lends(hy_loop *l)
{
    if (sees_end(l, LEND))
        return 1;
    hy_pool_lend_core(l->pool, l); /* the first call only notes which workers run */
    if (sees_end(l, LEND))
        return 1;
    return hy_pool_lend_core(l->pool, l) == 0 && sees_end(l, HY_SPINS - 2 * LEND);
}

static void lend_unlocked(const hy_loop *l)
{
    pthread_mutex_unlock(&l->pool->lock);
    hy_pool_lend_core(l->pool, l);
    pthread_mutex_lock(&l->pool->lock);
}

/* Waits until all helpers have left the loop. */
static void await_end(hy_loop *l)
{
    hy_pool *pool = l->pool;

    if (sees_end(l, PATIENCE))
        return;
    if (!has_pieces(l))
        recall(l);
    if (sees_end_or_lends(l))
        return;
    pthread_mutex_lock(&pool->lock);
    __atomic_fetch_add(&pool->waiting, 1, __ATOMIC_SEQ_CST);
    while (people(l) > 0)
        if (!hy_progress_wait_for(pool->progress, &pool->left, &pool->lock, HY_LEND_NS))
            lend_unlocked(l);
    __atomic_fetch_sub(&pool->waiting, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&pool->lock);
}

static void count_waiting(hy_loop *l)
{
    const int64_t begin = hy_now_ns();

    await_end(l);
    __atomic_fetch_add(&l->pool->waited_ns, hy_now_ns() - begin, __ATOMIC_RELAXED);
}

void hy_pool_begin(hy_loop *loop, hy_pool *pool, hy_urgency urgency, int64_t begin,
                   int64_t end, int64_t grain, hy_loop_fn fn, void *arg)
{
    __atomic_fetch_add(&pool->begun, 1, __ATOMIC_RELAXED);
    *loop = loop_of(pool, urgency, begin, end, grain, fn, arg);
    begin_loop(loop, 1);
}

static hybrid_status end_loop(hy_loop *l)
{
    if (l->pieces == 0 || (l->part >= 0 && ends_alone(l)))
        return l->status;
    (hy_pool_worker(l->pool) >= 0 ? await_end : count_waiting)(l);
    return l->status == HYBRID_OK ? hy_progress_check(l->pool->progress) : l->status;
}

hybrid_status hy_pool_end(hy_loop *loop)
{
    __atomic_fetch_sub(&loop->pool->begun, 1, __ATOMIC_RELAXED);
    return end_loop(loop);
}

hybrid_status hy_pool_for_fine(hy_pool *pool, hy_urgency urgency, int64_t begin,
                               int64_t end, int64_t grain, int fine, hy_loop_fn fn,
                               void *arg)
{
    hy_loop loop = loop_of(pool, urgency, begin, end, grain, fn, arg);

    if (loop.pieces == 1) { /* computing a single piece takes less time than waking a
                               worker */
        HY_TRY(hy_progress_check(pool->progress));
        return fn(arg, loop.part < 0 ? 0 : loop.part, begin, end);
    }
    if (loop.part < 0)
        loop.part = hy_pool_find_replaced(pool);
    begin_loop(&loop, fine);
    const hybrid_status status = end_loop(&loop);
    if (urgency == HY_COMPUTE)
        __atomic_store_n(&pool->computed_ns, hy_now_ns(), __ATOMIC_RELAXED);
    return status;
}

hybrid_status hy_pool_for(hy_pool *pool, hy_urgency urgency, int64_t begin, int64_t end,
                          int64_t grain, hy_loop_fn fn, void *arg)
{
    return hy_pool_for_fine(pool, urgency, begin, end, grain, 1, fn, arg);
}
