/* base/threads/pool.h - CPU workers of one engine.

   Tasks wait in one queue per priority; a worker always takes from the most
   urgent one, so that packing for the device is never behind computing on the
   host, and touching pages ahead happens only when nobody has anything to do.
   Planning's loops are short and follow each other, so they go before an operand
   that is brought to the device meanwhile, which keeps workers for longer (unless
   nothing can begin without it: then it is packing). */
#ifndef HY_POOL_H
#define HY_POOL_H

#include "base/contract/context.h"
#include "base/threads/tasks.h"
#include "base/threads/topology.h"
#include "base/threads/work_log.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HY_DRIVER_CORES = 3 }; /* for the threads that feed a device */

/* threads = 0: one a core; and `reserve` more, who sleep until they are called. Several
   workers are bound to cores: always if there is one for each core, and while they sleep if
   there are fewer. They are never bound if there are more workers than cores, or under a
   quota that makes other processes share the cores. `topology` is borrowed. */
hybrid_status hy_pool_create(hy_context *ctx, const hy_topology *topology, int threads,
                             int reserve, hy_pool **out);
/* Finish the queued tasks, stop. NULL is fine. */
void hy_pool_destroy(hy_context *ctx, hy_pool *pool);

int hy_pool_threads(const hy_pool *pool);      /* that work now */
int hy_pool_most_threads(const hy_pool *pool); /* with the reserve */

/* The reserve works as the others do from here on, or no more; nobody is woken before there is
   something for it. By the thread that begins and ends loops, while there are none: what
   was sized by hy_pool_threads() may not see the number change. */
void hy_pool_call_reserve(hy_pool *pool);
void hy_pool_dismiss_reserve(hy_pool *pool);

/* Since the pool was made: how long its workers have had a task, all of them together, and
   threads that are none have worked as hy_pool_worked() says. A worker that has just ended
   a task may be taken for busy: a later answer may be a little less. */
int64_t hy_pool_busy_ns(hy_pool *pool);

/* A thread that is no worker has worked for so long. hy_pool_waited_ns(): how long such
   threads have waited for workers at the end of loops, which is no work. */
void hy_pool_worked(hy_pool *pool, int64_t ns);
int64_t hy_pool_waited_ns(const hy_pool *pool);

/* Whether there are HY_DRIVER_CORES for threads besides the workers, so that these can
   look for what comes soon instead of going to sleep. */
int hy_pool_leaves_cores(const hy_pool *pool);
size_t hy_pool_l2_bytes(const hy_pool *pool); /* of one core */
int hy_pool_worker(const hy_pool *pool);      /* which one calls; -1: none of this pool */
const hy_topology *hy_pool_topology(const hy_pool *pool);
const char *hy_pool_worker_name(const hy_pool *pool, int worker); /* "cpu3"; -1: "caller" */

void hy_pool_submit(hy_pool *pool, hy_urgency urgency, hy_task *task);

/* Take back a task that no worker has begun: 1 if none had. */
int hy_pool_withdraw(hy_pool *pool, hy_urgency urgency, hy_task *task);

/* [begin, end) of a loop. `part` is unique among the threads that are inside the
   same loop at the same time, 0 <= part < hy_pool_threads(): index workspace
   with it. */
typedef hybrid_status (*hy_loop_fn)(void *arg, int part, int64_t begin, int64_t end);

/* Run `fn` over [begin, end) in pieces of `grain` (>= 1), in parallel, and return when
   all are done. Who calls takes part, and workers, one for each other piece at most: a piece
   is to be so long that waking one pays, some 10 us. If it is no worker itself, it has the
   place of one, who sleeps. Pieces are taken in ascending order. The first error stops the
   loop and is returned, and so does CANCELLED (progress.h). May be called from a task.
   Workers that joined turn to more urgent tasks between two pieces. Loops may nest and may
   run side by side. */
hybrid_status hy_pool_for(hy_pool *pool, hy_urgency urgency, int64_t begin, int64_t end,
                          int64_t grain, hy_loop_fn fn, void *arg);

/* The same of pieces that are shorter, some us, of which `fine` together are worth waking a
   worker; those who look for work have come by then. */
hybrid_status hy_pool_for_fine(hy_pool *pool, hy_urgency urgency, int64_t begin,
                               int64_t end, int64_t grain, int fine, hy_loop_fn fn,
                               void *arg);

/* Sets each byte of an array, in such a loop (pool_set.c). */
hybrid_status hy_pool_set(hy_pool *pool, hy_urgency urgency, void *array, int byte,
                          int64_t bytes);

/* Whether loops of HY_COMPUTE follow each other so closely that workers who helped in the
   last one may still look for the next. */
int hy_pool_goes_on(const hy_pool *pool);

/* A loop that its owner keeps until it has ended; the members are the pool's. */
typedef struct hy_loop {
    hy_task task; /* in the queue while helpers are wanted */
    hy_pool *pool;
    hy_urgency urgency;
    hy_loop_fn fn;
    void *arg;
    int64_t begin, end, grain;
    int64_t pieces, next; /* next: drawn atomically */
    int part;             /* of who began it and draws; -1: it only waits */
    uint64_t idle;        /* helpers that it wants at first, but for whom nobody is woken */
    uint64_t people;      /* helpers that may still join, and that are inside; atomic */
    hybrid_status status; /* the first error; with the pool's lock */
    hy_work_on work;      /* what the thread that began the loop works on */
} hy_loop;

/* hy_pool_for() in two halves: between them the caller does something else, or begins the
   next loop, so that workers go from one to the other without a pause. A caller that is no
   worker takes no part, it waits. What was begun must be ended, and `loop` stay where it is
   until then. */
void hy_pool_begin(hy_loop *loop, hy_pool *pool, hy_urgency urgency, int64_t begin,
                   int64_t end, int64_t grain, hy_loop_fn fn, void *arg);
hybrid_status hy_pool_end(hy_loop *loop);

/* ---- lending a core ----------------------------------------------------------- */

/* Pause between two calls of hy_pool_lend_core() while a thread waits, in nanoseconds. */
enum { HY_LEND_NS = 200000 };

/* Moves workers that have lost their cores to the core of the calling thread, which is about
   to sleep until these workers have finished. A worker has lost its core if it is awake but
   has not run since the previous call: threads of another library keep its core busy. `loop`
   names the loop that the caller waits for; NULL stands for all tasks. Workers return to
   their own cores after the task. Returns the number of workers that were moved. The calling
   thread holds no lock: the system is asked for the clock of each worker. */
int hy_pool_lend_core(hy_pool *pool, const hy_loop *loop);

#ifdef __cplusplus
}
#endif
#endif /* HY_POOL_H */
