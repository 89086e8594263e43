/* tests/unit/base/test_background.c - a thread beside the call, and its error sentences.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/threads/background.h"
#include "base/threads/pool.h"
#include "tests/support/engines/context.h"

static hy_context *ctx;

static hybrid_status complain(void *arg, int part, int64_t begin, int64_t end)
{
    (void)arg, (void)part, (void)begin, (void)end;
    return hy_fail(ctx, HYBRID_IO_FAILED, "byte 7 cannot be read");
}

/* Begins a loop and waits for its end. Workers draw all of its pieces, because the
   calling thread is no worker. Then sets *over to 1. */
static hybrid_status let_workers_complain(void *over)
{
    hy_loop loop;

    hy_pool_begin(&loop, ctx->pool, HY_PACK, 0, 3, 1, complain, NULL);
    const hybrid_status status = hy_pool_end(&loop);
    __atomic_store_n((int *)over, 1, __ATOMIC_RELEASE);
    return status;
}

/* Planning clears the context's message when it tries another way. A worker that helps a
   thread in the background must not store its sentence there. */
static void sentences_of_helpers_outlast_planning(void **state)
{
    hy_background reader;
    int over = 0;

    (void)state;
    ctx = test_context(2);
    hy_background_open(ctx, &reader);
    hy_background_start(&reader, let_workers_complain, &over);
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
        sched_yield();
    hy_message_clear(&ctx->message);
    assert_int_equal(hy_background_wait(&reader), HYBRID_IO_FAILED);
    assert_string_equal(ctx->message.text, "byte 7 cannot be read");
    hy_background_close(&reader);

    /* a worker's later sentences are those of its own work */
    hy_message_clear(&ctx->message);
    assert_int_equal(let_workers_complain(&over), HYBRID_IO_FAILED);
    assert_string_equal(ctx->message.text, "byte 7 cannot be read");
    test_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_of_helpers_outlast_planning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
