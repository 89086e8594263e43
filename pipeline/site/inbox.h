/* pipeline/site/inbox.h - a queue of tasks for one thread.

   Every thread of a site has an inbox, and so has the driver of a run. A task is the
   first member of a slot or of a loader. The thread that takes a task from its inbox owns
   that slot or loader until it puts the task into another inbox, so slots and loaders
   need no lock. */
#ifndef HY_INBOX_H
#define HY_INBOX_H

#include <pthread.h>

#include "base/threads/pool.h"
#include "base/threads/tasks.h"

typedef struct hy_inbox {
    pthread_mutex_t lock; /* guards all fields; the number of tasks is also read without
                             it */
    pthread_cond_t filled;
    hy_tasks tasks;
    int closed;
    int spins; /* 1: the thread that takes tasks spins before it sleeps */
    hy_progress *progress; /* progress of the call, if the calling thread takes the tasks:
                              while it waits, it reports progress to the caller. NULL:
                              another thread takes them. */
    hy_pool *pool; /* while the thread that takes tasks waits, a worker of this pool may
                      use its core; NULL: none may */
} hy_inbox;

void hy_inbox_open(hy_inbox *inbox, hy_progress *progress, hy_pool *pool, int spins);
void hy_inbox_destroy(hy_inbox *inbox);
void hy_inbox_push(hy_inbox *inbox, hy_task *task);
hy_task *hy_inbox_pop(hy_inbox *inbox); /* waits for a task; returns NULL if the inbox is
                                           closed and empty */
void hy_inbox_close(hy_inbox *inbox);

#endif /* HY_INBOX_H */
