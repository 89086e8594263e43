/* base/threads/at_once.c - calls a function for several devices at the same time. */
#include "base/threads/at_once.h"

#include <pthread.h>

typedef struct call {
    hy_at_once_fn fn;
    void *arg;
    int i;
    int started; /* 1: `thread` makes the call */
    pthread_t thread;
} call;

static void *make(void *arg)
{
    const call *c = arg;

    c->fn(c->arg, c->i);
    return NULL;
}

void hy_at_once(int count, hy_at_once_fn fn, void *arg)
{
    call calls[HY_AT_ONCE];

    for (int i = 0; i < count; i++) {
        calls[i] = (call){.fn = fn, .arg = arg, .i = i};
        calls[i].started =
            i > 0 && pthread_create(&calls[i].thread, NULL, make, &calls[i]) == 0;
    }
    for (int i = 0; i < count; i++)
        if (!calls[i].started)
            make(&calls[i]);
    for (int i = 0; i < count; i++)
        if (calls[i].started)
            pthread_join(calls[i].thread, NULL);
}
