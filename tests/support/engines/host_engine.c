/* tests/support/engines/host_engine.c - one host engine for all tests of a program. */
#include "tests/support/engines/host_engine.h"

hybrid_engine *engine;

int open_engine(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    (void)state;
    options.backend = HYBRID_HOST;
    options.threads = 2;
    return hybrid_engine_create(&options, &engine) == HYBRID_OK ? 0 : -1;
}

int close_engine(void **state)
{
    (void)state;
    hybrid_engine_destroy(engine);
    return 0;
}
