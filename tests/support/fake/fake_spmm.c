/* tests/support/fake/fake_spmm.c - engines that compute SpMM on the fake device. */
#include "support/fake/fake_spmm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/fake/fake_backend.h"
#include "support/engines/places.h"

extern const hy_backend_ops hy_host_backend_ops;

static const hy_backend_ops *const fakes[]  = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                               NULL};
static const hy_backend_ops *const faults[] = {&hy_fault_backend_ops,
                                               &hy_host_backend_ops, NULL};
static const hy_variant *const table[]      = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                               &hy_spmm_fake_tiled, NULL};

static hybrid_status open_with(const hy_backend_ops *const *backends,
                               const hy_variant *const *variants, size_t device_bytes,
                               hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.device_bytes = device_bytes;
    options.threads      = 3;
    return fake_engine_open(&options, backends, variants, engine);
}

hybrid_status fake_open(const hy_variant *const *variants, size_t device_bytes,
                        hybrid_engine **engine)
{
    return open_with(fakes, variants, device_bytes, engine);
}

hybrid_status fake_spmm_open(size_t device_bytes, hybrid_engine **engine)
{
    return fake_open(table, device_bytes, engine);
}

hybrid_engine *fake_spmm(size_t device_bytes)
{
    hybrid_engine *engine;

    assert_int_equal(fake_spmm_open(device_bytes, &engine), HYBRID_OK);
    return engine;
}

hybrid_status fake_explained(const hybrid_engine *engine, hybrid_status status)
{
    assert_true(status == HYBRID_OK || strlen(hybrid_engine_message(engine)) > 10);
    return status;
}

int64_t fake_fail_each(const fake_failing *f, const fault_kind *fault)
{
    for (int64_t n = 1; n < f->most; n += 1 + n / f->part) {
        hybrid_engine *engine;
        assert_int_equal(open_with(faults, table, f->device_bytes, &engine), HYBRID_OK);
        fault->arm(engine, n);
        const hybrid_status status = f->run(engine, f->arg);
        const int struck           = fault_struck(fault, engine, status);
        hybrid_engine_destroy(engine);
        assert_int_equal(fake_alive(), 0);
        if (!struck)
            return n - 1;
    }
    fail_msg("calls fail without end");
    return 0;
}
