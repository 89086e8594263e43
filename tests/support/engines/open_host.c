#include "support/engines/open_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

hybrid_engine *open_host(int threads, size_t host_bytes)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.backend    = HYBRID_HOST;
    options.threads    = threads;
    options.host_bytes = host_bytes;
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    return engine;
}
