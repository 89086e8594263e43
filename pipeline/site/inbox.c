/* pipeline/site/inbox.c - a queue of tasks for one thread. */
#include "pipeline/site/inbox.h"

#include <string.h>

#include "base/threads/spin.h"

void hy_inbox_open(hy_inbox *inbox, hy_progress *progress, hy_pool *pool, int spins)
{
    memset(inbox, 0, sizeof *inbox);
    inbox->spins    = spins;
    inbox->progress = progress;
    inbox->pool     = pool;
    pthread_mutex_init(&inbox->lock, NULL);
    hy_progress_cond_init(&inbox->filled);
}

void hy_inbox_destroy(hy_inbox *inbox)
{
    pthread_cond_destroy(&inbox->filled);
    pthread_mutex_destroy(&inbox->lock);
}

void hy_inbox_push(hy_inbox *inbox, hy_task *task)
{
    pthread_mutex_lock(&inbox->lock);
    hy_tasks_push(&inbox->tasks, task);
    pthread_cond_signal(&inbox->filled);
    pthread_mutex_unlock(&inbox->lock);
}

/* If the inbox spins, polls until a task has arrived, HY_SPINS times at most. */
static void spin(const hy_inbox *inbox)
{
    for (int i = 0; i < HY_SPINS && inbox->spins; i++) {
        if (__atomic_load_n(&inbox->tasks.count, __ATOMIC_RELAXED) > 0)
            return;
        hy_relax();
    }
}

/* Waits for a task. If the inbox has a pool, a worker may use the thread's core
   meanwhile, and the wait takes HY_LEND_NS at most. The caller holds the lock, which is
   released while the function waits. */
static void wait_or_lend(hy_inbox *inbox)
{
    if (!inbox->pool) {
        hy_progress_wait(inbox->progress, &inbox->filled, &inbox->lock);
        return;
    }
    pthread_mutex_unlock(&inbox->lock);
    hy_pool_lend_core(inbox->pool, NULL);
    pthread_mutex_lock(&inbox->lock);
    if (!inbox->tasks.first && !inbox->closed)
        (void)hy_progress_wait_for(inbox->progress, &inbox->filled, &inbox->lock,
                                   HY_LEND_NS);
}

hy_task *hy_inbox_pop(hy_inbox *inbox)
{
    spin(inbox);
    pthread_mutex_lock(&inbox->lock);
    while (!inbox->tasks.first && !inbox->closed)
        wait_or_lend(inbox);
    hy_task *task = inbox->tasks.first;
    if (task)
        hy_tasks_take_out(&inbox->tasks, task);
    pthread_mutex_unlock(&inbox->lock);
    return task;
}

void hy_inbox_close(hy_inbox *inbox)
{
    pthread_mutex_lock(&inbox->lock);
    inbox->closed = 1;
    pthread_cond_broadcast(&inbox->filled);
    pthread_mutex_unlock(&inbox->lock);
}
