/* base/loops.c - loops, whose pieces workers of a pool draw.

   A loop lives on its caller's stack and waits in a queue like any task, but stays there
   until as many workers have joined as it wants. Whoever finds no more pieces takes it
   out of the queue, and hy_pool_for() returns when all who joined have left. Who calls
   that draws pieces itself, so a loop always gets on, also inside a task on a pool of
   one; and a worker waits only for workers that are inside loops begun after its own, so
   nobody waits in a circle. A helper that sees something more urgent waiting leaves
   after its piece, and the loop wants another helper.

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
#include <sched.h>

#include "base/clock.h"
#include "base/look.h"
#include "base/pool_inside.h"

/* ---- who takes part, with the lock held ------------------------------------------- */

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

/* ---- pieces ------------------------------------------------------------------------ */

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

int hy_loop_leaves(hy_task *task)
{
    return task->run != help || !join_loop((hy_loop *)task);
}

int hy_loop_part(const hy_task *task)
{
    return task->run == help ? ((const hy_loop *)task)->part : -1;
}

static void offer(hy_loop *l)
{
    hy_pool *pool = l->pool;

    pthread_mutex_lock(&pool->lock);
    hy_tasks_push(&pool->queues[l->urgency], &l->task);
    hy_pool_wake(pool, l->wanted, l->part);
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

/* The worker whose place a thread takes that is none: the one that sleeps where the
   thread runs. Were that one woken, bound to its core as it may be, both would share it.
 */
static int find_place(const hy_pool *pool)
{
    const int cpu = sched_getcpu();

    for (int i = 0; i < pool->active; i++)
        if (__atomic_load_n(&pool->workers[i].cpu, __ATOMIC_RELAXED) == cpu)
            return i;
    return pool->active - 1;
}

/* Helpers that a loop has use for. */
static int helpers(const hy_loop *l)
{
    const int draws      = l->part >= 0;
    const int64_t others = l->pieces - draws;
    const int spare      = l->pool->active - draws;
    return others < spare ? (int)others : spare;
}

static hy_loop loop_of(hy_pool *pool, hy_urgency urgency, int64_t begin, int64_t end,
                       int64_t grain, hy_loop_fn fn, void *arg)
{
    return (hy_loop){.task    = {help, NULL},
                     .pool    = pool,
                     .urgency = urgency,
                     .fn      = fn,
                     .arg     = arg,
                     .begin   = begin,
                     .end     = end,
                     .grain   = grain,
                     .pieces  = begin < end ? (end - begin - 1) / grain + 1 : 0,
                     .part    = hy_pool_worker(pool)};
}

static void begin_loop(hy_loop *l)
{
    if (l->pieces == 0)
        return;
    l->wanted = helpers(l);
    if (l->wanted > 0)
        offer(l);
}

/* Draw what pieces there are. Whether nobody else is inside any more. */
static int ends_alone(hy_loop *l)
{
    hy_pool *pool              = l->pool;
    const hybrid_status status = draw(l, l->part, 0);

    pthread_mutex_lock(&pool->lock);
    leave_loop(l, status);
    const int alone = l->inside == 0;
    pthread_mutex_unlock(&pool->lock);
    return alone;
}

/* Until all who joined have left. */
static void await_end(hy_loop *l)
{
    hy_pool *pool = l->pool;

    if (sees_end(l))
        return;
    pthread_mutex_lock(&pool->lock);
    while (l->wanted > 0 || l->inside > 0)
        pthread_cond_wait(&pool->left, &pool->lock);
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
    *loop = loop_of(pool, urgency, begin, end, grain, fn, arg);
    begin_loop(loop);
}

hybrid_status hy_pool_end(hy_loop *l)
{
    if (l->pieces == 0 || (l->part >= 0 && ends_alone(l)))
        return l->status;
    (hy_pool_worker(l->pool) >= 0 ? await_end : count_waiting)(l);
    return l->status;
}

hybrid_status hy_pool_for(hy_pool *pool, hy_urgency urgency, int64_t begin, int64_t end,
                          int64_t grain, hy_loop_fn fn, void *arg)
{
    hy_loop loop = loop_of(pool, urgency, begin, end, grain, fn, arg);

    if (loop.pieces == 1) /* done before a worker has woken */
        return fn(arg, loop.part < 0 ? 0 : loop.part, begin, end);
    if (loop.part < 0)
        loop.part = find_place(pool);
    begin_loop(&loop);
    return hy_pool_end(&loop);
}
