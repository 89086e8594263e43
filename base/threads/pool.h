/* base/threads/pool.h - worker threads of one engine.

   Tasks wait in one queue per urgency. A worker always takes a task from the most urgent
   queue that has one. Packing for a device therefore never waits behind computing on the
   host, and pages are prefaulted only when there is no other work.

   Loops of planning (HY_PLAN) are short and follow each other. They go before tasks that
   send an operand to the device during planning (HY_COMPUTE), because these tasks keep
   workers for longer. A task that sends an operand without which no chunk can begin has
   the urgency HY_PACK instead. */
#ifndef HY_POOL_H
#define HY_POOL_H

#include "base/contract/context.h"
#include "base/threads/tasks.h"
#include "base/threads/topology.h"
#include "base/threads/work_log.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HY_DRIVER_CORES = 3 }; /* number of cores that workers leave to the threads that
                                 feed a device */

/* Starts `threads` workers (0: one per core), and `reserve` more that sleep until
   hy_pool_call_reserve(). `topology` is borrowed. NO_MEMORY if a thread cannot be
   started.

   Binding to cores:

     one worker per core        always bound
     fewer workers than cores   bound while they sleep, unless there is only one
     more workers than cores    never bound
     a CPU quota                never bound, because other processes share the cores

   On a machine with several NUMA nodes, a worker that is bound at times never leaves the
   node on whose cores it began. */
hybrid_status hy_pool_create(hy_context *ctx, const hy_topology *topology, int threads,
                             int reserve, hy_pool **out);
/* Finishes the queued tasks and stops the workers. Accepts NULL. */
void hy_pool_destroy(hy_context *ctx, hy_pool *pool);

int hy_pool_threads(const hy_pool *pool);      /* number of workers that may take tasks
                                                  now */
int hy_pool_max_threads(const hy_pool *pool);  /* number of workers, reserve included */

/* hy_pool_call_reserve() lets the reserve take tasks; hy_pool_dismiss_reserve() ends
   this. No worker is woken before it has a task. One thread may call these. Loops that are
   under way meanwhile, such as those of a thread that writes a file, may use memory sized
   by hy_pool_max_threads(), but none sized by hy_pool_threads(), which changes. */
void hy_pool_call_reserve(hy_pool *pool);
void hy_pool_dismiss_reserve(hy_pool *pool);

/* Returns the nanoseconds of work since the pool was made: of all workers together, plus
   those that hy_pool_worked() added. A worker that has just ended a task may still count
   as busy, so a later result may be slightly smaller. */
int64_t hy_pool_busy_ns(hy_pool *pool);

/* hy_pool_worked() adds working time of a thread that is no worker. hy_pool_waited_ns()
   returns the time for which such threads waited for workers at the end of loops. */
void hy_pool_worked(hy_pool *pool, int64_t ns);
int64_t hy_pool_waited_ns(const hy_pool *pool);

/* Returns 1 if at least HY_DRIVER_CORES cores are left besides the workers, so that other
   threads can spin for a while instead of sleeping. */
int hy_pool_leaves_cores(const hy_pool *pool);
size_t hy_pool_l2_bytes(const hy_pool *pool); /* bytes of one core's L2 cache */
int hy_pool_worker(const hy_pool *pool);      /* index of the calling worker; -1: the
                                                 caller is no worker */
const hy_topology *hy_pool_topology(const hy_pool *pool);
/* Returns "cpu3" for worker 3, and "caller" for -1. */
const char *hy_pool_worker_name(const hy_pool *pool, int worker);

/* Workers that are bound to a NUMA node take tasks of that node first (hy_task.home), and
   are woken first for them. A loop has the home of the thread that begins it: a worker has
   that of its task, another thread has the one that it set last with hy_pool_set_home(). */
void hy_pool_set_home(int home);
int hy_pool_home(void);

void hy_pool_submit(hy_pool *pool, hy_urgency urgency, hy_task *task);

/* Takes back a task that no worker has begun. Returns 1; 0 if a worker has. */
int hy_pool_withdraw(hy_pool *pool, hy_urgency urgency, hy_task *task);

/* Computes [begin, end) of a loop. `part`, 0 <= part < hy_pool_threads(), differs for all
   threads that are inside the loop at the same time. Use it as an index of workspaces. */
typedef hybrid_status (*hy_loop_fn)(void *arg, int part, int64_t begin, int64_t end);

/* Runs `fn` over [begin, end) in pieces of `grain` >= 1, in parallel, and returns when
   all are done. Threads draw the pieces in ascending order. Returns the first error,
   which stops the loop, or CANCELLED (progress.h).

   The caller draws pieces, too. If it is no worker, it takes the place of a sleeping one.
   At most one worker is woken for each piece but the first. A piece should take at least
   10 us, because waking a worker for less does not pay.

   May be called from a task. Loops may nest and run side by side. Helpers turn to more
   urgent tasks between two pieces. */
hybrid_status hy_pool_for(hy_pool *pool, hy_urgency urgency, int64_t begin, int64_t end,
                          int64_t grain, hy_loop_fn fn, void *arg);

/* Runs a loop like hy_pool_for(), with shorter pieces of a few microseconds. A worker is
   woken for every `fine` pieces; spinning workers take part at once. */
hybrid_status hy_pool_for_fine(hy_pool *pool, hy_urgency urgency, int64_t begin,
                               int64_t end, int64_t grain, int fine, hy_loop_fn fn,
                               void *arg);

/* Sets each byte of an array to `byte`, in parallel (pool_set.c). */
hybrid_status hy_pool_set(hy_pool *pool, hy_urgency urgency, void *array, int byte,
                          int64_t bytes);

/* Returns 1 if the last loop of HY_COMPUTE ended so recently that its helpers may still
   spin. */
int hy_pool_goes_on(const hy_pool *pool);

/* A loop in memory of its owner, who keeps it until it has ended. Only the pool uses the
   members. */
typedef struct hy_loop {
    hy_task task; /* task that is in the queue while the loop wants helpers */
    hy_pool *pool;
    hy_urgency urgency;
    hy_loop_fn fn;
    void *arg;
    int64_t begin, end, grain;
    int64_t pieces, next; /* number of pieces; the next one to draw (atomic) */
    int part;             /* `part` (see hy_loop_fn) of the caller if it draws, too; -1 if
                             the caller only waits */
    uint64_t idle;        /* number of helpers that the loop can use but for which no
                             worker is woken */
    uint64_t people;      /* number of wanted helpers in the upper 32 bits, number of
                             helpers inside the loop in the lower; atomic */
    hybrid_status status; /* first error; guarded by the pool's lock */
    hy_work_on work;      /* stage (work_log.h) that the thread that began the loop works
                             on */
    hy_message *aside;    /* message that receives sentences of helpers, as those of the
                             thread that began the loop; NULL: the context's message */
} hy_loop;

/* hy_pool_begin() begins a loop, hy_pool_end() waits for its end; together they do the
   work of hy_pool_for(). Between them the caller does other work, or begins the next
   loop, so that workers pass from one loop to the next without a pause. A caller that is
   no worker draws no pieces. Every loop that was begun must be ended, and `loop` must
   stay in place until then. */
void hy_pool_begin(hy_loop *loop, hy_pool *pool, hy_urgency urgency, int64_t begin,
                   int64_t end, int64_t grain, hy_loop_fn fn, void *arg);
hybrid_status hy_pool_end(hy_loop *loop);

/* ---- lending a core ----------------------------------------------------------- */

/* Nanoseconds between two calls of hy_pool_lend_core() by a thread that waits. */
enum { HY_LEND_NS = 200000 };

/* Moves workers that have lost their cores to the core of the calling thread, which is
   about to sleep until these workers have finished. A worker has lost its core if it is
   awake but has not run since the previous call: threads of another library keep its core
   busy. `loop` is the loop that the caller waits for; NULL stands for all tasks. Workers
   return to their own cores after the task. Returns the number of workers that were
   moved. The caller must hold no lock, because the system is asked for the clock of each
   worker. */
int hy_pool_lend_core(hy_pool *pool, const hy_loop *loop);

#ifdef __cplusplus
}
#endif
#endif /* HY_POOL_H */
