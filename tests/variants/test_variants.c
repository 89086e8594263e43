/* tests/variants/test_variants.c - every host variant on every test case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/products/bits.h"
#include "support/inputs/large.h"
#include "support/inputs/not_finite.h"
#include "support/engines/open_host.h"
#include "support/products/variants.h"

enum { ROOM = 64 };

static void every_host_variant_agrees_with_the_oracle(void **state)
{
    hybrid_engine *engine = open_host(3, 0);
    const char *names[ROOM];
    int64_t checked = 0;

    (void)state;
    assert_true(variants_of("host", names, ROOM) >= 4);
    assert_int_equal(variants_check(engine, names, &checked), 0);
    assert_true(checked > 500);
    hybrid_engine_destroy(engine);
}

static void
products_have_the_same_bits_for_every_chunking_and_number_of_threads(void **state)
{
    const char *names[ROOM];
    int64_t checked = 0;

    (void)state;
    variants_of("host", names, ROOM);
    const int fixed_order = variants_named(names, "spgemm.");
    for (int threads = 1; threads <= 3; threads++) {
        hybrid_engine *engine = open_host(threads, 0);
        assert_int_equal(bits_check(engine, names, &checked), 0);
        hybrid_engine_destroy(engine);
    }
    assert_int_equal(checked, 3 * fixed_order * BITS_PRODUCTS);
}

static void rows_of_any_length_are_right(void **state)
{
    hybrid_engine *engine = open_host(2, 0);
    const char *names[ROOM];
    int64_t checked = 0;

    (void)state;
    variants_of("host", names, ROOM);
    assert_int_equal(large_check_spgemm(engine, names, LARGE_LIKE, &checked), 0);
    assert_int_equal(checked, variants_named(names, "spgemm.") * LARGE_SPGEMM);
    hybrid_engine_destroy(engine);
}

static void infinities_show_where_they_are_asked_for(void **state)
{
    hybrid_engine *engine = open_host(3, 0);
    int64_t checked       = 0;

    (void)state;
    assert_int_equal(not_finite_check(engine, "spmm.host.rows", 0, &checked), 0);
    assert_int_equal(checked, NOT_FINITE_PRODUCTS);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_host_variant_agrees_with_the_oracle),
        cmocka_unit_test(
            products_have_the_same_bits_for_every_chunking_and_number_of_threads),
        cmocka_unit_test(rows_of_any_length_are_right),
        cmocka_unit_test(infinities_show_where_they_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
