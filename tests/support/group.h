/* tests/support/group.h - one context for all tests of a program. */
#ifndef GROUP_H
#define GROUP_H

#include "tests/support/context.h"

extern hy_context *ctx;

/* Fixtures of a cmocka group: ctx with three workers; nothing of it may be left. */
int open_context(void **state);
int close_context(void **state);

#endif /* GROUP_H */
