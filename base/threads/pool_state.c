/* base/threads/pool_state.c - the state of a pool and its workers: what callers may ask,
   the homes of loops, and the reserve. */
#include "base/threads/clock.h"
#include "base/threads/spin.h"
#include "base/threads/pool.h"
#include "base/threads/pool_inside.h"

int hy_pool_threads(const hy_pool *pool)
{
    return __atomic_load_n(&pool->active, __ATOMIC_RELAXED);
}

int hy_pool_max_threads(const hy_pool *pool)
{
    return pool->threads;
}

int64_t hy_pool_busy_ns(hy_pool *pool)
{
    int64_t sum = __atomic_load_n(&pool->others_ns, __ATOMIC_RELAXED);

    for (int i = 0; i < pool->threads; i++) {
        const int64_t ns = __atomic_load_n(&pool->workers[i].worked_ns, __ATOMIC_RELAXED);
        sum += ns < 0 ? ns + hy_now_ns() : ns;
    }
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

int hy_pool_leaves_cores(const hy_pool *pool)
{
    return hy_pool_threads(pool) + HY_DRIVER_CORES <= hy_topology_cores(pool->topology);
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

int hy_pool_goes_on(const hy_pool *pool)
{
    const int64_t ended_ns = __atomic_load_n(&pool->computed_ns, __ATOMIC_RELAXED);

    return hy_now_ns() - ended_ns < HY_SPIN_NS;
}

/* ---- homes ------------------------------------------------------------------------- */

/* Home of the loops that the calling thread begins. */
static _Thread_local int home;

void hy_pool_set_home(int at)
{
    home = at;
}

int hy_pool_home(void)
{
    return home;
}

/* ---- the reserve ------------------------------------------------------------------- */

static void set_active(hy_pool *pool, int active)
{
    pthread_mutex_lock(&pool->lock);
    __atomic_store_n(&pool->active, active, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&pool->lock);
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
