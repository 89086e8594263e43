/* tests/test_panels.c - X on the device in panels of columns, and A for all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/plan.h"
#include "support/cases.h"
#include "support/fake_backend.h"
#include "support/oracle.h"
#include "support/panels.h"
#include "support/places.h"

extern const hy_backend_ops hy_host_backend_ops;

static const hy_backend_ops *const fakes[] = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                              NULL};
static const hy_variant *const table[] = {&hy_spmm_fake_rows, &hy_spmm_fake_tiled, NULL};

static hybrid_engine *open_fake(size_t device_bytes)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.device_bytes = device_bytes;
    options.threads      = 3;
    assert_int_equal(hy_engine_open(&options, fakes, table, &engine), HYBRID_OK);
    return engine;
}

static void every_case_is_right(void **state)
{
    static const char *const names[] = {"spmm.fake.rows", "spmm.fake.tiled", NULL};
    int64_t checked                  = 0;

    (void)state;
    fake_delays(1, 0);
    hybrid_engine *engine = open_fake(0);
    assert_int_equal(panels_check(engine, names, &checked), 0);
    assert_true(checked > 300);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
