/* tests/support/engines/weighed.c - engines for which a fake device competes with the
   host. */
#include "support/engines/weighed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/fake/settings.h"

extern const hy_variant hy_spmm_host_rows;

static void (*host_rates)(const hy_backend *self, hy_rates *out);

static void rates_of_one_host(const hy_backend *self, hy_rates *out)
{
    host_rates(self, out);
    out->core_cache = 1 << 20;
    out->cache      = 32 << 20;
}

void weighed_settle(hy_backend *host)
{
    static hy_backend_ops ops;

    host_rates = host->ops->rates == rates_of_one_host ? host_rates : host->ops->rates;
    ops        = *host->ops;
    ops.rates  = rates_of_one_host;
    host->ops  = &ops;

    host->measured.mem_Bps  = 3e10;
    host->measured.launch_s = 1e-9; /* seconds a kernel launch; too little to matter */
    host->measured.flops    = 2e10; /* flops per second; low enough that a device is
                                       faster if all of X fits into its memory */
}

hybrid_engine *weighed_open(size_t device_bytes)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, &hy_spmm_host_rows,
                                              NULL};
    hybrid_engine *engine;

    fake_delays(1, 0);
    assert_int_equal(fake_open(table, device_bytes, &engine), HYBRID_OK);
    weighed_settle(engine->host);
    engine->device->measured.launch_s      = 1e-9;
    settings_of(engine)->hypersparse_bytes = 1;
    settings_of(engine)->device_first      = 0;
    return engine;
}
