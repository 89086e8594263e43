/* tests/support/engines/context.h - a context with workers and results, without an
   engine. */
#ifndef HY_TEST_CONTEXT_H
#define HY_TEST_CONTEXT_H

#include "base/contract/context.h"

/* threads = 0: one a core. Fails the running test if it cannot be built. */
hy_context *test_context(int threads);

/* Fails the running test if working memory or results were not given back. */
void test_context_free(hy_context *ctx);

/* The context's topology, for pools beside its own. */
const struct hy_topology *test_topology(const hy_context *ctx);

#endif /* HY_TEST_CONTEXT_H */
