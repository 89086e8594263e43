/* tests/support/engines/group.h - one context per cmocka group or test. */
#ifndef GROUP_H
#define GROUP_H

#include "tests/support/engines/context.h"

extern hy_context *ctx;

/* Set-up and tear-down functions of a cmocka group or test, which create and destroy the
   context `ctx`. open_context() gives it three workers. close_context() fails the test if
   memory of the context was not freed. */
int open_context(void **state);
int open_one_worker(void **state);
int open_two_workers(void **state);
int open_four_workers(void **state);
int close_context(void **state);

#endif /* GROUP_H */
