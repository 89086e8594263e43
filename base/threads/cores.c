/* base/threads/cores.c - binds workers to cores, and lends them the core of a waiting
   thread.

   Threads of other libraries keep cores busy while they wait: libgomp's spin for some
   milliseconds after each parallel region. Linux wakes a thread on the core of the thread
   that wakes it, so unbound workers queue behind the caller. A worker that has started
   may then lose its core for a scheduler tick (4 ms at 250 Hz). docs/lab/neighbours.md
   has figures.

   Two measures help. Each worker sleeps bound to a core of its own, so workers wake on
   different cores. A thread that waits for workers lends its own core to those that have
   lost theirs. */
#include <sched.h>
#include <string.h>

#include "base/threads/pool.h"
#include "base/threads/pool_inside.h"

/* ---- binding ---------------------------------------------------------------------- */

/* Returns the core on which worker `index` begins. Regular workers begin on cores that
   are spread evenly over the machine and its nodes, and the reserve on the cores
   between. Each worker has another core, so no node has more workers than cores. */
static int core_of(const hy_pool *pool, int index)
{
    const int64_t cores = hy_topology_cores(pool->topology), regular = pool->regular;
    int64_t next = 0; /* the next regular worker, in the order of cores */
    int64_t core = 0;

    if (index < regular)
        return (int)(index * cores / regular);
    for (int64_t skip = index - regular;; core++) {
        if (next < regular && next * cores / regular == core)
            next++;
        else if (skip-- == 0)
            return (int)core;
    }
}

int hy_pool_choose_node(const hy_pool *pool, int index)
{
    return pool->binding == HY_BOUND_NEVER
               ? -1
               : hy_topology_node_at(pool->topology, core_of(pool, index));
}

hybrid_status hy_pool_choose_binding(hy_context *ctx, hy_pool *pool, int most)
{
    const int cores = hy_topology_cores(pool->topology);
    void *memory;

    HY_TRY(hy_array(ctx, cores, 1, "cores of workers", &memory));
    pool->core_used = memory;
    memset(pool->core_used, 0, (size_t)cores);
    if (most == 1 || most > cores || hy_topology_has_quota(pool->topology))
        pool->binding = HY_BOUND_NEVER;
    else
        pool->binding = pool->regular == cores ? HY_BOUND_ALWAYS : HY_BOUND_ASLEEP;
    pool->has_nodes = hy_pool_choose_node(pool, 0) >= 0;
    return HYBRID_OK;
}

int hy_pool_find_replaced(const hy_pool *pool)
{
    const int cpu = sched_getcpu(), count = hy_pool_threads(pool);

    for (int i = 0; i < count; i++)
        if (__atomic_load_n(&pool->workers[i].cpu, __ATOMIC_RELAXED) == cpu)
            return i;
    return count - 1;
}

void hy_worker_place(const struct hy_worker *w)
{
    const hy_topology *topology = w->pool->topology;

    if (w->pool->binding == HY_BOUND_ALWAYS)
        hy_topology_bind(topology, w->index);
    else if (w->node >= 0)
        hy_topology_bind_node(topology, w->node);
    else
        hy_topology_unbind(topology);
}

/* Returns 1 if the worker may sleep on the core: one of its node or, if the worker has no
   node, one that belongs to none. */
static int has_core(const struct hy_worker *w, int core)
{
    return hy_topology_node_at(w->pool->topology, core) == w->node;
}

/* Returns the first core from `start` on which the worker may sleep and to which no
   sleeping worker of the pool is bound. There is one, because HY_BOUND_ASLEEP requires
   fewer workers than cores, and no node has more workers than cores. */
static int take_core(const struct hy_worker *w, int start)
{
    hy_pool *pool   = w->pool;
    const int cores = hy_topology_cores(pool->topology);

    for (int core = start;; core = (core + 1) % cores)
        if (has_core(w, core) &&
            __atomic_exchange_n(&pool->core_used[core], 1, __ATOMIC_RELAXED) == 0)
            return core;
}

void hy_worker_bind(struct hy_worker *w)
{
    const hy_topology *topology = w->pool->topology;

    if (w->pool->binding != HY_BOUND_ASLEEP)
        return;
    w->core = take_core(w, hy_topology_here(topology));
    hy_topology_bind(topology, w->core);
}

void hy_worker_unbind(struct hy_worker *w)
{
    if (w->pool->binding != HY_BOUND_ASLEEP)
        return;
    __atomic_store_n(&w->pool->core_used[w->core], 0, __ATOMIC_RELAXED);
    hy_worker_place(w);
}

/* ---- lending ---------------------------------------------------------------------- */

void hy_worker_return(struct hy_worker *w)
{
    if (!__atomic_load_n(&w->lent, __ATOMIC_ACQUIRE))
        return;
    __atomic_store_n(&w->lent, 0, __ATOMIC_RELAXED);
    hy_worker_place(w);
}

static int is_awaited(const struct hy_worker *w, const hy_loop *loop)
{
    return loop ? __atomic_load_n(&w->loop, __ATOMIC_RELAXED) == loop
                : __atomic_load_n(&w->state, __ATOMIC_RELAXED) == HY_WORKER_AWAKE;
}

/* Returns 1 if the worker has not run since the previous call. */
static int stands_still(struct hy_worker *w)
{
    enum { SECOND = 1000000000 };
    struct timespec t;

    if (clock_gettime(w->clock, &t) != 0)
        return 0;
    const int64_t ns = (int64_t)t.tv_sec * SECOND + t.tv_nsec;
    return __atomic_exchange_n(&w->ran_ns, ns, __ATOMIC_RELAXED) == ns;
}

/* Moves the worker to the caller's core, and sets `lent` after that. A worker that ends
   its task before `lent` is set stays on this core until its next task ends. */
static int move_here(struct hy_worker *w)
{
    const int cpu = sched_getcpu();
    cpu_set_t here;

    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return 0;
    CPU_ZERO(&here);
    CPU_SET((size_t)cpu, &here);
    if (pthread_setaffinity_np(w->thread, sizeof here, &here) != 0)
        return 0;
    __atomic_store_n(&w->lent, 1, __ATOMIC_RELEASE);
    return 1;
}

int hy_pool_lend_core(hy_pool *pool, const hy_loop *loop)
{
    int moved = 0;

    for (int i = 0; i < pool->threads; i++) {
        struct hy_worker *w = &pool->workers[i];
        if (is_awaited(w, loop) && stands_still(w) &&
            !__atomic_load_n(&w->lent, __ATOMIC_RELAXED))
            moved += move_here(w);
    }
    return moved;
}
