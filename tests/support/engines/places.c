/* tests/support/engines/places.c - engines on the host or on a fake device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/api/engine.h"
#include "support/fake/fake_backend.h"
#include "support/engines/places.h"
#include "support/products/usage.h"

extern const hy_backend_ops hy_host_backend_ops;

static const hy_backend_ops *const fakes[] = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                              NULL};
static const hy_variant *const resident[]  = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                              NULL};
static const hy_variant *const carrying[]  = {&hy_spgemm_fake_dup, NULL};

hybrid_engine *place_open(place where, size_t device_bytes)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads      = 2;
    options.device_bytes = device_bytes;
    options.backend      = where == ON_HOST ? HYBRID_HOST : HYBRID_AUTO;
    fake_delays(5, 100);
    assert_int_equal(where == ON_HOST
                         ? hybrid_engine_create(&options, &engine)
                         : fake_engine_open(&options, fakes,
                                            where == CARRIED ? carrying : resident,
                                            &engine),
                     HYBRID_OK);
    return engine;
}

hybrid_report report_of(const hybrid_plan *plan)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    if (report.total_s > 0)
        assert_null(usage_check(&report));
    return report;
}
