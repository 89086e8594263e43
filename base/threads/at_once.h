/* base/threads/at_once.h - calls a function for several devices at the same time.

   Opening, closing and pinning wait for the driver and the system most of the time, so
   they need threads, not cores. */
#ifndef HY_AT_ONCE_H
#define HY_AT_ONCE_H

enum { HY_AT_ONCE = 16 }; /* maximum number of calls */

typedef void (*hy_at_once_fn)(void *arg, int i);

/* Calls fn(arg, i) for 0 <= i < count, each in a thread of its own, and returns when all
   calls have returned. The calling thread makes the first call, and those for which the
   system starts no thread. */
void hy_at_once(int count, hy_at_once_fn fn, void *arg);

#endif /* HY_AT_ONCE_H */
