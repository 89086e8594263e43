/* tests/support/fake/gate.h - blocks a worker of a pool until the test lets it
   continue. */
#ifndef GATE_H
#define GATE_H

#include <semaphore.h>

#include "base/threads/pool.h"

typedef struct gate {
    hy_task task;
    sem_t entered, leave;
} gate;

/* Submits a task to the pool that blocks the worker that takes it until gate_open().
   Returns when a worker is blocked. */
void gate_close(gate *g, hy_pool *pool);

/* Lets the worker that gate_close() blocked continue. */
void gate_open(gate *g);

#endif /* GATE_H */
