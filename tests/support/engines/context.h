/* tests/support/engines/context.h - a context without an engine: a worker pool and a
   results allocator. */
#ifndef HY_TEST_CONTEXT_H
#define HY_TEST_CONTEXT_H

#include "base/contract/context.h"

/* Creates a context with `threads` workers; 0 means one per core. A failure fails the
   running test. */
hy_context *test_context(int threads);

/* Destroys the context. Fails the running test if working memory or results were not
   freed. */
void test_context_free(hy_context *ctx);

/* Returns the machine's topology (cores and memory nodes) as the context sees it. A test
   can create further worker pools from it. */
const struct hy_topology *test_topology(const hy_context *ctx);

#endif /* HY_TEST_CONTEXT_H */
