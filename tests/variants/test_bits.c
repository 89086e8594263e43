/* tests/variants/test_bits.c - SpMM under HYBRID_DETERMINISTIC on a fake device.

   All runs of a plan must have the same bits, and the check of this must notice a
   difference of one bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/products/bits.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"

static void all_runs_of_a_plan_have_the_same_bits(void **state)
{
    static const char *const names[] = {"spmm.fake.rows", "spmm.fake.tiled", NULL};
    hybrid_engine *engine            = fake_spmm(0);
    int64_t checked                  = 0;

    (void)state;
    fake_delays(1, 0);
    assert_int_equal(bits_check_spmm(engine, names, &checked), 0);
    assert_int_equal(checked, 2 * BITS_RUNS);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

/* ---- a variant without a fixed order ---- */

static int64_t products; /* number of chunks that disturb() has seen */

/* Work of a variant that is not deterministic: changes the last bit of the first number
   of every 20th chunk. */
static hybrid_status disturb(hy_lane *lane, void *arg)
{
    const hy_job *job = arg;

    (void)lane;
    if (++products % 20 == 0 && job->out.val)
        *(unsigned char *)job->out.val ^= 1;
    return HYBRID_OK;
}

static hybrid_status unsteady_multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_spmm_fake_rows.multiply(lane, job));
    return hy_fake_enqueue(lane, disturb, job);
}

static void one_bit_is_seen(void **state)
{
    static hy_variant unsteady;
    static const hy_variant *const table[] = {&unsteady, NULL};
    static const char *const names[]       = {"spmm.fake.unsteady", NULL};
    hybrid_engine *engine;
    int64_t checked = 0;

    (void)state;
    unsteady          = hy_spmm_fake_rows;
    unsteady.name     = names[0];
    unsteady.multiply = unsteady_multiply;
    assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
    assert_true(bits_check_spmm(engine, names, &checked) > 20);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_runs_of_a_plan_have_the_same_bits),
        cmocka_unit_test(one_bit_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
