/* tests/support/engines/group.h - one context per cmocka group or test. */
#ifndef GROUP_H
#define GROUP_H

#include "tests/support/engines/context.h"

extern hy_context *ctx;

/* Fixtures of a cmocka group or test that create and destroy `ctx`. open_context()
   creates three workers. close_context() fails if memory of the context was not freed. */
int open_context(void **state);
int open_one_worker(void **state);
int open_two_workers(void **state);
int open_four_workers(void **state);
int close_context(void **state);

#endif /* GROUP_H */
