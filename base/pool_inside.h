/* base/pool_inside.h - what pool.c and loops.c know of a pool. */
#ifndef HY_POOL_INSIDE_H
#define HY_POOL_INSIDE_H

#include <pthread.h>

#include "base/tasks.h"

enum { HY_WORKER_NAME = 16 };

struct hy_worker {
    struct hy_pool *pool;
    int index;
    int64_t busy_ns;  /* with the pool's lock: in tasks that are over, */
    int64_t begun_ns; /* and when the one it has began; 0: it has none */
    pthread_t thread;
    char name[HY_WORKER_NAME];
};

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
    int64_t others_ns, waited_ns; /* threads that are no workers: at work, waiting; atomic */
    struct hy_worker *workers;
};

/* loops.c, with the lock held: a worker takes the first task of a queue. Whether it leaves
   the queue: a loop, which the worker joins, stays while it wants others as well. */
int hy_loop_leaves(hy_task *task);

#endif /* HY_POOL_INSIDE_H */
