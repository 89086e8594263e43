/* tests/support/engines/host_engine.h - one host engine for all tests of a program. */
#ifndef HOST_ENGINE_H
#define HOST_ENGINE_H

#include "hybrid_spmm.h"

extern hybrid_engine *engine;

/* Fixtures of a cmocka group that create and destroy `engine`, which has two workers. */
int open_engine(void **state);
int close_engine(void **state);

#endif /* HOST_ENGINE_H */
