/* tests/support/fake/gate.c - blocks a worker of a pool until the test lets it
   continue. */
#include "support/fake/gate.h"

static void stand_in(hy_task *task, int worker)
{
    gate *g = (gate *)task;

    (void)worker;
    sem_post(&g->entered);
    sem_wait(&g->leave);
}

void gate_close(gate *g, hy_pool *pool)
{
    g->task = (hy_task){.run = stand_in};
    sem_init(&g->entered, 0, 0);
    sem_init(&g->leave, 0, 0);
    hy_pool_submit(pool, HY_PACK, &g->task);
    sem_wait(&g->entered);
}

void gate_open(gate *g)
{
    sem_post(&g->leave);
}
