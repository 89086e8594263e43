/* bench/program/neighbour.h - threads that keep cores busy beside the library, as the
   waiting threads of an OpenMP runtime do. */
#ifndef BENCH_NEIGHBOUR_H
#define BENCH_NEIGHBOUR_H

#include <stdint.h>

typedef struct neighbour neighbour;

enum { NEIGHBOUR_FOREVER = -1 };

/* Starts `threads` threads that sleep until neighbour_disturb(). After each disturbance
   every thread spins for `spin_ns` nanoseconds; with NEIGHBOUR_FOREVER the threads spin
   from the start until neighbour_close(). Returns NULL if memory or threads are
   exhausted. */
neighbour *neighbour_open(int threads, int64_t spin_ns);

/* Wakes all threads and returns when each of them has begun to spin. */
void neighbour_disturb(neighbour *n);

/* Stops and joins the threads. NULL is allowed. */
void neighbour_close(neighbour *n);

#endif /* BENCH_NEIGHBOUR_H */
