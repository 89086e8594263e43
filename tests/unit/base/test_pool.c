/* tests/unit/base/test_pool.c - tasks, workers, and the cores on which they run. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/threads/clock.h"
#include "base/threads/pool.h"
#include "tests/support/engines/context.h"
#include "tests/support/fake/gate.h"

static const int sizes[] = {1, 2, 3, 8};

enum { SIZES = sizeof sizes / sizeof *sizes };

static hy_context *ctx;

/* ---- tasks ---- */

typedef struct noting {
    hy_task task; /* first member, so that a task pointer is also one to its struct */
    int name;
    int *notes; /* list of the names of tasks, in the order in which they ran */
    int *count;
    sem_t *done;
} noting;

static void note(hy_task *task, int worker)
{
    noting *n = (noting *)task;

    (void)worker;
    n->notes[(*n->count)++] = n->name;
    sem_post(n->done);
}

static void urgent_tasks_first_then_in_order(void **state)
{
    static const hy_urgency urgency[] = {HY_IDLE,    HY_COMPUTE, HY_PACK, HY_PLACE,
                                         HY_COMPUTE, HY_PACK,    HY_IDLE};
    static const int wanted[]         = {2, 5, 3, 1, 4, 0, 6};
    noting tasks[7];
    int notes[7], count = 0;
    gate g;
    sem_t done;

    (void)state;
    ctx = test_context(1);
    sem_init(&done, 0, 0);
    gate_close(&g, ctx->pool);
    for (int i = 0; i < 7; i++) {
        tasks[i] = (noting){{.run = note}, i, notes, &count, &done};
        hy_pool_submit(ctx->pool, urgency[i], &tasks[i].task);
    }
    gate_open(&g);
    for (int i = 0; i < 7; i++)
        sem_wait(&done);
    assert_memory_equal(notes, wanted, sizeof wanted);
    test_context_free(ctx);
}

typedef struct waiting {
    hy_task task; /* first member, so that a task pointer is also one to its struct */
    sem_t begun, go;
} waiting;

static void await_word(hy_task *task, int worker)
{
    waiting *w = (waiting *)task;

    (void)worker;
    sem_post(&w->begun);
    sem_wait(&w->go);
}

/* The pool counts the time that its workers spend in tasks, already while the tasks
   run. */
static void time_in_tasks_is_counted(void **state)
{
    enum { TASKS = 3 };
    waiting tasks[TASKS];
    hy_pool *pool;

    (void)state;
    ctx  = test_context(TASKS);
    pool = ctx->pool;
    assert_int_equal(hy_pool_busy_ns(pool), 0);
    for (int i = 0; i < TASKS; i++) {
        sem_init(&tasks[i].begun, 0, 0);
        sem_init(&tasks[i].go, 0, 0);
        tasks[i].task = (hy_task){.run = await_word};
        hy_pool_submit(pool, HY_COMPUTE, &tasks[i].task);
    }
    for (int i = 0; i < TASKS; i++)
        sem_wait(&tasks[i].begun);
    const int64_t busy = hy_pool_busy_ns(pool), begin = hy_now_ns();
    while (hy_now_ns() < begin + 1000000)
        ;
    assert_true(hy_pool_busy_ns(pool) - busy >= TASKS * (int64_t)1000000);
    for (int i = 0; i < TASKS; i++)
        sem_post(&tasks[i].go);
    test_context_free(ctx);
}

static void withdrawn_tasks_do_not_run(void **state)
{
    static const int wanted[] = {1, 3};
    noting tasks[5];
    int notes[5], count = 0;
    gate g;
    sem_t done;

    (void)state;
    ctx = test_context(1);
    sem_init(&done, 0, 0);
    gate_close(&g, ctx->pool);
    for (int i = 0; i < 5; i++) {
        tasks[i] = (noting){{.run = note}, i, notes, &count, &done};
        hy_pool_submit(ctx->pool, HY_COMPUTE, &tasks[i].task);
    }
    for (int i = 0; i < 5; i += 2) /* removes the first, middle and last of the waiting
                                      tasks */
        assert_true(hy_pool_withdraw(ctx->pool, HY_COMPUTE, &tasks[i].task));
    assert_false(hy_pool_withdraw(ctx->pool, HY_COMPUTE, &tasks[0].task));
    assert_false(hy_pool_withdraw(ctx->pool, HY_PACK, &tasks[1].task));
    gate_open(&g);
    for (int i = 0; i < 2; i++)
        sem_wait(&done);
    assert_false(hy_pool_withdraw(ctx->pool, HY_COMPUTE, &tasks[1].task));
    test_context_free(ctx);
    assert_int_equal(count, 2);
    assert_memory_equal(notes, wanted, sizeof wanted);
}

typedef struct again {
    hy_task task;
    hy_pool *pool;
    int left;
    int *runs;
} again;

static void run_again(hy_task *task, int worker)
{
    again *a = (again *)task;

    (void)worker;
    __atomic_fetch_add(a->runs, 1, __ATOMIC_RELAXED);
    if (--a->left > 0)
        hy_pool_submit(a->pool, HY_IDLE, task);
}

static void destroying_finishes_what_is_queued(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++) {
        again tasks[20];
        hy_pool *pool;
        int runs = 0;
        ctx      = test_context(1);
        assert_int_equal(hy_pool_create(ctx, test_topology(ctx), sizes[s], 0, &pool),
                         HYBRID_OK);
        for (int i = 0; i < 20; i++) {
            tasks[i] = (again){{.run = run_again}, pool, 10, &runs};
            hy_pool_submit(pool, HY_IDLE, &tasks[i].task);
        }
        hy_pool_destroy(ctx, pool);
        assert_int_equal(runs, 200);
        test_context_free(ctx);
    }
    hy_pool_destroy(ctx, NULL);
}

static void run_and_free(hy_task *task, int worker)
{
    (void)worker;
    free(task);
}

static void a_task_may_free_itself(void **state)
{
    (void)state;
    ctx = test_context(3);
    for (int i = 0; i < 1000; i++) {
        hy_task *task = malloc(sizeof *task);
        assert_non_null(task);
        task->run = run_and_free;
        hy_pool_submit(ctx->pool, HY_PLACE, task);
    }
    test_context_free(ctx);
}

/* ---- workers and cores ---- */

static void workers_have_names(void **state)
{
    (void)state;
    ctx = test_context(12);
    assert_int_equal(hy_pool_threads(ctx->pool), 12);
    assert_string_equal(hy_pool_worker_name(ctx->pool, 0), "cpu0");
    assert_string_equal(hy_pool_worker_name(ctx->pool, 11), "cpu11");
    assert_int_equal(hy_pool_l2_bytes(ctx->pool),
                     hy_topology_l2_bytes(test_topology(ctx)));
    test_context_free(ctx);
}

static void no_number_is_one_worker_a_core(void **state)
{
    (void)state;
    ctx = test_context(0);
    assert_int_equal(hy_pool_threads(ctx->pool), hy_topology_cores(test_topology(ctx)));
    test_context_free(ctx);
}

/* Stores in *arg how many workers a context has by default if it is created in a thread
   that is bound to one core. The thread is a new one, so that the test's own binding
   does not change. */
static void *cores_when_bound_to_one(void *arg)
{
    cpu_set_t all, one;

    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    hy_context *bound = test_context(0);
    *(int *)arg       = hy_pool_threads(bound->pool);
    test_context_free(bound);
    return NULL;
}

static void affinity_limits_the_cores(void **state)
{
    pthread_t thread;
    cpu_set_t all;
    int cores = 0;

    (void)state;
    ctx = test_context(1);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_in_range(hy_topology_cores(test_topology(ctx)), 1, CPU_COUNT(&all));
    assert_int_equal(pthread_create(&thread, NULL, cores_when_bound_to_one, &cores), 0);
    pthread_join(thread, NULL);
    assert_int_equal(cores, 1);
    test_context_free(ctx);
}

static void every_failure_to_create_frees(void **state)
{
    hy_pool *pool = NULL;
    int failed    = 0;

    (void)state;
    ctx                  = test_context(1);
    const int64_t before = hy_meter_used(&ctx->memory.meter);
    for (int64_t nth = 1;; nth++) {
        ctx->memory.failures       = nth;
        const hybrid_status status = hy_pool_create(ctx, test_topology(ctx), 2, 1, &pool);
        ctx->memory.failures       = 0;
        if (status == HYBRID_OK)
            break;
        assert_int_equal(status, HYBRID_NO_MEMORY);
        assert_null(pool);
        assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
        failed++;
    }
    assert_true(failed >= 2);
    hy_pool_destroy(ctx, pool);
    test_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urgent_tasks_first_then_in_order),
        cmocka_unit_test(time_in_tasks_is_counted),
        cmocka_unit_test(withdrawn_tasks_do_not_run),
        cmocka_unit_test(destroying_finishes_what_is_queued),
        cmocka_unit_test(a_task_may_free_itself),
        cmocka_unit_test(workers_have_names),
        cmocka_unit_test(no_number_is_one_worker_a_core),
        cmocka_unit_test(affinity_limits_the_cores),
        cmocka_unit_test(every_failure_to_create_frees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
