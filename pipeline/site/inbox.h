/* pipeline/site/inbox.h - tasks that threads hand to one thread, in the order in which
   they came.

   Each thread of a site has an inbox, and so has the driver of a run. A task is what it is
   part of: a slot, or a loader. Who takes one out of an inbox has it alone until it puts
   it into another, so what travels needs no lock. */
#ifndef HY_INBOX_H
#define HY_INBOX_H

#include <pthread.h>

#include "base/threads/pool.h"
#include "base/threads/tasks.h"

typedef struct hy_inbox {
    pthread_mutex_t lock; /* guards all but the count of tasks */
    pthread_cond_t filled;
    hy_tasks tasks;
    int closed;
    int looks; /* who pops looks for a while before it sleeps */
    hy_progress *progress; /* told by who pops; NULL: that is not the caller's thread */
    hy_pool *pool; /* the thread that pops lends its core to these workers while it waits for
                      them; NULL: it does not wait for workers */
} hy_inbox;

void hy_inbox_open(hy_inbox *inbox, hy_progress *progress, hy_pool *pool, int looks);
void hy_inbox_destroy(hy_inbox *inbox);
void hy_inbox_push(hy_inbox *inbox, hy_task *task);
hy_task *hy_inbox_pop(hy_inbox *inbox); /* waits; NULL: it is closed and empty */
void hy_inbox_close(hy_inbox *inbox);

#endif /* HY_INBOX_H */
