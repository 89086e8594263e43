/* tests/support/engines/group.c - one context per cmocka group or test. */
#include "tests/support/engines/group.h"

hy_context *ctx;

static int open_with(int threads)
{
    ctx = test_context(threads);
    return 0;
}

int open_context(void **state)
{
    (void)state;
    return open_with(3);
}

int open_one_worker(void **state)
{
    (void)state;
    return open_with(1);
}

int open_two_workers(void **state)
{
    (void)state;
    return open_with(2);
}

int open_four_workers(void **state)
{
    (void)state;
    return open_with(4);
}

int close_context(void **state)
{
    (void)state;
    test_context_free(ctx);
    return 0;
}
