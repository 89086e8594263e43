/* tests/support/engines/group.h - one context for all tests of a program, or for each. */
#ifndef GROUP_H
#define GROUP_H

#include "tests/support/engines/context.h"

extern hy_context *ctx;

/* Fixtures of a cmocka group or test: ctx, with three workers where none are named;
   nothing of it may be left. */
int open_context(void **state);
int open_one_worker(void **state);
int open_two_workers(void **state);
int open_four_workers(void **state);
int close_context(void **state);

#endif /* GROUP_H */
