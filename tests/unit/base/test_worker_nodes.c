/* tests/unit/base/test_worker_nodes.c - workers and the NUMA nodes on which they run.

   hwloc simulates a machine with two nodes of four cores (HWLOC_SYNTHETIC), or another
   one; it then binds no thread. */
#include <hwloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/threads/pool.h"
#include "base/threads/pool_inside.h"
#include "tests/support/engines/context.h"

enum { NODES = 2, EACH = 4, CORES = NODES * EACH, THREADS = 4, TASKS = 6, SECONDS = 60 };

static hy_context *open_machine(const char *machine, int threads)
{
    setenv("HWLOC_SYNTHETIC", machine, 1);
    hy_context *ctx = test_context(threads);
    unsetenv("HWLOC_SYNTHETIC");
    return ctx;
}

/* ---- nodes of workers ---- */

static int on_node(const hy_pool *pool, int node)
{
    int count = 0;

    for (int i = 0; i < pool->threads; i++)
        count += pool->workers[i].node == node;
    return count;
}

/* Each node has as many workers as the other, and never more than it has cores. */
static void workers_are_spread_over_the_nodes(void **state)
{
    (void)state;
    for (int threads = 2; threads <= CORES; threads++) {
        hy_context *ctx     = open_machine("node:2 core:4 pu:1", threads);
        const hy_pool *pool = ctx->pool;
        assert_int_equal(pool->has_nodes, 1);
        assert_int_equal(on_node(pool, 0), (threads + 1) / 2);
        assert_int_equal(on_node(pool, 1), threads / 2);
        test_context_free(ctx);
    }
}

/* Regular workers are on both nodes, and the reserve on the cores that they leave. */
static void the_reserve_is_spread_over_the_nodes(void **state)
{
    hy_context *ctx = open_machine("node:2 core:4 pu:1", 1);

    (void)state;
    for (int regular = 2; regular < CORES; regular++) {
        hy_pool *pool = NULL;
        int first     = 0;
        assert_int_equal(
            hy_pool_create(ctx, test_topology(ctx), regular, CORES - regular, &pool),
            HYBRID_OK);
        for (int i = 0; i < regular; i++)
            first += pool->workers[i].node == 0;
        assert_int_equal(first, (regular + 1) / 2);
        assert_int_equal(on_node(pool, 0), EACH);
        assert_int_equal(on_node(pool, 1), EACH);
        hy_pool_destroy(ctx, pool);
    }
    test_context_free(ctx);
}

static void other_workers_have_no_node(void **state)
{
    static const struct {
        const char *machine;
        int threads;
    } cases[] = {{"node:1 core:8 pu:1", 4},
                 {"node:1 core:8 pu:1", 8},
                 {"node:2 core:4 pu:1", 1},
                 {"node:2 core:4 pu:1", 9}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hy_context *ctx = open_machine(cases[i].machine, cases[i].threads);
        assert_int_equal(ctx->pool->has_nodes, 0);
        assert_int_equal(on_node(ctx->pool, -1), cases[i].threads);
        test_context_free(ctx);
    }
}

/* A worker sleeps on a core of its node. */
static void workers_sleep_on_their_node(void **state)
{
    hy_context *ctx = open_machine("node:2 core:4 pu:1", THREADS);
    hy_pool *pool   = ctx->pool;

    (void)state;
    assert_int_equal(pool->binding, HY_BOUND_ASLEEP);
    for (int i = 0; i < THREADS; i++) {
        struct hy_worker *w = &pool->workers[i];
        while (__atomic_load_n(&w->state, __ATOMIC_SEQ_CST) != HY_WORKER_SLEEPS)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        pthread_mutex_lock(&pool->lock); /* the worker chose its core before it held it */
        const int core = w->core;
        pthread_mutex_unlock(&pool->lock);
        assert_int_equal(core / EACH, w->node);
    }
    test_context_free(ctx);
}

/* ---- tasks ---- */

typedef struct blocking {
    hy_task task; /* must be first */
    sem_t *begun, *end;
    int worker;
} blocking;

static void block(hy_task *task, int worker)
{
    blocking *b = (blocking *)task;

    b->worker = worker;
    sem_post(b->begun);
    while (sem_wait(b->end) != 0)
        continue;
}

typedef struct noting {
    hy_task task; /* must be first */
    int *order, *count;
    int number;
    sem_t *done;
} noting;

static void note(hy_task *task, int worker)
{
    const noting *n = (const noting *)task;

    (void)worker;
    n->order[__atomic_fetch_add(n->count, 1, __ATOMIC_SEQ_CST)] = n->number;
    sem_post(n->done);
}

static void await(sem_t *sem)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SECONDS;
    assert_int_equal(sem_timedwait(sem, &until), 0);
}

/* All workers but one of node 1 are kept busy. That one takes the tasks of its node and
   those without a home in their order, and the tasks of node 0 after them. */
static void a_worker_takes_tasks_of_its_node_first(void **state)
{
    static const int homes[TASKS]    = {1, 2, 0, 1, 2, 0},
                     expected[TASKS] = {1, 2, 4, 5, 0, 3};
    hy_context *ctx                  = open_machine("node:2 core:4 pu:1", THREADS);
    hy_pool *pool                    = ctx->pool;
    sem_t begun, ends[THREADS], done;
    blocking blocks[THREADS];
    noting notes[TASKS];
    int order[TASKS], count = 0, chosen = -1;

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&done, 0, 0);
    for (int i = 0; i < THREADS; i++) {
        sem_init(&ends[i], 0, 0);
        blocks[i] = (blocking){{.run = block}, &begun, &ends[i], -1};
        hy_pool_submit(pool, HY_COMPUTE, &blocks[i].task);
    }
    for (int i = 0; i < THREADS; i++)
        await(&begun);
    for (int i = 0; i < TASKS; i++) {
        notes[i] = (noting){{.run = note, .home = homes[i]}, order, &count, i, &done};
        hy_pool_submit(pool, HY_PACK, &notes[i].task);
    }
    for (int i = 0; i < THREADS; i++)
        if (pool->workers[blocks[i].worker].node == 1)
            chosen = i;
    assert_true(chosen >= 0);
    sem_post(&ends[chosen]);
    for (int i = 0; i < TASKS; i++)
        await(&done);
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(order[i], expected[i]);
    for (int i = 0; i < THREADS; i++)
        if (i != chosen)
            sem_post(&ends[i]);
    test_context_free(ctx);
    for (int i = 0; i < THREADS; i++)
        sem_destroy(&ends[i]);
    sem_destroy(&begun);
    sem_destroy(&done);
}

/* ---- cores without a node ---- */

/* Replaces the function of the C library: all threads of this program appear to run on
   the first core. */
int sched_getcpu(void)
{
    return 0;
}

/* Opens a pool of two workers on a machine whose second core, of three, belongs to no
   node, because the process may not use the memory there. */
static hy_context *open_without_second_node(void)
{
    const char *path       = "without_second_node.xml";
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    hwloc_topology_t machine;

    hwloc_bitmap_set(allowed, 0);
    hwloc_bitmap_set(allowed, 2);
    assert_int_equal(hwloc_topology_init(&machine), 0);
    assert_int_equal(hwloc_topology_set_synthetic(machine, "node:3 core:1 pu:1"), 0);
    assert_int_equal(hwloc_topology_load(machine), 0);
    assert_int_equal(
        hwloc_topology_restrict(machine, allowed, HWLOC_RESTRICT_FLAG_BYNODESET), 0);
    assert_int_equal(hwloc_topology_export_xml(machine, path, 0), 0);
    hwloc_topology_destroy(machine);
    hwloc_bitmap_free(allowed);
    setenv("HWLOC_XMLFILE", path, 1);
    hy_context *ctx = test_context(2);
    unsetenv("HWLOC_XMLFILE");
    unlink(path);
    return ctx;
}

static void await_sleep(const struct hy_worker *w)
{
    while (__atomic_load_n(&w->state, __ATOMIC_SEQ_CST) != HY_WORKER_SLEEPS)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* A worker without a node leaves the cores of nodes to the workers of these nodes, which
   could otherwise find no core to sleep on. */
static void each_worker_finds_a_core(void **state)
{
    hy_context *ctx = open_without_second_node();
    hy_pool *pool   = ctx->pool;
    sem_t begun, ends[2];
    blocking blocks[2];

    (void)state;
    assert_int_equal(pool->binding, HY_BOUND_ASLEEP);
    assert_int_equal(pool->workers[0].node, 0);
    assert_int_equal(pool->workers[1].node, -1);
    sem_init(&begun, 0, 0);
    for (int i = 0; i < 2; i++) {
        sem_init(&ends[i], 0, 0);
        blocks[i] = (blocking){{.run = block}, &begun, &ends[i], -1};
        hy_pool_submit(pool, HY_COMPUTE, &blocks[i].task);
    }
    await(&begun);
    await(&begun);
    for (int worker = 1; worker >= 0; worker--) {
        sem_post(&ends[blocks[0].worker == worker ? 0 : 1]);
        await_sleep(&pool->workers[worker]);
    }
    test_context_free(ctx);
    for (int i = 0; i < 2; i++)
        sem_destroy(&ends[i]);
    sem_destroy(&begun);
}

/* ---- loops ---- */

static hybrid_status nothing(void *arg, int part, int64_t begin, int64_t end)
{
    (void)arg, (void)part, (void)begin, (void)end;
    return HYBRID_OK;
}

typedef struct looping {
    hy_task task; /* must be first */
    hy_pool *pool;
    int home; /* home of the loop that the task began */
    sem_t done;
} looping;

static void loop_in_task(hy_task *task, int worker)
{
    looping *l = (looping *)task;
    hy_loop loop;

    (void)worker;
    hy_pool_begin(&loop, l->pool, HY_COMPUTE, 0, 1, 1, nothing, NULL);
    l->home = loop.task.home;
    assert_int_equal(hy_pool_end(&loop), HYBRID_OK);
    sem_post(&l->done);
}

static int home_of_loop(hy_context *ctx)
{
    hy_loop loop;

    hy_pool_begin(&loop, ctx->pool, HY_COMPUTE, 0, 1, 1, nothing, NULL);
    assert_int_equal(hy_pool_end(&loop), HYBRID_OK);
    return loop.task.home;
}

static void loops_have_the_home_of_their_thread(void **state)
{
    hy_context *ctx = open_machine("node:2 core:4 pu:1", THREADS);

    (void)state;
    for (int home = NODES; home >= 0; home--) {
        looping l = {.task = {.run = loop_in_task, .home = home}, .pool = ctx->pool};
        sem_init(&l.done, 0, 0);
        hy_pool_submit(ctx->pool, HY_COMPUTE, &l.task);
        await(&l.done);
        assert_int_equal(l.home, home);
        sem_destroy(&l.done);
        hy_pool_set_home(home);
        assert_int_equal(home_of_loop(ctx), home);
    }
    test_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_are_spread_over_the_nodes),
        cmocka_unit_test(the_reserve_is_spread_over_the_nodes),
        cmocka_unit_test(other_workers_have_no_node),
        cmocka_unit_test(workers_sleep_on_their_node),
        cmocka_unit_test(a_worker_takes_tasks_of_its_node_first),
        cmocka_unit_test(each_worker_finds_a_core),
        cmocka_unit_test(loops_have_the_home_of_their_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
