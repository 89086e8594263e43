/* tests/support/group.c - one context for all tests of a program. */
#include "tests/support/group.h"

hy_context *ctx;

int open_context(void **state)
{
    (void)state;
    ctx = test_context(3);
    return 0;
}

int close_context(void **state)
{
    (void)state;
    test_context_free(ctx);
    return 0;
}
