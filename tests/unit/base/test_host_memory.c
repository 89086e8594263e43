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
#include "tests/support/engines/group.h"
#include "tests/support/subjects/host_lanes.h"

enum { MANY = 1000, ROUNDS = 200 };

/* ---- work for lanes ---- */

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
    open_host_lanes(2);
    assert_int_equal(hy_pool_worker(ctx->pool), -1);
    hy_lane *lanes[] = {new_lane(), new_lane()};
    for (int i = 0; i < 8; i++)
        give_work(lanes[i % 2], loop_workspace, 0);
    finish_lane(lanes[0], HYBRID_OK);
    finish_lane(lanes[1], HYBRID_OK);
    host->ops->lane_close(lanes[0]);
    host->ops->lane_close(lanes[1]);
    close_host_lanes();
}

static void test_workspace(void **state)
{
    (void)state;
    open_host_lanes(2);
    hy_lane *lane = new_lane();
    give_work(lane, use_workspace, 0);
    finish_lane(lane, HYBRID_OK);
    host->ops->lane_close(lane);
    close_host_lanes();
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
    close_host_lanes();
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
