/* base/text/progress.h - how far a call is, told to a function of the caller, who may end
   it.

   The thread that makes the call asks hy_progress_check() between pieces of what it does,
   and waits by hy_progress_wait(): both call the function when it is due, and nobody else
   does. If it wants the call ended, all threads find that out by the same check: loops
   (loops.c) draw no more pieces and return CANCELLED, which goes up as any error does. A
   piece that may take more than some 10 ms checks within.

   Where nobody asks for progress a check is one load. */
#ifndef HY_PROGRESS_H
#define HY_PROGRESS_H

#include <pthread.h>

#include "hybrid_spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HY_PROGRESS_NS = 50000000 }; /* between two calls, if nobody is late */

/* What one thread does between two checks: some ms. */
enum { HY_UNCHECKED = 1 << 20 /* scalar products */ };

typedef struct hy_progress {
    hybrid_progress_fn fn; /* NULL: nobody asks */
    void *user;
    int64_t every_ns; /* tests: 0, with each check */
    /* of the call under way */
    int active;       /* somebody asks; atomic */
    int cancelled;    /* atomic */
    int answer;       /* of the function, which ended the call */
    int is_kept;      /* the result is the caller's: the function ends nothing any more */
    int tells_bytes;  /* of files, in place of rows */
    int calling;      /* the function is being called, or another one of the caller */
    pthread_t caller;
    int64_t next_ns, rows, told, units; /* rows < 0: unknown, and units are told */
    char apart[128];
    int64_t done; /* of the units; atomic */
} hy_progress;

void hy_progress_init(hy_progress *progress);

/* A call begins that computes something of so many rows. What it does is counted in units,
   of which there are none before hy_progress_expect(): what is said first counts, as parts
   of what a call does expect less. */
void hy_progress_begin(hy_progress *progress, int64_t rows);
void hy_progress_expect(hy_progress *progress, int64_t units);

/* A call begins that reads or writes a file of `bytes` bytes, -1 if that is unknown. A byte is
   one unit, and takes the place of a row. */
void hy_progress_begin_file(hy_progress *progress, int64_t bytes);

/* Replaces the size of the file by a better estimate. By the thread that makes the call. */
void hy_progress_resize(hy_progress *progress, int64_t bytes);

/* What was made is the caller's from here on, whatever the function returns. */
void hy_progress_keep(hy_progress *progress);

/* The call ends: the function is told that all rows are done, if they are. Harmless if none
   began. */
void hy_progress_end(hy_progress *progress, hybrid_status status);

/* The rest of two that follow, if somebody asks. */
hybrid_status hy_progress_look(hy_progress *progress);
void hy_progress_count(hy_progress *progress, int64_t units);

static inline int hy_progress_asked(const hy_progress *progress)
{
    return __atomic_load_n(&progress->active, __ATOMIC_RELAXED);
}

/* By any thread that works for the call; CANCELLED if it is to end. The function may be
   called, so no lock is held that freeing a result takes. */
static inline hybrid_status hy_progress_check(hy_progress *progress)
{
    return hy_progress_asked(progress) ? hy_progress_look(progress) : HYBRID_OK;
}

/* So many units more are done. By any thread. */
static inline void hy_progress_add(hy_progress *progress, int64_t units)
{
    if (hy_progress_asked(progress))
        hy_progress_count(progress, units);
}

/* So many bytes of a file were read: counted in a call that tells bytes. By any thread. */
static inline void hy_progress_add_bytes(hy_progress *progress, int64_t bytes)
{
    if (hy_progress_asked(progress) && progress->tells_bytes)
        hy_progress_count(progress, bytes);
}

/* A condition that hy_progress_wait() waits for. */
void hy_progress_cond_init(pthread_cond_t *cond);

/* pthread_cond_wait(), by a thread that works for the call, but the one that makes it wakes
   when the function is due; the lock is given up while that is called. NULL: by others. */
void hy_progress_wait(hy_progress *progress, pthread_cond_t *cond, pthread_mutex_t *lock);

/* Waits as hy_progress_wait() does, for at most `ns` nanoseconds. Returns 1 if `cond` was
   signalled, else 0. */
int hy_progress_wait_for(hy_progress *progress, pthread_cond_t *cond, pthread_mutex_t *lock,
                         int64_t ns);

#ifdef __cplusplus
}
#endif
#endif /* HY_PROGRESS_H */
