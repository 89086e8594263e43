/* base/threads/tasks.h - a queue of tasks, first in, first out. The owner's lock guards
   it. */
#ifndef HY_TASKS_H
#define HY_TASKS_H

#include <stddef.h>

/* Kinds of tasks, the most urgent first: pack operands, or decode results; plan; store
   results; compute; prefault pages. */
typedef enum hy_urgency {
    HY_PACK,
    HY_PLAN,
    HY_PLACE,
    HY_COMPUTE,
    HY_IDLE,
    HY_URGENCIES
} hy_urgency;

/* The owner keeps a task (in a slot, on a stack) until `run` returns. `run` may free or
   queue the task. */
typedef struct hy_task {
    void (*run)(struct hy_task *task, int worker); /* `worker` is the index of the worker
                                                      that runs the task */
    struct hy_task *next;                          /* next task of the queue */
    int home; /* 1 + number of the NUMA node whose workers should run the task; 0: all
                 workers suit */
} hy_task;

typedef struct hy_tasks {
    hy_task *first, *last;
    int count; /* number of tasks; may be read without the lock */
} hy_tasks;

static inline void hy_tasks_push(hy_tasks *tasks, hy_task *task)
{
    task->next = NULL;
    if (tasks->last)
        tasks->last->next = task;
    else
        tasks->first = task;
    tasks->last = task;
    __atomic_fetch_add(&tasks->count, 1, __ATOMIC_SEQ_CST);
}

/* Takes the task out of the queue. Returns 0 if it was not there. */
static inline int hy_tasks_take_out(hy_tasks *tasks, const hy_task *task)
{
    hy_task *before = NULL;

    for (hy_task *t = tasks->first; t; before = t, t = t->next) {
        if (t != task)
            continue;
        if (before)
            before->next = t->next;
        else
            tasks->first = t->next;
        if (tasks->last == t)
            tasks->last = before;
        __atomic_fetch_sub(&tasks->count, 1, __ATOMIC_RELAXED);
        return 1;
    }
    return 0;
}

#endif /* HY_TASKS_H */
