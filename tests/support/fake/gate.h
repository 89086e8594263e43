/* tests/support/fake/gate.h - holds a worker of a pool until it is let go. */
#ifndef GATE_H
#define GATE_H

#include <semaphore.h>

#include "base/threads/pool.h"

typedef struct gate {
    hy_task task;
    sem_t entered, leave;
} gate;

/* Returns when a worker stands in it. */
void gate_close(gate *g, hy_pool *pool);

/* It may go. */
void gate_open(gate *g);

#endif /* GATE_H */
