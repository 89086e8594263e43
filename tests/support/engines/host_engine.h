/* tests/support/engines/host_engine.h - one host engine for all tests of a program. */
#ifndef HOST_ENGINE_H
#define HOST_ENGINE_H

#include "hybrid_spmm.h"

extern hybrid_engine *engine;

/* Set-up and tear-down functions of a cmocka group, which create and destroy the variable
   `engine`, an engine with two workers on the host. */
int open_engine(void **state);
int close_engine(void **state);

#endif /* HOST_ENGINE_H */
