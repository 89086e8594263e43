/* tests/test_urgency.c - loops whose helpers are called away by what is more urgent. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/pool.h"
#include "tests/support/context.h"

static hy_context *ctx;

/* ---- one loop ---------------------------------------------------------------------- */

enum { CALLS = 10, PIECES = 400, PAUSE_US = 200 };

typedef struct call {
    hy_task task;
    struct calling *of;
    int64_t submitted, run; /* pieces that were done by then */
} call;

typedef struct calling {
    call calls[CALLS];
    int64_t done;
    unsigned char times[PIECES];
} calling;

static void answer(hy_task *task, int worker)
{
    call *c = (call *)task;

    (void)worker;
    __atomic_store_n(&c->run, __atomic_load_n(&c->of->done, __ATOMIC_RELAXED),
                     __ATOMIC_RELEASE);
}

/* Every so often a piece submits a task that is more urgent than the loop. */
static hybrid_status pause_and_call(void *arg, int part, int64_t begin, int64_t end)
{
    calling *c      = arg;
    const int64_t k = begin / (PIECES / CALLS);

    (void)part, (void)end;
    c->times[begin]++;
    usleep(PAUSE_US);
    if (begin % (PIECES / CALLS) == 0) {
        c->calls[k] = (call){.task      = {.run = answer},
                             .of        = c,
                             .submitted = __atomic_load_n(&c->done, __ATOMIC_RELAXED),
                             .run       = INT64_MAX};
        hy_pool_submit(ctx->pool, HY_PACK, &c->calls[k].task);
    }
    __atomic_fetch_add(&c->done, 1, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

static void helpers_turn_to_what_is_more_urgent(void **state)
{
    calling c  = {.done = 0};
    int prompt = 0;

    (void)state;
    ctx = test_context(2);
    assert_int_equal(hy_pool_for(ctx->pool, HY_COMPUTE, 0, PIECES, 1, pause_and_call, &c),
                     HYBRID_OK);
    test_context_free(ctx); /* finishes what is queued */
    for (int i = 0; i < PIECES; i++)
        assert_int_equal(c.times[i], 1);
    for (int i = 0; i < CALLS; i++)
        prompt += c.calls[i].run - c.calls[i].submitted < 8;
    assert_true(prompt >= CALLS / 2); /* the system may hold up a worker that has one */
}

/* ---- loops of all urgencies, side by side ------------------------------------------ */

enum { ROUNDS = 300, LENGTH = 37, INNER = 3 };

typedef struct counting {
    unsigned char times[LENGTH];
    int64_t inner;
} counting;

static hybrid_status count_one(void *arg, int part, int64_t begin, int64_t end)
{
    (void)part;
    __atomic_fetch_add((int64_t *)arg, end - begin, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

/* Every few pieces wait for a loop that is more urgent than their own. */
static hybrid_status count_piece(void *arg, int part, int64_t begin, int64_t end)
{
    counting *c = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        c->times[i]++;
    return begin % 8 == 0
               ? hy_pool_for(ctx->pool, HY_PACK, 0, INNER, 1, count_one, &c->inner)
               : HYBRID_OK;
}

/* The loop is gone when it returns: whoever still touched it would meet the next one. */
static int loop_once(hy_urgency urgency)
{
    counting c = {.inner = 0};
    int wrong =
        hy_pool_for(ctx->pool, urgency, 0, LENGTH, 1, count_piece, &c) != HYBRID_OK;

    for (int i = 0; i < LENGTH; i++)
        wrong += c.times[i] != 1;
    return wrong + (c.inner != INNER * ((LENGTH + 7) / 8));
}

typedef struct caller {
    hy_task task;
    hy_urgency urgency;
    int wrong;
    sem_t *done;
} caller;

static void *call_often(void *arg)
{
    caller *c = arg;

    for (int i = 0; i < ROUNDS; i++)
        c->wrong += loop_once(c->urgency);
    return NULL;
}

static void call_from_a_task(hy_task *task, int worker)
{
    (void)worker;
    call_often(task);
    sem_post(((caller *)task)->done);
}

static void loops_of_all_urgencies_visit_each_index_once(void **state)
{
    static const int sizes[] = {1, 2, 3, 8};

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        caller threads[HY_URGENCIES], tasks[HY_URGENCIES];
        pthread_t thread[HY_URGENCIES];
        sem_t done;

        ctx = test_context(sizes[s]);
        sem_init(&done, 0, 0);
        for (int u = 0; u < HY_URGENCIES; u++) {
            threads[u] = (caller){.urgency = (hy_urgency)u};
            tasks[u]   = (caller){.task    = {call_from_a_task, NULL},
                                  .urgency = (hy_urgency)u,
                                  .done    = &done};
            hy_pool_submit(ctx->pool, HY_COMPUTE, &tasks[u].task);
            assert_int_equal(pthread_create(&thread[u], NULL, call_often, &threads[u]),
                             0);
        }
        for (int u = 0; u < HY_URGENCIES; u++) {
            pthread_join(thread[u], NULL);
            sem_wait(&done);
        }
        for (int u = 0; u < HY_URGENCIES; u++)
            assert_int_equal(threads[u].wrong + tasks[u].wrong, 0);
        sem_destroy(&done);
        test_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(helpers_turn_to_what_is_more_urgent),
        cmocka_unit_test(loops_of_all_urgencies_visit_each_index_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
