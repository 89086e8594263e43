/* base/threads/pool_inside.h - what pool.c and loops.c know of a pool. */
#ifndef HY_POOL_INSIDE_H
#define HY_POOL_INSIDE_H

#include <pthread.h>
#include <time.h>

#include "base/threads/tasks.h"

enum { HY_WORKER_NAME = 16 };

typedef enum hy_worker_state {
    HY_WORKER_AWAKE, /* has a task, or is on its way to the queues */
    HY_WORKER_LOOKS, /* for what it is given, and for offers, without the lock */
    HY_WORKER_SLEEPS
} hy_worker_state;

enum { HY_WOKEN = 2 }; /* by one thread at a time: it takes some 2 us for each */

typedef enum hy_binding {
    HY_BOUND_NEVER,  /* the system chooses the cores */
    HY_BOUND_ASLEEP, /* a worker wakes on the core on which it went to sleep; after that the
                        system may move it, for instance away from another process */
    HY_BOUND_ALWAYS  /* worker i runs on core i */
} hy_binding;

enum { HY_APART = 128 }; /* bytes between what different workers look at */

struct hy_worker {
    struct hy_pool *pool;
    int index;
    int state;      /* hy_worker_state: atomic; a worker that begins to look says so without
                       the lock, all else is written with it */
    hy_task *given; /* to one that looks: a loop that counts it as inside, or a task that is
                       not urgent. Atomic */
    int cpu;        /* where it last went to sleep; -1: nowhere yet; atomic */
    int core;       /* HY_BOUND_ASLEEP: the core to which it was last bound */
    hy_loop *loop;  /* loop whose pieces it draws as a helper; NULL: none; atomic */
    clockid_t clock; /* counts the nanoseconds in which the worker has run */
    int64_t ran_ns;  /* that clock at the last hy_pool_lend_core(); -1: none yet; atomic */
    int lent;        /* 1: it may run on another thread's core only; atomic */
    int64_t worked_ns; /* in tasks; if negative, less the time when the present one began;
                          atomic */
    pthread_cond_t called; /* by an offer, or stop */
    pthread_t thread;
    char name[HY_WORKER_NAME];
    char apart[HY_APART];
};

struct hy_pool {
    pthread_mutex_t lock;
    pthread_cond_t left; /* the last helper left a loop */
    hy_progress *progress;
    hy_tasks queues[HY_URGENCIES];
    int stop;
    int waiting;     /* threads that sleep until a loop is over; atomic */
    unsigned offers; /* counts tasks that came into the queues; read without the lock */
    const hy_topology *topology;
    int looks; /* workers without work look for some before they sleep */
    hy_binding binding;
    unsigned char *taken; /* HY_BOUND_ASLEEP: 1 for each core to which a sleeping worker is
                             bound; atomic */
    int threads; /* that run, */
    int regular; /* of which so many always work, */
    int active;  /* and so many now: the first ones */
    int64_t computed_ns; /* when the last loop of HY_COMPUTE ended that had several pieces;
                            atomic */
    int64_t others_ns, waited_ns; /* threads that are no workers: at work, waiting; atomic */
    struct hy_worker *workers;
};

/* pool.c, with the lock held: wakes `most` workers or fewer for a task that is in the
   queues; each that takes a task wakes some more, if there is more. */
void hy_pool_rouse(hy_pool *pool, const hy_task *task, int most);

/* With the lock held, the next two. */
static inline int hy_worker_spins(const struct hy_worker *w)
{
    return __atomic_load_n(&w->state, __ATOMIC_SEQ_CST) == HY_WORKER_LOOKS;
}

/* It takes the task as if it had found it in a queue. */
static inline void hy_worker_give(struct hy_worker *w, hy_task *task)
{
    __atomic_store_n(&w->state, HY_WORKER_AWAKE, __ATOMIC_RELAXED);
    __atomic_store_n(&w->given, task, __ATOMIC_RELEASE);
}

/* Whether the worker has not begun the task, and now will not. */
static inline int hy_worker_take_back(struct hy_worker *w, hy_task *task)
{
    if (!__atomic_compare_exchange_n(&w->given, &task, NULL, 0, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return 0;
    __atomic_store_n(&w->state, HY_WORKER_LOOKS, __ATOMIC_RELAXED);
    return 1;
}

/* cores.c. Decides how the workers are bound, of which `most` run with the reserve. */
hybrid_status hy_pool_choose_binding(hy_context *ctx, hy_pool *pool, int most);

/* Returns the worker whose place a thread that is no worker takes in a loop: the one that
   sleeps on the core of the calling thread, as both would share this core otherwise. */
int hy_pool_find_place(const hy_pool *pool);

/* Bind a worker that is about to sleep, and release it when it has woken. */
void hy_worker_bind(struct hy_worker *w);
void hy_worker_unbind(struct hy_worker *w);

/* Lets a worker that hy_pool_lend_core() moved run on its own cores again. */
void hy_worker_return(struct hy_worker *w);

/* loops.c, with the lock held. The worker whose place in that loop its caller has, who has
   no part in it himself; -1: there is none, or the task is no loop. */
int hy_loop_part(const hy_task *task);

/* The same. How many workers are worth waking for the task, `most` or fewer. */
int hy_loop_wakes(const hy_task *task, int most);

/* The same; a worker takes that task of a queue. Whether it leaves the queue: a loop, which
   the worker joins, stays while it wants others as well. */
int hy_loop_leaves(hy_task *task);

#endif /* HY_POOL_INSIDE_H */
