/* base/threads/pool_inside.h - what pool.c, pool_state.c, loops.c and cores.c share about
   the pool. */
#ifndef HY_POOL_INSIDE_H
#define HY_POOL_INSIDE_H

#include <pthread.h>
#include <time.h>

#include "base/contract/context.h"
#include "base/threads/tasks.h"
#include "base/threads/topology.h"

enum { HY_WORKER_NAME = 16 };

typedef enum hy_worker_state {
    HY_WORKER_AWAKE, /* has a task, or is on its way to the queues */
    HY_WORKER_SPINS, /* spins without the lock, for a task that is assigned to it or newly
                        queued (an offer) */
    HY_WORKER_SLEEPS
} hy_worker_state;

/* Maximum number of workers that one thread wakes at a time; waking one takes some 2
   us. */
enum { HY_WOKEN = 2 };

typedef enum hy_binding {
    HY_BOUND_NEVER,  /* the system chooses the cores */
    HY_BOUND_ASLEEP, /* a worker wakes on the core on which it went to sleep; after that
                        the system may move it, for instance away from another process */
    HY_BOUND_ALWAYS  /* worker i runs on core i */
} hy_binding;

enum { HY_POLLED_BYTES = 128 }; /* distance in bytes between data that different workers
                                   poll */

struct hy_worker {
    struct hy_pool *pool;
    int index;
    int state;         /* hy_worker_state; atomic. A worker that begins to spin sets it
                          without the lock; all other changes need the lock. */
    hy_task *assigned; /* task that another thread gave the worker while it spins: a loop
                          that counts the worker as inside, or an HY_IDLE task; atomic */
    int cpu;           /* CPU on which the worker last went to sleep; -1: none; atomic */
    int core;          /* HY_BOUND_ASLEEP: core to which the worker was last bound */
    int node;          /* NUMA node on whose cores alone the worker runs; -1: any core */
    struct hy_loop *loop; /* loop in which the worker draws as a helper; NULL: none;
                             atomic */
    clockid_t clock;   /* clock that counts the time for which the worker has run */
    int64_t ran_ns;    /* nanoseconds on `clock` at the latest hy_pool_lend_core(); -1:
                          none yet; atomic */
    int lent;          /* 1: the worker runs on another thread's core; atomic */
    int64_t worked_ns; /* nanoseconds that the worker has spent in tasks; during a task
                          this sum minus the task's start time, which is negative;
                          atomic */
    pthread_cond_t called; /* signalled when a task is queued (an offer) or the pool stops */
    pthread_t thread;
    char name[HY_WORKER_NAME];
    char padding[HY_POLLED_BYTES];
};

struct hy_pool {
    pthread_mutex_t lock;
    pthread_cond_t left; /* signalled when the last helper has left a loop */
    hy_progress *progress;
    hy_tasks queues[HY_URGENCIES];
    int stop;
    int waiting;     /* number of threads that sleep until a loop is over; atomic */
    int begun;       /* number of loops between hy_pool_begin() and hy_pool_end(); atomic */
    unsigned offers; /* number of tasks that were ever queued; read without the lock */
    const hy_topology *topology;
    int spins; /* 1: workers without work spin before they sleep */
    hy_binding binding;
    int has_nodes; /* 1: workers run on the cores of their NUMA nodes */
    unsigned char *core_used; /* HY_BOUND_ASLEEP: 1 for each core to which a sleeping
                                 worker is bound; atomic */
    int threads;          /* number of workers, reserve included */
    int regular;          /* number of workers without the reserve */
    int active;           /* the first `active` workers may take tasks now; atomic */
    int64_t computed_ns;  /* time when the latest HY_COMPUTE loop with several pieces
                             ended, in ns; atomic */
    int64_t others_ns, waited_ns; /* nanoseconds of work, and of waiting, of threads that
                                     are no workers; atomic */
    struct hy_worker *workers;
};

/* pool.c: wakes at most `most` workers for a task in the queues. A worker that takes a
   task wakes more if there are more tasks. The caller holds the pool's lock. */
void hy_pool_rouse(hy_pool *pool, const hy_task *task, int most);

/* Returns 1 if the worker spins. The caller holds the pool's lock. */
static inline int hy_worker_spins(const struct hy_worker *w)
{
    return __atomic_load_n(&w->state, __ATOMIC_SEQ_CST) == HY_WORKER_SPINS;
}

/* Returns 1 if no other worker suits the task better: it has no home, or the worker runs
   there, or anywhere. */
static inline int hy_worker_suits(const struct hy_worker *w, const hy_task *task)
{
    return task->home == 0 || w->node < 0 || task->home == w->node + 1;
}

/* Gives the task to a spinning worker, which takes it as if from a queue. The caller
   holds the pool's lock. */
static inline void hy_worker_assign(struct hy_worker *w, hy_task *task)
{
    __atomic_store_n(&w->state, HY_WORKER_AWAKE, __ATOMIC_RELAXED);
    __atomic_store_n(&w->assigned, task, __ATOMIC_RELEASE);
}

/* Takes back a task that the worker was given. Returns 0 if the worker has begun it. */
static inline int hy_worker_withdraw(struct hy_worker *w, hy_task *task)
{
    if (!__atomic_compare_exchange_n(&w->assigned, &task, NULL, 0, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return 0;
    __atomic_store_n(&w->state, HY_WORKER_SPINS, __ATOMIC_RELAXED);
    return 1;
}

/* cores.c: decides how workers are bound. `most` is the number of workers with the
   reserve. */
hybrid_status hy_pool_choose_binding(hy_context *ctx, hy_pool *pool, int most);

/* Chooses the worker that stays out of a loop for the calling thread, which is no worker:
   the one that sleeps on the core of the calling thread, because both would share this
   core. */
int hy_pool_find_replaced(const hy_pool *pool);

/* Chooses the NUMA node of worker `index`; -1: none. */
int hy_pool_choose_node(const hy_pool *pool, int index);

/* Lets a worker run where it may while it is awake: on its core, on the cores of its
   node, or on all cores. */
void hy_worker_place(const struct hy_worker *w);

/* Binds a worker that is about to sleep, and releases it when it has woken. */
void hy_worker_bind(struct hy_worker *w);
void hy_worker_unbind(struct hy_worker *w);

/* Lets a worker that hy_pool_lend_core() moved run on its own cores again. */
void hy_worker_return(struct hy_worker *w);

/* loops.c: returns the index of the worker that stays out of this loop, because the
   loop's caller takes its place; -1 if no worker does, or the task is no loop. The caller
   holds the pool's lock. */
int hy_loop_part(const hy_task *task);

/* loops.c: returns the number of workers, at most `most`, that are worth waking for the
   task. The caller holds the pool's lock. */
int hy_loop_wakes(const hy_task *task, int most);

/* loops.c: called for a worker that takes the task. Returns 1 if the task leaves the
   queue. A loop stays while it wants more helpers; the worker joins it. The caller holds
   the pool's lock. */
int hy_loop_leaves(hy_task *task);

#endif /* HY_POOL_INSIDE_H */
