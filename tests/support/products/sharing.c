/* tests/support/products/sharing.c - a fake device and the host that share a product. */
#include "support/products/sharing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/api/engine.h"
#include "support/fake/fake_backend.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows, hy_spmm_host_rows;

static const hy_backend_ops *const places[] = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                               NULL};
static const hy_variant *const resident[]   = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                               &hy_spgemm_host_rows, &hy_spmm_host_rows,
                                               NULL};
static const hy_variant *const carried[]    = {&hy_spgemm_fake_dup, &hy_spmm_fake_tiled,
                                               &hy_spgemm_host_rows, &hy_spmm_host_rows,
                                               NULL};

hybrid_engine *sharing_open(sharing_how how, size_t device_bytes, size_t host_bytes)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads      = 3;
    options.device_bytes = device_bytes;
    options.host_bytes   = host_bytes;
    assert_int_equal(fake_engine_open(&options, places,
                                      how == CARRIED_B ? carried : resident, &engine),
                     HYBRID_OK);
    return engine;
}

hybrid_plan_options shared_by(double share)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    options.split      = HYBRID_SPLIT_SHARE;
    options.host_share = share;
    return options;
}
