/* tests/unit/base/test_host_memory.c - scratch memory and buffers of the host. */
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/threads/clock.h"
#include "host/backend/host_lane.h"
#include "tests/support/engines/context.h"

enum { MANY = 1000, ROUNDS = 200 };

static hy_context *ctx;
static hy_backend *host;

static void open_host(int threads)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    ctx = test_context(threads);
    assert_int_equal(hy_host_backend_ops.open(ctx, &options, &host), HYBRID_OK);
}

static void close_host(void)
{
    host->ops->close(host);
    test_context_free(ctx);
}

static hy_lane *new_lane(void)
{
    hy_lane *lane = NULL;
    assert_int_equal(host->ops->lane_open(host, "lane", 0, &lane), HYBRID_OK);
    return lane;
}

static hy_mark *new_mark(void)
{
    hy_mark *mark = NULL;
    assert_int_equal(host->ops->mark_new(host, &mark), HYBRID_OK);
    return mark;
}

static void finish(hy_lane *lane, hybrid_status expected)
{
    hy_mark *mark = new_mark();
    assert_int_equal(host->ops->mark_set(lane, mark), HYBRID_OK);
    assert_int_equal(host->ops->host_wait(mark), expected);
    host->ops->mark_free(mark);
}

/* ---- work for lanes ---- */

static void give(hy_lane *lane, hy_host_fn fn, int number)
{
    assert_int_equal(hy_host_enqueue(lane, fn, (void *)(intptr_t)number), HYBRID_OK);
}

/* ---- tests ---- */

/* Work for a lane: checks that a workspace (scratch memory of a lane) keeps its contents
   until it must grow, and that each kind of workspace has its own memory. */
static hybrid_status use_workspace(hy_lane *lane, void *arg)
{
    size_t fresh = 0;
    char *one = NULL, *two = NULL, *again = NULL, *grown = NULL;

    (void)arg;
    HY_TRY(hy_host_workspace(lane, HY_SCRATCH_HASH, 100, (void **)&one, &fresh));
    if (fresh < 100)
        return HYBRID_BAD_STATE;
    one[99] = 'x';
    HY_TRY(hy_host_workspace(lane, HY_SCRATCH_SORT, 100, (void **)&two, &fresh));
    if (fresh < 100 || two == one)
        return HYBRID_BAD_STATE;
    HY_TRY(hy_host_workspace(lane, HY_SCRATCH_HASH, 50, (void **)&again, &fresh));
    if (fresh != 0 || again != one || again[99] != 'x')
        return HYBRID_BAD_STATE;
    HY_TRY(hy_host_workspace(lane, HY_SCRATCH_HASH, 5000, (void **)&grown, &fresh));
    return fresh >= 5000 ? HYBRID_OK : HYBRID_BAD_STATE;
}

/* Fails if the workspace of this worker and lane has the mark of another worker, and
   marks it as this worker's. */
static hybrid_status mark_workspace(void *arg, int part, int64_t begin, int64_t end)
{
    hy_lane *lane = arg;
    int *mine     = NULL;
    size_t fresh;

    (void)part, (void)end;
    HY_TRY(
        hy_host_workspace(lane, HY_SCRATCH_MARKS, sizeof *mine, (void **)&mine, &fresh));
    const int worker = hy_pool_worker(ctx->pool);
    if (worker < 0 || (!fresh && *mine != worker))
        return hy_fail(ctx, HYBRID_BAD_STATE,
                       "piece %lld: worker %d has another's scratch", (long long)begin,
                       worker);
    *mine = worker;
    return HYBRID_OK;
}

static hybrid_status loop_workspace(hy_lane *lane, void *arg)
{
    (void)arg;
    return hy_pool_for(ctx->pool, HY_COMPUTE, 0, MANY, 1, mark_workspace, lane);
}

static void test_workspaces_of_workers(void **state)
{
    (void)state;
    open_host(2);
    assert_int_equal(hy_pool_worker(ctx->pool), -1);
    hy_lane *lanes[] = {new_lane(), new_lane()};
    for (int i = 0; i < 8; i++)
        give(lanes[i % 2], loop_workspace, 0);
    finish(lanes[0], HYBRID_OK);
    finish(lanes[1], HYBRID_OK);
    host->ops->lane_close(lanes[0]);
    host->ops->lane_close(lanes[1]);
    close_host();
}

static void test_workspace(void **state)
{
    (void)state;
    open_host(2);
    hy_lane *lane = new_lane();
    give(lane, use_workspace, 0);
    finish(lane, HYBRID_OK);
    host->ops->lane_close(lane);
    close_host();
}

/* ---- buffers ---- */

static void test_buffers(void **state)
{
    (void)state;
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hy_buffer a, b, none;
    options.device_bytes = 1000;
    ctx                  = test_context(1);
    assert_int_equal(hy_host_backend_ops.open(ctx, &options, &host), HYBRID_OK);
    assert_int_equal(host->ops->alloc(host, HY_DEVICE, 600, "a test", &a), HYBRID_OK);
    assert_int_equal((uintptr_t)a.ptr % 256, 0);
    assert_int_equal(host->ops->alloc(host, HY_DEVICE, 600, "a test", &b),
                     HYBRID_NO_DEVICE_MEMORY);
    assert_string_not_equal(ctx->message.text, "");
    assert_int_equal(host->ops->alloc(host, HY_PINNED, 6000, "a test", &b), HYBRID_OK);
    assert_int_equal(host->ops->alloc(host, HY_DEVICE, 0, "a test", &none), HYBRID_OK);
    assert_null(none.ptr);
    assert_int_equal(hy_meter_used(&host->device), 600);
    assert_int_equal(hy_meter_used(&host->pinned), 6000);
    host->ops->free(host, &a);
    assert_null(a.ptr);
    host->ops->free(host, &none);
    assert_int_equal(host->ops->alloc(host, HY_DEVICE, 1000, "a test", &a), HYBRID_OK);
    host->ops->free(host, &a);
    host->ops->free(host, &b);
    host->ops->trim(host, 0);
    assert_int_equal(hy_meter_used(&host->device), 0);
    assert_int_equal(hy_meter_used(&host->pinned), 0);
    close_host();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workspace),
        cmocka_unit_test(test_workspaces_of_workers),
        cmocka_unit_test(test_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
