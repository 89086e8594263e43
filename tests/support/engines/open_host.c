#include "support/engines/open_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/fake/fake_backend.h"

enum { DEVICE_BYTES = 16 << 20 };

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows;

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

hybrid_engine *capped_host(int64_t cap)
{
    return open_host(2, (size_t)cap);
}

hybrid_engine *capped_device(int64_t cap)
{
    static const hy_backend_ops *const backends[] = {&hy_fake_backend_ops,
                                                     &hy_host_backend_ops, NULL};
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, &hy_spgemm_fake_esc,
                                              &hy_spgemm_host_rows, NULL};
    hybrid_engine_options options          = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads      = 2;
    options.host_bytes   = (size_t)cap;
    options.device_bytes = DEVICE_BYTES;
    assert_int_equal(fake_engine_open(&options, backends, table, &engine), HYBRID_OK);
    return engine;
}
