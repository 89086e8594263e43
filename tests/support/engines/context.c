/* tests/support/engines/context.c - a context without an engine: a worker pool and a
   results allocator. */
#include "tests/support/engines/context.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/threads/pool.h"
#include "base/memory/results.h"
#include "base/threads/topology.h"

typedef struct fixture {
    hy_context ctx; /* the first member, so that &ctx is also the fixture */
    hy_topology *topology;
} fixture;

hy_context *test_context(int threads)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    hy_message_init(&f->ctx.message);
    pthread_mutex_init(&f->ctx.tenants_lock, NULL);
    pthread_mutex_init(&f->ctx.relief_lock, NULL);
    assert_int_equal(hy_topology_open(&f->ctx, &f->topology), HYBRID_OK);
    assert_int_equal(hy_pool_create(&f->ctx, f->topology, threads, 0, &f->ctx.pool),
                     HYBRID_OK);
    assert_int_equal(hy_results_create(&f->ctx, &f->ctx.results), HYBRID_OK);
    return &f->ctx;
}

void test_context_free(hy_context *ctx)
{
    fixture *f = (fixture *)ctx;

    hy_results_destroy(ctx, ctx->results);
    hy_pool_destroy(ctx, ctx->pool);
    hy_topology_close(ctx, f->topology);
    assert_int_equal(hy_meter_used(&ctx->memory.meter), 0);
    hy_message_destroy(&ctx->message);
    pthread_mutex_destroy(&ctx->tenants_lock);
    pthread_mutex_destroy(&ctx->relief_lock);
    free(f);
}

const struct hy_topology *test_topology(const hy_context *ctx)
{
    return ((const fixture *)ctx)->topology;
}
