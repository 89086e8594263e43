/* base/pool_inside.h - what pool.c and loops.c know of a pool. */
#ifndef HY_POOL_INSIDE_H
#define HY_POOL_INSIDE_H

#include <pthread.h>

#include "base/tasks.h"

enum { HY_WORKER_NAME = 16 };

typedef enum hy_worker_state {
    HY_WORKER_AWAKE, /* has a task, or is on its way to the queues */
    HY_WORKER_LOOKS, /* for offers, without the lock */
    HY_WORKER_SLEEPS
} hy_worker_state;

struct hy_worker {
    struct hy_pool *pool;
    int index;
    hy_worker_state state;  /* with the pool's lock */
    pthread_cond_t called;  /* by an offer, or stop */
    int cpu;                /* where it last went to sleep; -1: nowhere yet; atomic */
    int64_t busy_ns;  /* with the pool's lock: in tasks that are over, */
    int64_t begun_ns; /* and when the one it has began; 0: it has none */
    pthread_t thread;
    char name[HY_WORKER_NAME];
};

struct hy_pool {
    pthread_mutex_t lock;
    pthread_cond_t left; /* the last helper left a loop */
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
    int64_t others_ns, waited_ns; /* threads that are no workers: at work, waiting; atomic */
    struct hy_worker *workers;
};

/* pool.c, with the lock held: something is in the queues for so many workers, but not for
   `other` (-1: for each). A few of them are woken; each that takes a task wakes some more,
   if there is more. */
void hy_pool_wake(hy_pool *pool, int count, int other);

/* loops.c, with the lock held. The worker whose place in that loop its caller has, who has
   no part in it himself; -1: there is none, or the task is no loop. */
int hy_loop_part(const hy_task *task);

/* The same; a worker takes that task of a queue. Whether it leaves the queue: a loop, which
   the worker joins, stays while it wants others as well. */
int hy_loop_leaves(hy_task *task);

#endif /* HY_POOL_INSIDE_H */
