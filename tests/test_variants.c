/* tests/test_variants.c - every variant of the host times every case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/variants.h"

enum { ROOM = 64 };

static void every_host_variant_agrees_with_the_oracle(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;
    const char *names[ROOM];
    int64_t checked = 0;

    (void)state;
    options.backend = HYBRID_HOST;
    options.threads = 3;
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    assert_true(variants_of("host", names, ROOM) >= 4);
    assert_int_equal(variants_check(engine, names, &checked), 0);
    assert_true(checked > 500);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_host_variant_agrees_with_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
