/* bench/program/neighbour.c - threads that keep cores busy beside the library.

   libgomp's threads spin for some milliseconds after a parallel region before they sleep.
   A product that is computed during these milliseconds shares every core with one of
   them. */
#include "bench/program/neighbour.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct neighbour {
    pthread_mutex_t lock;
    pthread_cond_t woken;
    int64_t spin_ns;
    int threads;    /* number of threads that were started */
    int stop;       /* 1: threads end at their next wake-up; guarded by lock */
    unsigned round; /* number of calls of neighbour_disturb() so far; guarded by lock */
    atomic_int spinning; /* threads that have begun to spin in this round */
    atomic_int stopped;  /* 1 ends the threads' endless spin (NEIGHBOUR_FOREVER) */
    pthread_t handles[];
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void spin(neighbour *n)
{
    const int64_t end = now_ns() + n->spin_ns;

    atomic_fetch_add(&n->spinning, 1);
    while (!atomic_load(&n->stopped) && (n->spin_ns < 0 || now_ns() < end))
        ;
}

/* Waits until the round after `seen` begins and returns its number, or returns `seen` if
   the threads are to stop. */
static unsigned await_round(neighbour *n, unsigned seen)
{
    pthread_mutex_lock(&n->lock);
    while (n->round == seen && !n->stop)
        pthread_cond_wait(&n->woken, &n->lock);
    const unsigned round = n->stop ? seen : n->round;
    pthread_mutex_unlock(&n->lock);
    return round;
}

static void *work(void *arg)
{
    neighbour *n  = arg;
    unsigned seen = 0, round;

    while ((round = await_round(n, seen)) != seen) {
        seen = round;
        spin(n);
    }
    return NULL;
}

static void tell(neighbour *n, int stop)
{
    pthread_mutex_lock(&n->lock);
    n->round++;
    n->stop = stop;
    pthread_cond_broadcast(&n->woken);
    pthread_mutex_unlock(&n->lock);
}

neighbour *neighbour_open(int threads, int64_t spin_ns)
{
    neighbour *n = calloc(1, sizeof *n + (size_t)threads * sizeof *n->handles);

    if (!n)
        return NULL;
    pthread_mutex_init(&n->lock, NULL);
    pthread_cond_init(&n->woken, NULL);
    n->spin_ns = spin_ns;
    while (n->threads < threads &&
           pthread_create(&n->handles[n->threads], NULL, work, n) == 0)
        n->threads++;
    if (n->threads < threads) {
        neighbour_close(n);
        return NULL;
    }
    if (spin_ns < 0)
        neighbour_disturb(n);
    return n;
}

void neighbour_disturb(neighbour *n)
{
    const struct timespec pause = {0, 20000};

    if (n->spin_ns < 0 && n->round > 0)
        return;
    atomic_store(&n->spinning, 0);
    tell(n, 0);
    while (atomic_load(&n->spinning) < n->threads)
        nanosleep(&pause, NULL);
}

void neighbour_close(neighbour *n)
{
    if (!n)
        return;
    atomic_store(&n->stopped, 1);
    tell(n, 1);
    for (int i = 0; i < n->threads; i++)
        pthread_join(n->handles[i], NULL);
    pthread_cond_destroy(&n->woken);
    pthread_mutex_destroy(&n->lock);
    free(n);
}
