/* tests/run/ring/test_entry_ring_faults.c - plans for a ring of entries that do not
   match their operands, and failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "engine/schedules/schedule.h"
#include "support/check/oracle.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/fake/settings.h"
#include "support/inputs/builder.h"
#include "support/device/on_device.h"
#include "support/subjects/ring_products.h"

/* ---- operands that were not planned ---- */

/* The plan has B in a ring. A run with another pattern, whose chunks need rows of B that
   are not in the ring, fails instead of reading other entries. A run with longer rows of
   B, which would wait for ever, fails too. */
static void other_patterns_are_refused(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine;
    hybrid_plan *plan;
    hybrid_csr C;
    ring_product p;

    (void)state;
    ring_open(3, 0, &p);
    assert_int_equal(fake_open(ring_variants, (size_t)44 << 10, &engine), HYBRID_OK);
    settings_of(engine)->schedule = &hy_schedule_entry_ring;
    options.split                 = HYBRID_SPLIT_GPU;
    assert_int_equal(hybrid_spgemm_plan(engine, &p.A, &p.B, &options, &plan), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_run(plan, &p.A, &p.B, &C), HYBRID_OK);
    hybrid_csr_free(engine, &C);

    int32_t *last     = hy_cols(&p.A) + hy_offset(&p.A, 20) - 1;
    const int32_t was = *last;
    *last             = RING_ROWS - 1;
    assert_int_equal(hybrid_spgemm_run(plan, &p.A, &p.B, &C), HYBRID_BAD_STATE);
    assert_non_null(strstr(hybrid_engine_message(engine), "make a new plan"));
    *last = was;

    int64_t *row_ptr = p.B.row_ptr;
    for (int64_t i = 1; i < RING_ROWS; i++)
        row_ptr[i] = p.B.nnz; /* row 0 of B has all entries */
    assert_int_equal(hybrid_spgemm_run(plan, &p.A, &p.B, &C), HYBRID_BAD_STATE);
    assert_non_null(strstr(hybrid_engine_message(engine), "make a new plan"));
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    ring_close(&p);
}

static void a_on_the_device_is_refused(void **state)
{
    hybrid_engine *engine;
    hybrid_plan *plan;
    ring_product p;

    (void)state;
    ring_open(3, 0, &p);
    assert_int_equal(fake_open(ring_variants, 0, &engine), HYBRID_OK);
    settings_of(engine)->schedule = &hy_schedule_entry_ring;
    hybrid_csr a                  = on_device_csr(0, &p.A, 0);
    assert_int_equal(hybrid_spgemm_plan(engine, &a, &p.B, NULL, &plan),
                     HYBRID_UNSUPPORTED);
    assert_non_null(strstr(hybrid_engine_message(engine), "workers cannot read"));
    on_device_csr_free(&a);
    hybrid_engine_destroy(engine);
    ring_close(&p);
}

/* ---- failures ---- */

static hybrid_status multiply_once(hybrid_engine *engine, void *arg)
{
    int64_t held = 0;

    settings_of(engine)->schedule = &hy_schedule_entry_ring;
    return ring_multiply(engine, arg, 0, 1, &held);
}

static hybrid_status explained(hybrid_engine *engine, void *arg)
{
    return fake_explained(engine, multiply_once(engine, arg));
}

static void every_call_fails_once(void **state)
{
    ring_product p;

    (void)state;
    ring_open(3, 0, &p);
    const fake_failing f = {explained, &p, (size_t)44 << 10, 20000, 8};
    fake_delays(1, 0);
    assert_true(fake_fail_each(&f, &fault_allocation) > 5);
    assert_true(fake_fail_each(&f, &fault_device) > 50);
    ring_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_patterns_are_refused),
        cmocka_unit_test(a_on_the_device_is_refused),
        cmocka_unit_test(every_call_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
