/* tests/support/subjects/host_lanes.c - lanes of the host. */
#include "tests/support/subjects/host_lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/engines/context.h"
#include "tests/support/engines/group.h"

hy_backend *host;

void open_host_lanes(int threads)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    ctx = test_context(threads);
    assert_int_equal(hy_host_backend_ops.open(ctx, &options, &host), HYBRID_OK);
}

void close_host_lanes(void)
{
    host->ops->close(host);
    test_context_free(ctx);
}

hy_lane *new_lane(void)
{
    hy_lane *lane = NULL;
    assert_int_equal(host->ops->lane_open(host, "lane", 0, &lane), HYBRID_OK);
    return lane;
}

hy_mark *new_mark(void)
{
    hy_mark *mark = NULL;
    assert_int_equal(host->ops->mark_new(host, &mark), HYBRID_OK);
    return mark;
}

void finish_lane(hy_lane *lane, hybrid_status expected)
{
    hy_mark *mark = new_mark();
    assert_int_equal(host->ops->mark_set(lane, mark), HYBRID_OK);
    assert_int_equal(host->ops->host_wait(mark), expected);
    host->ops->mark_free(mark);
}

void give_work(hy_lane *lane, hy_host_fn fn, int number)
{
    assert_int_equal(hy_host_enqueue(lane, fn, (void *)(intptr_t)number), HYBRID_OK);
}
