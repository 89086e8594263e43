/* tests/support/check/expect.c - checks for programs without a test framework. */
#include "support/check/expect.h"

#include <stdio.h>

static int failed;

void expect(int truth, const char *what)
{
    if (!truth)
        fprintf(stderr, "wrong: %s\n", what);
    failed += !truth;
}

int expect_failed(void)
{
    return failed;
}
