/* tests/variants/test_host_sort.c - sorting by column is stable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/spgemm/spgemm_host.h"
#include "tests/support/inputs/builder.h"

static void test_sort(void **state)
{
    (void)state;
    enum { N = 5000 };
    static uint64_t keys[N], spare[N];
    static const int64_t lengths[] = {0, 1, 2, 24, 25, 300, N};
    for (int bits = 1; bits <= 31; bits += 5)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            const int64_t n = lengths[l];
            for (int64_t i = 0; i < n; i++)
                keys[i] = (test_hash(1, (uint64_t)i) & (((uint64_t)1 << bits) - 1))
                              << 32 |
                          (uint64_t)i;
            hy_sort_by_column(keys, spare, n, bits);
            for (int64_t i = 1; i < n; i++)
                /* pairs must ascend by column, and equal columns by original position */
                assert_true(keys[i - 1] < keys[i]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
