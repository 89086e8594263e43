/* tests/unit/base/test_cores.c - binding workers to cores, and lending cores of sleeping
   workers. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/threads/pool_inside.h"
#include "bench/program/neighbour.h"
#include "pipeline/site/inbox.h"
#include "tests/support/engines/context.h"

enum { THREADS = 4, CORES = 8, PATIENCE_MS = 20000 };

static void pause_ms(int64_t ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* ---- binding ---- */

static int sleeping(const hy_pool *pool)
{
    int count = 0;

    for (int i = 0; i < pool->threads; i++)
        count += __atomic_load_n(&pool->workers[i].state, __ATOMIC_SEQ_CST) ==
                 HY_WORKER_SLEEPS;
    return count;
}

static int taken(const hy_pool *pool)
{
    int count = 0;

    for (int i = 0; i < CORES; i++)
        count += __atomic_load_n(&pool->core_used[i], __ATOMIC_SEQ_CST);
    return count;
}

static void await_sleep(const hy_pool *pool)
{
    for (int ms = 0; sleeping(pool) < pool->threads; ms++) {
        assert_true(ms < PATIENCE_MS);
        pause_ms(1);
    }
}

static hybrid_status nothing(void *arg, int part, int64_t begin, int64_t end)
{
    (void)arg, (void)part, (void)begin, (void)end;
    return HYBRID_OK;
}

/* hwloc simulates a machine of eight cores with HWLOC_SYNTHETIC. Four workers must sleep
   bound to four different cores. */
static void fewer_workers_than_cores_sleep_on_different_cores(void **state)
{
    (void)state;
    setenv("HWLOC_SYNTHETIC", "core:8 pu:1", 1);
    hy_context *ctx = test_context(THREADS);
    unsetenv("HWLOC_SYNTHETIC");
    assert_int_equal(ctx->pool->binding, HY_BOUND_ASLEEP);
    for (int i = 0; i < 50; i++) {
        await_sleep(ctx->pool);
        assert_int_equal(taken(ctx->pool), THREADS);
        assert_int_equal(hy_pool_for(ctx->pool, HY_PLAN, 0, 100, 1, nothing, NULL),
                         HYBRID_OK);
    }
    test_context_free(ctx);
}

static hy_binding binding_of(int threads, int reserve)
{
    hy_pool *pool;

    setenv("HWLOC_SYNTHETIC", "core:8 pu:1", 1);
    hy_context *ctx = test_context(1);
    unsetenv("HWLOC_SYNTHETIC");
    assert_int_equal(hy_pool_create(ctx, test_topology(ctx), threads, reserve, &pool),
                     HYBRID_OK);
    const hy_binding binding = pool->binding;
    hy_pool_destroy(ctx, pool);
    test_context_free(ctx);
    return binding;
}

static void the_number_of_workers_decides_the_binding(void **state)
{
    (void)state;
    assert_int_equal(binding_of(1, 0), HY_BOUND_NEVER);
    assert_int_equal(binding_of(2, 0), HY_BOUND_ASLEEP);
    assert_int_equal(binding_of(5, 3), HY_BOUND_ASLEEP);
    assert_int_equal(binding_of(5, 4), HY_BOUND_NEVER);
    assert_int_equal(binding_of(8, 0), HY_BOUND_ALWAYS);
    assert_int_equal(binding_of(9, 0), HY_BOUND_NEVER);
}

/* ---- lending ---- */

typedef struct standing {
    hy_task task; /* first member, so that a task pointer is also one to its struct */
    hy_pool *pool;
    hy_inbox *inbox; /* inbox to which the worker sends the task when it has ended; NULL:
                        a loop is tested instead */
    sem_t begun;
    int cores; /* number of cores on which the worker may run when it was moved */
    int cpu;   /* number of the first of these cores */
    pthread_t caller;
} standing;

static int allowed_cores(int *first)
{
    cpu_set_t set;

    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (*first = 0; !CPU_ISSET((size_t)*first, &set);)
        ++*first;
    return CPU_COUNT(&set);
}

/* Runs on a worker and does nothing until the pool moves the worker to another core, as
   if the worker's own core had been taken away by another process. Stores the cores on
   which it may run then. */
static void stand_still(standing *s, const struct hy_worker *me)
{
    sem_post(&s->begun);
    for (int ms = 0; ms < PATIENCE_MS && !__atomic_load_n(&me->lent, __ATOMIC_ACQUIRE);
         ms += 5)
        pause_ms(5);
    s->cores = allowed_cores(&s->cpu);
}

/* One piece of a loop of two. The calling thread's piece ends when a worker has begun
   the other piece, which stands still. */
static hybrid_status stand_in_loop(void *arg, int part, int64_t begin, int64_t end)
{
    standing *s = arg;

    (void)part, (void)begin, (void)end;
    if (pthread_equal(pthread_self(), s->caller))
        sem_wait(&s->begun);
    else
        stand_still(s, &s->pool->workers[hy_pool_worker(s->pool)]);
    return HYBRID_OK;
}

static void stand_in_task(hy_task *task, int worker)
{
    standing *s = (standing *)task;

    stand_still(s, &s->pool->workers[worker]);
    hy_inbox_push(s->inbox, task);
}

/* A task that stores on how many cores its worker may run. A loop could not ask, because
   all workers may sleep. */
typedef struct question {
    hy_task task; /* first member, so that a task pointer is also one to its struct */
    int cores;
    sem_t answered;
} question;

static void answer(hy_task *task, int worker)
{
    question *q = (question *)task;
    int first;

    (void)worker;
    q->cores = allowed_cores(&first);
    sem_post(&q->answered);
}

static void check_moved(const standing *s)
{
    assert_int_equal(s->cores, 1);
}

/* Checks that the worker, after its task or the next one, may run on `cores` cores
   again, as before it was moved. */
static void check_returned(hy_pool *pool, int cores)
{
    question q = {.task = {.run = answer}};

    sem_init(&q.answered, 0, 0);
    for (int i = 0; i < 2; i++) {
        hy_pool_submit(pool, HY_PACK, &q.task);
        sem_wait(&q.answered);
    }
    assert_int_equal(q.cores, cores);
    sem_destroy(&q.answered);
}

static void open_standing(standing *s, hy_context *ctx)
{
    *s        = (standing){.task = {.run = stand_in_task}, .pool = ctx->pool};
    s->caller = pthread_self();
    sem_init(&s->begun, 0, 0);
}

/* Creates a pool of two threads that are bound to no core: one worker, and the calling
   thread. */
static hy_pool *open_unbound(hy_context *ctx)
{
    hy_pool *pool;
    const int more = hy_topology_cores(test_topology(ctx));

    assert_int_equal(hy_pool_create(ctx, test_topology(ctx), 2, more, &pool), HYBRID_OK);
    assert_int_equal(pool->binding, HY_BOUND_NEVER);
    return pool;
}

static void a_loop_lends_its_callers_core(void **state)
{
    standing s;
    int first;
    const int cores = allowed_cores(&first);

    (void)state;
    hy_context *ctx = test_context(1);
    open_standing(&s, ctx);
    s.pool = open_unbound(ctx);
    assert_int_equal(hy_pool_for(s.pool, HY_COMPUTE, 0, 2, 1, stand_in_loop, &s),
                     HYBRID_OK);
    check_moved(&s);
    check_returned(s.pool, cores);
    hy_pool_destroy(ctx, s.pool);
    sem_destroy(&s.begun);
    test_context_free(ctx);
}

static void an_inbox_lends_its_threads_core(void **state)
{
    standing s;
    hy_inbox inbox;
    int first;
    const int cores = allowed_cores(&first);

    (void)state;
    hy_context *ctx = test_context(1);
    open_standing(&s, ctx);
    s.inbox = &inbox;
    hy_inbox_open(&inbox, &ctx->progress, ctx->pool, 0);
    hy_pool_submit(ctx->pool, HY_COMPUTE, &s.task);
    sem_wait(&s.begun);
    assert_ptr_equal(hy_inbox_pop(&inbox), &s.task);
    check_moved(&s);
    check_returned(ctx->pool, cores);
    hy_inbox_destroy(&inbox);
    sem_destroy(&s.begun);
    test_context_free(ctx);
}

/* ---- neighbours ---- */

enum { PIECES = 1000, LOOPS = 20 };

static hybrid_status count_piece(void *arg, int part, int64_t begin, int64_t end)
{
    unsigned char *counts = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        counts[i]++;
    return HYBRID_OK;
}

static void loops_are_whole_beside_neighbours(int64_t spin_ns)
{
    static const int sizes[]     = {1, 2, 3, 8};
    unsigned char counts[PIECES] = {0};
    neighbour *n                 = neighbour_open(4, spin_ns);

    assert_non_null(n);
    for (int s = 0; s < 4; s++) {
        hy_context *ctx = test_context(sizes[s]);
        for (int i = 0; i < LOOPS; i++) {
            neighbour_disturb(n);
            assert_int_equal(
                hy_pool_for(ctx->pool, HY_COMPUTE, 0, PIECES, 7, count_piece, counts),
                HYBRID_OK);
            for (int p = 0; p < PIECES; p++)
                assert_int_equal(counts[p], s * LOOPS + i + 1);
        }
        test_context_free(ctx);
    }
    neighbour_close(n);
}

static void loops_are_whole_beside_threads_that_spin_for_a_while(void **state)
{
    (void)state;
    loops_are_whole_beside_neighbours(1000000);
}

static void loops_are_whole_beside_threads_that_spin_for_ever(void **state)
{
    (void)state;
    loops_are_whole_beside_neighbours(NEIGHBOUR_FOREVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_workers_than_cores_sleep_on_different_cores),
        cmocka_unit_test(the_number_of_workers_decides_the_binding),
        cmocka_unit_test(a_loop_lends_its_callers_core),
        cmocka_unit_test(an_inbox_lends_its_threads_core),
        cmocka_unit_test(loops_are_whole_beside_threads_that_spin_for_a_while),
        cmocka_unit_test(loops_are_whole_beside_threads_that_spin_for_ever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
