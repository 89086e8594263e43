/* tests/unit/partition/test_synergy.c - the equations of cuTeSpMM's model, with the
   paper's numbers and with counts by hand.

   alpha is the mean density of the columns of A's bricks (tiles of 16 x 4); beta the
   mean number of bricks that use a loaded element of X; N the number of columns of X. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <math.h>

#include <cmocka.h>

#include "partition/pattern/synergy.h"

enum { TRANSACTION = 128 }; /* bytes of a memory transaction, the paper's unit */

static void near_to(double found, double expected)
{
    assert_true(fabs(found - expected) <= 1e-12 * expected);
}

/* Returns a product in f32 with N = 128 and one warp for each 32 columns of X. */
static hy_synergy product(double alpha)
{
    return (hy_synergy){.nnz         = 1e6,
                        .alpha       = alpha,
                        .beta        = 1,
                        .columns     = 128,
                        .warps       = 4,
                        .value       = 4,
                        .block_bytes = 100};
}

/* Eq. 3: X takes N nnz / (512 alpha) transactions of 128 bytes. */
static void x_is_as_in_eq_3(void **state)
{
    (void)state;
    for (double alpha = 1.0 / 16; alpha <= 1; alpha *= 2) {
        const hy_synergy s = product(alpha);
        near_to(hy_synergy_x_bytes(&s) / TRANSACTION, 128 * 1e6 / (512 * alpha));
    }
}

/* Eq. 5: row panels of beta times as many rows load X beta times less often. */
static void beta_divides_x(void **state)
{
    hy_synergy s       = product(0.25);
    const double bytes = hy_synergy_x_bytes(&s);

    (void)state;
    s.beta = 2;
    near_to(hy_synergy_x_bytes(&s), bytes / 2);
}

/* Eq. 4: if A costs as many bytes as X, 512 alpha operations are done for each
   transaction. */
static void equal_shares_give_the_papers_intensity(void **state)
{
    (void)state;
    for (double alpha = 1.0 / 16; alpha <= 1; alpha *= 2) {
        hy_synergy s      = product(alpha);
        const double each = hy_synergy_x_bytes(&s) / s.warps / hy_synergy_blocks(&s);
        s.block_bytes     = each - s.nnz * s.value / hy_synergy_blocks(&s);
        near_to(hy_synergy_a_bytes(&s), hy_synergy_x_bytes(&s));
        near_to(hy_synergy_intensity(&s) * TRANSACTION, 512 * alpha);
    }
}

/* Eq. 1: two blocks of 64 entries, which two warps load, take 2 * 2 * (100 + 64 * 4)
   bytes. X has 32 rows of 16 values: 32 * 16 * 4 bytes. Each entry takes 2 * 16
   operations. */
static void bytes_of_two_blocks(void **state)
{
    const hy_synergy s = {.nnz         = 128,
                          .alpha       = 0.25,
                          .beta        = 1,
                          .columns     = 16,
                          .warps       = 2,
                          .value       = 4,
                          .block_bytes = 100};

    (void)state;
    near_to(hy_synergy_blocks(&s), 2);
    near_to(hy_synergy_a_bytes(&s), 1424);
    near_to(hy_synergy_x_bytes(&s), 2048);
    near_to(hy_synergy_intensity(&s), 4096.0 / 3472);
}

/* f64 halves the operations for each byte of X. The intensity falls, but not below half,
   because the bytes of A do not double. */
static void larger_values_lower_the_intensity(void **state)
{
    hy_synergy s        = product(0.5);
    const double single = hy_synergy_intensity(&s);

    (void)state;
    s.value = 8;
    assert_true(hy_synergy_intensity(&s) < single);
    assert_true(hy_synergy_intensity(&s) > single / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x_is_as_in_eq_3),
        cmocka_unit_test(beta_divides_x),
        cmocka_unit_test(equal_shares_give_the_papers_intensity),
        cmocka_unit_test(bytes_of_two_blocks),
        cmocka_unit_test(larger_values_lower_the_intensity),
    };
    return cmocka_run_group_tests_name("synergy", tests, NULL, NULL);
}
