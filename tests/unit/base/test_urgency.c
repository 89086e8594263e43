/* tests/unit/base/test_urgency.c - helpers leave a loop for more urgent tasks. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/threads/pool.h"
#include "tests/support/engines/context.h"

static hy_context *ctx;

/* ---- one loop ---- */

enum { PIECES = 400 };

/* State of a loop in a pool of two workers: one calls the loop, the other helps with
   it. */
typedef struct calling {
    hy_task caller; /* task that calls the loop; first member, so that its pointer is one
                       to the struct */
    hy_task answer; /* task that the calling worker submits from inside the loop */
    hy_urgency loop, task;
    pthread_t thread; /* thread of the worker that calls the loop */
    int helps;        /* 1 when the helping worker is inside a piece; `helps`,
                         `submitted` and `answered` are atomic */
    int submitted;    /* 1 when the task `answer` is in the queue */
    int answered;     /* 1 when the task `answer` has run */
    int late;         /* number of pieces that the helping worker began while `answer` was
                         queued; must be 0 */
    hybrid_status status;
    sem_t done;
} calling;

static void await(const int *word)
{
    while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void set(int *word)
{
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
}

static void answer(hy_task *task, int worker)
{
    calling *c = (calling *)((char *)task - offsetof(calling, answer));

    (void)worker;
    set(&c->answered);
}

/* A piece of the loop. The calling worker submits `answer` while the helper is inside
   its first piece, and waits in its own first piece until the task has run. Only the
   helper can run it. */
static hybrid_status submit_or_help(void *arg, int part, int64_t begin, int64_t end)
{
    calling *c = arg;

    (void)part, (void)begin, (void)end;
    if (!pthread_equal(c->thread, pthread_self())) {
        const int submitted = __atomic_load_n(&c->submitted, __ATOMIC_ACQUIRE);
        c->late += submitted && !__atomic_load_n(&c->answered, __ATOMIC_ACQUIRE);
        set(&c->helps);
        await(&c->submitted);
    } else if (!__atomic_load_n(&c->submitted, __ATOMIC_RELAXED)) {
        await(&c->helps);
        hy_pool_submit(ctx->pool, c->task, &c->answer);
        set(&c->submitted);
        await(&c->answered);
    }
    return HYBRID_OK;
}

static void call_loop(hy_task *task, int worker)
{
    calling *c = (calling *)task;

    (void)worker;
    c->thread = pthread_self();
    c->status = hy_pool_for(ctx->pool, c->loop, 0, PIECES, 1, submit_or_help, c);
    sem_post(&c->done);
}

static void helpers_turn_to_what_is_more_urgent(void **state)
{
    (void)state;
    ctx = test_context(2);
    for (int loop = 1; loop < HY_URGENCIES; loop++)
        for (int task = 0; task < loop; task++) {
            calling c = {.caller = {.run = call_loop},
                         .answer = {.run = answer},
                         .loop   = (hy_urgency)loop,
                         .task   = (hy_urgency)task};
            sem_init(&c.done, 0, 0);
            hy_pool_submit(ctx->pool, HY_COMPUTE, &c.caller);
            sem_wait(&c.done);
            sem_destroy(&c.done);
            assert_int_equal(c.status, HYBRID_OK);
            assert_int_equal(c.late, 0);
        }
    test_context_free(ctx);
}

/* ---- concurrent loops of all urgencies ---- */

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

/* A piece of the loop. Every 8th piece runs another loop, which is more urgent or as
   urgent, and waits for it. */
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

/* Runs a loop once and returns the number of errors. Its state is on the stack: a thread
   that used it after the loop's return would disturb the next loop. */
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
            tasks[u]   = (caller){.task    = {.run = call_from_a_task},
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
