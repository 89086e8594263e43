/* base/text/progress.c - tells a function of the caller how far a call is. */
#include "base/text/progress.h"

#include "base/threads/clock.h"
#include "base/data/min_max.h"

void hy_progress_init(hy_progress *p)
{
    *p = (hy_progress){.every_ns = HY_PROGRESS_NS};
}

static int is_cancelled(const hy_progress *p)
{
    return __atomic_load_n(&p->cancelled, __ATOMIC_RELAXED);
}

/* Returns 1 if the calling thread may call the caller's function: it is the thread that
   made the call, progress is asked for and the call is not cancelled. */
static int may_tell(const hy_progress *p)
{
    return hy_progress_asked(p) && !is_cancelled(p) &&
           pthread_equal(p->caller, pthread_self());
}

static void tell(hy_progress *p, int64_t rows_done)
{
    p->told          = hy_max(p->told, rows_done);
    p->calling       = 1;
    const int answer = p->fn(p->user, p->told, p->rows);
    p->calling       = 0;
    p->next_ns       = hy_now_ns() + p->every_ns;
    if (answer == 0 || p->is_committed)
        return;
    p->answer = answer;
    __atomic_store_n(&p->cancelled, 1, __ATOMIC_RELAXED);
}

/* Returns the rows to report: the rows of the call times the share of its units that is
   done. The last row counts as done only when the result is complete. */
static int64_t rows_done(const hy_progress *p)
{
    const int64_t done = __atomic_load_n(&p->done, __ATOMIC_RELAXED);

    if (p->rows < 0)
        return done;
    const double share = p->units > 0 ? (double)done / (double)p->units : 0;
    const double rows = share * (double)p->rows, most = (double)(p->rows - 1);

    return p->rows == 0 ? 0 : (int64_t)(rows < most ? rows : most);
}

void hy_progress_begin(hy_progress *p, int64_t rows)
{
    if (!p->fn)
        return;
    p->answer = p->cancelled = p->is_committed = p->tells_bytes = 0;
    p->caller                                                   = pthread_self();
    p->next_ns = hy_now_ns() + p->every_ns;
    p->rows    = rows;
    p->share   = 1;
    p->told = p->units = p->done = 0;
    __atomic_store_n(&p->active, 1, __ATOMIC_RELEASE);
}

void hy_progress_expect(hy_progress *p, int64_t units)
{
    if (p->units == 0)
        p->units = units;
}

void hy_progress_share(hy_progress *p, double share)
{
    p->share = share;
}

void hy_progress_begin_file(hy_progress *p, int64_t bytes)
{
    hy_progress_begin(p, bytes);
    if (!p->fn)
        return;
    p->tells_bytes = 1;
    hy_progress_expect(p, bytes);
}

void hy_progress_resize(hy_progress *p, int64_t bytes)
{
    if (hy_progress_asked(p))
        p->rows = p->units = bytes;
}

void hy_progress_commit(hy_progress *p)
{
    p->is_committed = 1;
}

void hy_progress_end(hy_progress *p, hybrid_status status)
{
    if (!hy_progress_asked(p))
        return;
    hy_progress_commit(p);
    if (status == HYBRID_OK)
        tell(p, p->rows < 0 ? rows_done(p) : p->rows);
    __atomic_store_n(&p->active, 0, __ATOMIC_RELAXED);
}

hybrid_status hy_progress_poll(hy_progress *p)
{
    if (may_tell(p) && hy_now_ns() >= p->next_ns)
        tell(p, rows_done(p));
    return is_cancelled(p) ? HYBRID_CANCELLED : HYBRID_OK;
}

void hy_progress_count(hy_progress *p, int64_t units)
{
    const int64_t count = p->share == 1 ? units : (int64_t)((double)units * p->share);

    __atomic_fetch_add(&p->done, count, __ATOMIC_RELAXED);
}

void hy_progress_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    /* hy_now_ns() uses this clock, too */
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Waits until `ns` on CLOCK_MONOTONIC. Returns 1 if `cond` was signalled before, else
   0. */
static int wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ns)
{
    enum { SECOND = 1000000000 };
    const struct timespec until = {.tv_sec  = (time_t)(ns / SECOND),
                                   .tv_nsec = (long)(ns % SECOND)};

    return pthread_cond_timedwait(cond, lock, &until) == 0;
}

static void spin_unlocked(hy_progress *p, pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    (void)hy_progress_poll(p);
    pthread_mutex_lock(lock);
}

void hy_progress_wait(hy_progress *p, pthread_cond_t *cond, pthread_mutex_t *lock)
{
    if (!p || !may_tell(p))
        pthread_cond_wait(cond, lock);
    else if (!wait_until(cond, lock, p->next_ns))
        spin_unlocked(p, lock);
}

int hy_progress_wait_for(hy_progress *p, pthread_cond_t *cond, pthread_mutex_t *lock,
                         int64_t ns)
{
    const int tells   = may_tell(p);
    const int64_t end = hy_now_ns() + ns;

    if (wait_until(cond, lock, tells ? hy_min(end, p->next_ns) : end))
        return 1;
    if (tells)
        spin_unlocked(p, lock);
    return 0;
}
