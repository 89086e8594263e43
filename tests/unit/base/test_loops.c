/* tests/unit/base/test_loops.c - parallel loops: coverage, participants, errors, nested
   and concurrent loops. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/threads/pool_inside.h"
#include "tests/support/engines/context.h"
#include "tests/support/fake/gate.h"

static const int sizes[] = {1, 2, 3, 8};

enum { SIZES = sizeof sizes / sizeof *sizes };

static hy_context *ctx;

/* ---- coverage ---- */

typedef struct covering {
    unsigned char *times; /* how often each index was visited; its loop's range begins at
                             `first` */
    int64_t first, grain;
    int inside[64]; /* by part (number of a participating thread): 1 while it is inside a
                       piece */
    int clashes;
} covering;

static hybrid_status cover(void *arg, int part, int64_t begin, int64_t end)
{
    covering *c = arg;

    if (part < 0 || part >= hy_pool_threads(ctx->pool))
        return hy_fail(ctx, HYBRID_BAD_STATE, "part %d", part);
    if (begin >= end || end - begin > c->grain || (begin - c->first) % c->grain != 0)
        return hy_fail(ctx, HYBRID_BAD_STATE, "piece at %lld", (long long)begin);
    if (__atomic_exchange_n(&c->inside[part], 1, __ATOMIC_RELAXED))
        __atomic_store_n(&c->clashes, 1, __ATOMIC_RELAXED);
    for (int64_t i = begin; i < end; i++)
        c->times[i - c->first]++;
    __atomic_store_n(&c->inside[part], 0, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

static void loops_visit_each_index_once(void **state)
{
    static const int64_t ranges[][3] = {{0, 1000, 1}, {0, 1000, 7},    {-50, 950, 64},
                                        {5, 6, 1},    {0, 1000, 1000}, {0, 10, 99}};
    unsigned char times[1000];

    (void)state;
    for (int s = 0; s < SIZES; s++) {
        ctx = test_context(sizes[s]);
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
            const int64_t n = ranges[r][1] - ranges[r][0];
            covering c = {.times = times, .first = ranges[r][0], .grain = ranges[r][2]};
            memset(times, 0, sizeof times);
            assert_int_equal(hy_pool_for(ctx->pool, HY_COMPUTE, ranges[r][0],
                                         ranges[r][1], ranges[r][2], cover, &c),
                             HYBRID_OK);
            assert_false(c.clashes);
            for (int64_t i = 0; i < 1000; i++)
                assert_int_equal(times[i], i < n);
        }
        test_context_free(ctx);
    }
}

static hybrid_status add_length(void *arg, int part, int64_t begin, int64_t end)
{
    (void)part;
    __atomic_fetch_add((int64_t *)arg, end - begin, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

static void extreme_ranges_end(void **state)
{
    int64_t sum = 0;

    (void)state;
    ctx = test_context(8);
    assert_int_equal(hy_pool_for(ctx->pool, HY_PACK, 3, 3, 1, add_length, &sum),
                     HYBRID_OK);
    assert_int_equal(hy_pool_for(ctx->pool, HY_PACK, 3, -3, 1, add_length, &sum),
                     HYBRID_OK);
    assert_int_equal(sum, 0);
    assert_int_equal(
        hy_pool_for(ctx->pool, HY_PACK, 0, INT64_MAX, INT64_MAX, add_length, &sum),
        HYBRID_OK);
    assert_true(sum == INT64_MAX);
    sum = 0;
    assert_int_equal(
        hy_pool_for(ctx->pool, HY_PACK, 0, INT64_MAX, INT64_MAX / 2, add_length, &sum),
        HYBRID_OK);
    assert_true(sum == INT64_MAX);
    test_context_free(ctx);
}

/* ---- participants ---- */

static hybrid_status count_mine(void *arg, int part, int64_t begin, int64_t end)
{
    const pthread_t *caller = arg;

    (void)part, (void)begin, (void)end;
    return pthread_equal(*caller, pthread_self()) ? HYBRID_OK : HYBRID_BAD_STATE;
}

/* With a pool of one worker the calling thread does the whole loop. */
static void the_calling_thread_needs_no_pool_of_one(void **state)
{
    pthread_t me = pthread_self();

    (void)state;
    ctx = test_context(1);
    assert_int_equal(hy_pool_for(ctx->pool, HY_COMPUTE, 0, 100, 1, count_mine, &me),
                     HYBRID_OK);
    assert_int_equal(hy_pool_busy_ns(ctx->pool), 0);
    test_context_free(ctx);
}

typedef struct gathering {
    pthread_t caller;
    int there, caller_came;
} gathering;

/* Returns when as many pieces have begun as the pool has threads, so that no thread
   takes two. */
static hybrid_status come(void *arg, int part, int64_t begin, int64_t end)
{
    gathering *m = arg;

    (void)part, (void)begin, (void)end;
    if (pthread_equal(m->caller, pthread_self()))
        __atomic_store_n(&m->caller_came, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&m->there, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&m->there, __ATOMIC_RELAXED) < hy_pool_threads(ctx->pool))
        sched_yield();
    return HYBRID_OK;
}

/* The calling thread takes the place of one worker: exactly as many threads take part as
   the pool has workers, whether these slept before or not. */
static void the_calling_thread_is_one_of_as_many(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++) {
        ctx = test_context(sizes[s]);
        for (int round = 0; round < 50; round++) {
            gathering m = {.caller = pthread_self()};
            assert_int_equal(hy_pool_for(ctx->pool, HY_PLAN, 0, sizes[s], 1, come, &m),
                             HYBRID_OK);
            assert_int_equal(m.there, sizes[s]);
            assert_true(m.caller_came);
            if (round % 10 == 0)
                usleep(1000);
        }
        test_context_free(ctx);
    }
}

typedef struct failing {
    pthread_barrier_t all_inside;
    int64_t threads, fails_at, visited;
} failing;

static hybrid_status fail_there(void *arg, int part, int64_t begin, int64_t end)
{
    failing *f = arg;

    (void)part;
    (void)end;
    __atomic_fetch_add(&f->visited, 1, __ATOMIC_RELAXED);
    if (begin < f->threads) /* the first pieces, one for each thread: wait until all
                               threads are inside */
        pthread_barrier_wait(&f->all_inside);
    return begin == f->fails_at ? HYBRID_BAD_FILE : HYBRID_OK;
}

/* A loop ends at the first error: it has 2^50 pieces, so that only the error can end
   it. */
static void the_first_error_stops_the_loop(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++) {
        failing f = {.threads = sizes[s], .fails_at = 10};
        ctx       = test_context(sizes[s]);
        pthread_barrier_init(&f.all_inside, NULL, (unsigned)sizes[s]);
        assert_int_equal(
            hy_pool_for(ctx->pool, HY_PACK, 0, (int64_t)1 << 50, 1, fail_there, &f),
            HYBRID_BAD_FILE);
        assert_true(f.visited >= 11);
        if (sizes[s] == 1)
            assert_int_equal(f.visited, 11); /* one thread visits the pieces in order,
                                                and none after the error */
        pthread_barrier_destroy(&f.all_inside);
        test_context_free(ctx);
    }
}

/* ---- nested and concurrent loops ---- */

typedef struct nest {
    int64_t sum;
    int depth;
} nest;

static hybrid_status nest_loop(void *arg, int part, int64_t begin, int64_t end);

static hybrid_status nest_deeper(nest *outer)
{
    nest inner = {.depth = outer->depth - 1};

    if (outer->depth == 0)
        inner.sum = 1;
    else
        HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, 5, 1, nest_loop, &inner));
    __atomic_fetch_add(&outer->sum, inner.sum, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

static hybrid_status nest_loop(void *arg, int part, int64_t begin, int64_t end)
{
    (void)part;
    for (int64_t i = begin; i < end; i++)
        HY_TRY(nest_deeper(arg));
    return HYBRID_OK;
}

static void *nest_in_a_thread(void *arg)
{
    for (int i = 0; i < 20; i++)
        if (hy_pool_for(ctx->pool, HY_PLACE, 0, 5, 1, nest_loop, arg) != HYBRID_OK)
            return NULL;
    return arg;
}

typedef struct looping {
    hy_task task;
    nest nest;
    sem_t *done;
} looping;

static void nest_in_a_task(hy_task *task, int worker)
{
    looping *l = (looping *)task;

    (void)worker;
    nest_in_a_thread(&l->nest);
    sem_post(l->done);
}

static void loops_nest_and_run_side_by_side(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++) {
        pthread_t threads[3];
        nest nests[3] = {{.depth = 3}, {.depth = 2}, {.depth = 0}};
        looping tasks[3];
        sem_t done;

        ctx = test_context(sizes[s]);
        sem_init(&done, 0, 0);
        for (int i = 0; i < 3; i++) {
            tasks[i] = (looping){{.run = nest_in_a_task}, {.depth = i}, &done};
            hy_pool_submit(ctx->pool, HY_IDLE, &tasks[i].task);
            assert_int_equal(
                pthread_create(&threads[i], NULL, nest_in_a_thread, &nests[i]), 0);
        }
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
            sem_wait(&done);
        }
        for (int i = 0; i < 3; i++)
            assert_int_equal(tasks[i].nest.sum, i == 0 ? 100 : i == 1 ? 500 : 2500);
        assert_int_equal(nests[0].sum, 20 * 625);
        assert_int_equal(nests[1].sum, 20 * 125);
        assert_int_equal(nests[2].sum, 20 * 5);
        test_context_free(ctx);
    }
}

static void a_loop_waits_for_no_busy_worker(void **state)
{
    int64_t sum = 0;
    gate g;

    (void)state;
    ctx = test_context(2);
    gate_close(&g, ctx->pool); /* blocks one of the two workers in a task, until the loop
                                  has returned */
    assert_int_equal(hy_pool_for(ctx->pool, HY_COMPUTE, 0, 100, 1, add_length, &sum),
                     HYBRID_OK);
    assert_int_equal(sum, 100);
    gate_open(&g);
    test_context_free(ctx);
}

typedef struct meeting {
    pthread_barrier_t barrier;
    int64_t sum;
} meeting;

static hybrid_status meet(void *arg, int part, int64_t begin, int64_t end)
{
    meeting *m = arg;

    pthread_barrier_wait(&m->barrier); /* returns only when all workers are in the
                                          loop */
    return add_length(&m->sum, part, begin, end);
}

static void all_workers_take_part(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++) {
        meeting m = {.sum = 0};
        ctx       = test_context(sizes[s]);
        pthread_barrier_init(&m.barrier, NULL, (unsigned)sizes[s]);
        assert_int_equal(hy_pool_for(ctx->pool, HY_IDLE, 0, sizes[s], 1, meet, &m),
                         HYBRID_OK);
        assert_int_equal(m.sum, sizes[s]);
        pthread_barrier_destroy(&m.barrier);
        test_context_free(ctx);
    }
}

/* A piece of a loop on this pool, which runs a loop on another pool and otherwise only
   waits for it. */
static hybrid_status loop_elsewhere(void *arg, int part, int64_t begin, int64_t end)
{
    int64_t sum = 0;

    (void)part;
    HY_TRY(hy_pool_for(arg, HY_COMPUTE, begin, end, 1, add_length, &sum));
    return sum == end - begin ? HYBRID_OK : HYBRID_BAD_STATE;
}

/* A worker seems to poll for work but has lost its core (here a gate blocks it). The
   loop takes back the piece that it gave to this worker. */
static void a_loop_waits_for_no_worker_that_lost_its_core(void **state)
{
    unsigned char times[64] = {0};
    covering c              = {.times = times, .grain = 8};
    gate g;

    (void)state;
    ctx = test_context(1);
    gate_close(&g, ctx->pool);
    struct hy_worker *worker = &ctx->pool->workers[0];
    worker->state            = HY_WORKER_SPINS;
    hy_loop loop;
    hy_pool_begin(&loop, ctx->pool, HY_COMPUTE, 0, 8, 8, cover, &c);
    assert_ptr_equal(worker->assigned, &loop.task);
    loop.part = 0; /* part number 0, so that the waiting thread takes pieces too */
    assert_int_equal(hy_pool_end(&loop), HYBRID_OK);
    assert_null(worker->assigned);
    for (int i = 0; i < 8; i++)
        assert_int_equal(times[i], 1);
    worker->state = HY_WORKER_AWAKE;
    gate_open(&g);
    test_context_free(ctx);
}

static void pools_are_independent(void **state)
{
    hy_pool *other;

    (void)state;
    ctx = test_context(3);
    assert_int_equal(hy_pool_create(ctx, test_topology(ctx), 1, 0, &other), HYBRID_OK);
    assert_int_equal(
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, 500, 10, loop_elsewhere, other), HYBRID_OK);
    hy_pool_destroy(ctx, other);
    test_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_visit_each_index_once),
        cmocka_unit_test(extreme_ranges_end),
        cmocka_unit_test(the_calling_thread_needs_no_pool_of_one),
        cmocka_unit_test(the_calling_thread_is_one_of_as_many),
        cmocka_unit_test(the_first_error_stops_the_loop),
        cmocka_unit_test(loops_nest_and_run_side_by_side),
        cmocka_unit_test(a_loop_waits_for_no_busy_worker),
        cmocka_unit_test(all_workers_take_part),
        cmocka_unit_test(a_loop_waits_for_no_worker_that_lost_its_core),
        cmocka_unit_test(pools_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
