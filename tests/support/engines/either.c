/* tests/support/engines/either.c - engines that compute on the host or on a fake
   device. */
#include "support/engines/either.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/fake/fake_backend.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows, hy_spmm_host_rows;

static const hy_backend_ops *const fakes[] = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                              NULL};
const hy_variant *const either_variants[]  = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                              &hy_spgemm_host_rows, &hy_spmm_host_rows,
                                              NULL};

hybrid_engine *either_open(int on_host, size_t device_bytes)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads      = 2;
    options.device_bytes = device_bytes;
    options.backend      = on_host ? HYBRID_HOST : HYBRID_AUTO;
    fake_delays(1, 0);
    assert_int_equal(on_host
                         ? hybrid_engine_create(&options, &engine)
                         : fake_engine_open(&options, fakes, either_variants, &engine),
                     HYBRID_OK);
    return engine;
}
