/* base/text/progress.h - tells a function of the caller how far a call is; it may cancel.

   Only the thread that makes the call calls the function: in hy_progress_check(), between
   pieces of its work, and in hy_progress_wait(). If the function cancels, all threads
   learn so from hy_progress_check(). Loops (loops.c) then draw no more pieces and return
   CANCELLED, which passes up like any error. A piece that may take more than 10 ms checks
   while it works.

   Without a progress function a check is one load. */
#ifndef HY_PROGRESS_H
#define HY_PROGRESS_H

#include <pthread.h>

#include "hybrid_spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HY_PROGRESS_NS = 50000000 }; /* usual time between two calls of the caller's
                                       function, in nanoseconds */

enum { HY_UNCHECKED = 1 << 20 /* about this many scalar products are computed by a thread
                                 between two checks for cancellation */ };

typedef struct hy_progress {
    hybrid_progress_fn fn; /* function of the caller; NULL: progress is not asked for */
    void *user;
    int64_t every_ns; /* minimum nanoseconds between two calls of fn; 0 in tests */
    /* the fields from here on belong to the public call under way */
    int active;      /* 1: progress is asked for; atomic */
    int cancelled;   /* 1: fn has cancelled the call; atomic */
    int answer;      /* value that fn returned to cancel the call */
    int is_committed; /* 1: fn can no longer cancel the call */
    int tells_bytes; /* 1: progress counts bytes of files, not rows */
    int calling;     /* 1 while fn, or another function that the caller passed, runs */
    pthread_t caller;
    int64_t next_ns, rows, told, units; /* next_ns: time (hy_now_ns()) of the next call of
                                           fn. rows: rows of the call; below 0 if only
                                           units are known. told: rows that fn was told
                                           last. units: units of the call. */
    char padding[128];
    double share;    /* part of a unit that each counted unit stands for; see
                        hy_progress_share() */
    int64_t done;    /* number of units done so far; atomic */
    int64_t written; /* bytes written to files in the engine's last call; atomic */
} hy_progress;

void hy_progress_init(hy_progress *progress);

/* Begins a call that computes `rows` rows. Work is counted in units; hy_progress_expect()
   sets their total. Only the first hy_progress_expect() of a call counts: parts of the
   work expect smaller totals later. */
void hy_progress_begin(hy_progress *progress, int64_t rows);
void hy_progress_expect(hy_progress *progress, int64_t units);

/* Lets units count as `share` (0 to 1) of a unit from now on: the caller computes a part of
   a sum, and counts its units again with the other parts. 1 ends this. Only the thread that
   makes the call may do this, while no other works for it. */
void hy_progress_share(hy_progress *progress, double share);

/* Begins a call that reads or writes a file of `bytes` bytes, -1 if unknown. A unit is
   one byte. fn is told bytes instead of rows. */
void hy_progress_begin_file(hy_progress *progress, int64_t bytes);

/* Replaces the size of the file by a better estimate. Only the thread that makes the call
   may do this. */
void hy_progress_resize(hy_progress *progress, int64_t bytes);

/* Forbids fn to cancel, because the result belongs to the caller from now on. */
void hy_progress_commit(hy_progress *progress);

/* Ends the call. If `status` is OK, tells fn that all rows are done. Does nothing if no
   call began. */
void hy_progress_end(hy_progress *progress, hybrid_status status);

/* Slow paths of hy_progress_check() and hy_progress_add(), which call these if progress
   is asked for. */
hybrid_status hy_progress_poll(hy_progress *progress);
void hy_progress_count(hy_progress *progress, int64_t units);

static inline int hy_progress_asked(const hy_progress *progress)
{
    return __atomic_load_n(&progress->active, __ATOMIC_RELAXED);
}

/* Returns CANCELLED if the call is cancelled, else OK. Any thread that works for the call
   may check. This function may call fn, so its caller must not hold a lock that freeing a
   result takes. */
static inline hybrid_status hy_progress_check(hy_progress *progress)
{
    return hy_progress_asked(progress) ? hy_progress_poll(progress) : HYBRID_OK;
}

/* Counts `units` units of work as done. Any thread may call this. */
static inline void hy_progress_add(hy_progress *progress, int64_t units)
{
    if (hy_progress_asked(progress))
        hy_progress_count(progress, units);
}

/* Counts `bytes` bytes as read from a file, if the call reports bytes. Any thread may
   call this. */
static inline void hy_progress_add_bytes(hy_progress *progress, int64_t bytes)
{
    if (hy_progress_asked(progress) && progress->tells_bytes)
        hy_progress_count(progress, bytes);
}

/* Counts `bytes` bytes of a result as written to a file. Any thread may call this. */
static inline void hy_progress_wrote(hy_progress *progress, int64_t bytes)
{
    __atomic_fetch_add(&progress->written, bytes, __ATOMIC_RELAXED);
}

/* Initialises a condition for hy_progress_wait(). */
void hy_progress_cond_init(pthread_cond_t *cond);

/* Does the work of pthread_cond_wait(), for any thread that works for the call. The
   thread that makes the call also wakes when fn is due, and releases the lock while it
   calls fn. If `progress` is NULL, this is a plain wait. */
void hy_progress_wait(hy_progress *progress, pthread_cond_t *cond, pthread_mutex_t *lock);

/* Waits like hy_progress_wait(), for at most `ns` nanoseconds. Returns 1 if `cond` was
   signalled, else 0. */
int hy_progress_wait_for(hy_progress *progress, pthread_cond_t *cond,
                         pthread_mutex_t *lock, int64_t ns);

#ifdef __cplusplus
}
#endif
#endif /* HY_PROGRESS_H */
