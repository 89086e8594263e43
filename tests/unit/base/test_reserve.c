/* tests/unit/base/test_reserve.c - workers of the reserve, which are called and
   dismissed. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/threads/pool.h"
#include "base/threads/pool_inside.h"
#include "tests/support/engines/context.h"
#include "tests/support/fake/gate.h"

static hy_context *ctx;

enum { REGULAR = 2, RESERVE = 3, TURNS = 20, PIECES = 100 };

/* Returns when all workers have begun a piece, so that each takes one. */
static hybrid_status meet(void *arg, int part, int64_t begin, int64_t end)
{
    int *there = arg;

    (void)part, (void)begin, (void)end;
    __atomic_add_fetch(there, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(there, __ATOMIC_RELAXED) < REGULAR + RESERVE)
        sched_yield();
    return HYBRID_OK;
}

static hybrid_status is_regular(void *arg, int part, int64_t begin, int64_t end)
{
    (void)arg, (void)begin, (void)end;
    sched_yield();
    return part < REGULAR ? HYBRID_OK : HYBRID_BAD_STATE;
}

static void the_reserve_works_when_called(void **state)
{
    hy_pool *pool = NULL;

    (void)state;
    ctx = test_context(1);
    assert_int_equal(hy_pool_create(ctx, test_topology(ctx), REGULAR, RESERVE, &pool),
                     HYBRID_OK);
    assert_int_equal(hy_pool_max_threads(pool), REGULAR + RESERVE);
    for (int turn = 0; turn < TURNS; turn++) {
        int there = 0;
        assert_int_equal(hy_pool_threads(pool), REGULAR);
        assert_int_equal(hy_pool_for(pool, HY_PLAN, 0, PIECES, 1, is_regular, NULL),
                         HYBRID_OK);
        hy_pool_call_reserve(pool);
        assert_int_equal(hy_pool_threads(pool), REGULAR + RESERVE);
        assert_int_equal(
            hy_pool_for(pool, HY_PLAN, 0, REGULAR + RESERVE, 1, meet, &there), HYBRID_OK);
        hy_pool_dismiss_reserve(pool);
    }
    hy_pool_destroy(ctx, pool);
    test_context_free(ctx);
}

typedef struct waiting {
    sem_t begun, go;
} waiting;

/* Piece 0 waits for a word of the test. */
static hybrid_status stand_in_first(void *arg, int part, int64_t begin, int64_t end)
{
    waiting *w = arg;

    (void)part, (void)end;
    if (begin > 0)
        return HYBRID_OK;
    sem_post(&w->begun);
    sem_wait(&w->go);
    return HYBRID_OK;
}

typedef struct telling {
    hy_task task; /* first member, so that a task pointer is also one to its struct */
    sem_t done;
} telling;

static void tell(hy_task *task, int worker)
{
    (void)worker;
    sem_post(&((telling *)task)->done);
}

static void await_sleep(const struct hy_worker *w)
{
    while (__atomic_load_n(&w->state, __ATOMIC_SEQ_CST) != HY_WORKER_SLEEPS)
        sched_yield();
}

/* Lets worker 1, of the reserve, see an urgent task after its piece. When it has the lock
   to leave the loop, the task is gone, and the reserve is dismissed. */
static void dismiss_helper(hy_pool *pool, waiting *w)
{
    int *urgent = &pool->queues[HY_PACK].count;

    pthread_mutex_lock(&pool->lock);
    __atomic_store_n(urgent, 1, __ATOMIC_SEQ_CST);
    sem_post(&w->go);
    while (__atomic_load_n(&pool->workers[1].loop, __ATOMIC_SEQ_CST))
        sched_yield();
    __atomic_store_n(urgent, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&pool->active, pool->regular, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&pool->lock);
}

/* A worker of the reserve that is called away from a loop may not return to it if the
   reserve is dismissed meanwhile. A regular worker, which sleeps, does the rest. */
static void a_dismissed_helper_leaves_the_rest_to_others(void **state)
{
    telling t     = {.task = {.run = tell}};
    hy_pool *pool = NULL;
    waiting w;
    hy_loop loop;
    gate g;

    (void)state;
    ctx = test_context(1);
    sem_init(&t.done, 0, 0);
    sem_init(&w.begun, 0, 0);
    sem_init(&w.go, 0, 0);
    assert_int_equal(hy_pool_create(ctx, test_topology(ctx), 1, 1, &pool), HYBRID_OK);
    await_sleep(&pool->workers[1]);
    gate_close(&g, pool);
    hy_pool_begin(&loop, pool, HY_PLACE, 0, 2, 1, stand_in_first, &w);
    hy_pool_call_reserve(pool);
    hy_pool_submit(pool, HY_COMPUTE, &t.task); /* wakes worker 1, which takes the loop */
    sem_wait(&w.begun);
    gate_open(&g);
    sem_wait(&t.done);
    await_sleep(&pool->workers[0]);
    dismiss_helper(pool, &w);
    assert_int_equal(hy_pool_end(&loop), HYBRID_OK);
    hy_pool_destroy(ctx, pool);
    test_context_free(ctx);
}

/* ---- a thread beside the call ---- */

static hybrid_status pass(void *arg, int part, int64_t begin, int64_t end)
{
    (void)arg, (void)part, (void)begin, (void)end;
    return HYBRID_OK;
}

/* Runs loops on the pool. */
static void *loop_beside(void *pool)
{
    for (int turn = 0; turn < TURNS; turn++)
        if (hy_pool_threads(pool) < REGULAR ||
            hy_pool_for(pool, HY_COMPUTE, 0, PIECES, 1, pass, NULL) != HYBRID_OK)
            return pool;
    return NULL;
}

/* A thread that writes a file runs loops while a product calls the reserve. The thread
   sanitizer checks that both may do so. */
static void loops_run_beside_calls_of_the_reserve(void **state)
{
    hy_pool *pool = NULL;
    void *failed  = NULL;
    pthread_t thread;

    (void)state;
    ctx = test_context(1);
    assert_int_equal(hy_pool_create(ctx, test_topology(ctx), REGULAR, RESERVE, &pool),
                     HYBRID_OK);
    assert_int_equal(pthread_create(&thread, NULL, loop_beside, pool), 0);
    for (int turn = 0; turn < TURNS; turn++) {
        hy_pool_call_reserve(pool);
        sched_yield();
        hy_pool_dismiss_reserve(pool);
    }
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    hy_pool_destroy(ctx, pool);
    test_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reserve_works_when_called),
        cmocka_unit_test(a_dismissed_helper_leaves_the_rest_to_others),
        cmocka_unit_test(loops_run_beside_calls_of_the_reserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
