/* tests/run/device/test_prefetch_limits.c - prefetching B with small budgets and failing
   calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "support/inputs/cases.h"
#include "support/runs/prefetches.h"
#include "support/fake/fake_backend.h"

enum { MOST = 5000 };

/* ---- budgets ---- */

typedef struct tally {
    int taken, ended, not_begun, on_host, refused;
} tally;

/* With `budget` bytes of device memory, plans made with and without prefetching must be
   equal, and the memory must not be exceeded. Counts the outcome in *t. */
static void check_budget(prefetch_world *w, size_t budget, tally *t)
{
    prefetch_open(w, prefetch_staying, budget);
    hy_backend *device        = w->engine->device;
    hybrid_plan *plan         = prefetch_plan(w, NULL);
    const prefetch_shape want = prefetch_shape_of(plan);
    hybrid_plan_destroy(plan);

    hy_loader *loader        = prefetch_begin(w);
    plan                     = prefetch_plan(w, loader);
    const prefetch_shape got = prefetch_shape_of(plan);
    const int on_device      = plan && plan->portions->site->backend == device;
    const int taken = on_device && loader && plan->portions->site->loader == loader;
    const hybrid_status status = plan ? HYBRID_OK : HYBRID_NO_DEVICE_MEMORY;
    assert_memory_equal(&got, &want, sizeof got);
    assert_int_equal(taken, loader && on_device && got.shared > 0);
    t->taken += taken;
    t->ended += loader && !taken;
    t->not_begun += !loader;
    t->on_host += plan && !on_device;
    t->refused += !plan;
    hybrid_plan_destroy(plan);

    assert_int_equal(prefetch_multiply(w, 0), status);
    assert_in_range(hy_meter_peak(&device->device), on_device, budget);
    if (on_device)
        assert_in_range(prefetch_report(w).peak_device_bytes, 1, budget);
    prefetch_close(w);
}

/* Products keep to the budget of the device or are refused, at budgets from 2 KiB to 1
   MiB. Rows of A are short, or so long that chunks do not fit beside B although B itself
   fits. */
static void every_budget_is_kept(void **state)
{
    static const double per_row[] = {5, 120};
    tally t                       = {0, 0, 0, 0, 0};
    prefetch_world w;
    const size_t step = (size_t)case_step(2);

    (void)state;
    fake_delays(4, 0);
    for (int i = 0; i < 2; i++) {
        prefetch_operands(&w, per_row[i]);
        for (size_t budget = 2048; budget < (size_t)1 << 20;
             budget += step * (budget / 16))
            check_budget(&w, budget, &t);
        prefetch_operands_free(&w);
    }
    printf("budgets: %d taken over, %d ended, %d not begun, %d on the host, %d refused\n",
           t.taken, t.ended, t.not_begun, t.on_host, t.refused);
    assert_true(t.taken > 20 && t.ended > 2 && t.not_begun > 20 && t.on_host > 5);
}

/* If the device's memory is taken, B is not prefetched, without an error. Planning
   succeeds or returns an error with a message. */
static void plans_that_hold_the_device_are_no_error(void **state)
{
    hy_buffer rest;
    prefetch_world w;

    (void)state;
    prefetch_operands(&w, 5);
    prefetch_open(&w, prefetch_late, 1 << 20);
    hy_backend *device = w.engine->device;
    assert_int_equal(
        device->ops->alloc(device, HY_DEVICE, (1 << 20) - 4096, "a test", &rest),
        HYBRID_OK);
    assert_null(prefetch_begin(&w));
    assert_string_equal(hybrid_engine_message(w.engine), "");
    assert_int_equal(prefetch_multiply(&w, 0), HYBRID_NO_DEVICE_MEMORY);
    device->ops->free(device, &rest);
    assert_int_equal(prefetch_multiply(&w, 0), HYBRID_OK);
    prefetch_close(&w);
    prefetch_operands_free(&w);
}

/* ---- failures ---- */

static void each_call_fails_with(const hy_variant *const *variants, int squared,
                                 int least)
{
    int64_t n;
    prefetch_world w;

    prefetch_operands(&w, 5);
    prefetch_open(&w, variants, 0);
    assert_int_equal(prefetch_multiply(&w, squared), HYBRID_OK);
    hybrid_engine_trim(w.engine);
    for (n = 1; n < MOST; n++) {
        fault_arm(n);
        const hybrid_status status = prefetch_multiply(&w, squared);
        const int none             = fault_is_armed();
        fault_arm(0);
        assert_int_equal(status, none ? HYBRID_OK : HYBRID_DEVICE_FAILED);
        assert_true(none || strstr(hybrid_engine_message(w.engine), "failed"));
        hybrid_engine_trim(w.engine);
        assert_int_equal(fake_alive(), 1);
        if (none)
            break;
        assert_int_equal(prefetch_multiply(&w, squared), HYBRID_OK);
    }
    assert_in_range(n, least, MOST - 1);
    prefetch_close(&w);
    prefetch_operands_free(&w);
}

/* Each call of the device fails once, while B is prefetched or in the run. The message
   of a failed prefetch must survive planning, which clears the messages of its own
   attempts. */
static void each_call_of_the_backend_fails(void **state)
{
    (void)state;
    fake_delays(5, 0);
    each_call_fails_with(prefetch_staying, 0, 40);
    each_call_fails_with(prefetch_staying, 1, 40); /* 1: the product is A*A, for which
                                                      the device counts scalar
                                                      products */
    each_call_fails_with(prefetch_late, 0, 40);
    each_call_fails_with(prefetch_carrying, 0, 10);
    each_call_fails_with(prefetch_on_host, 0, 3);
}

static void each_allocation_fails(void **state)
{
    int64_t n, failed = 0;
    prefetch_world w;

    (void)state;
    fake_delays(6, 0);
    prefetch_operands(&w, 5);
    prefetch_open(&w, prefetch_staying, 0);
    assert_int_equal(prefetch_multiply(&w, 0), HYBRID_OK);
    int64_t *left = &w.engine->ctx.memory.failures;
    for (n = 1, *left = n; n < MOST; *left = ++n) {
        const hybrid_status status = prefetch_multiply(&w, 0);
        if (*left > 0) {
            assert_int_equal(status, HYBRID_OK);
            break;
        }
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY ||
                    status == HYBRID_NO_DEVICE_MEMORY);
        failed += status != HYBRID_OK;
    }
    *left = 0;
    assert_in_range(failed, 8, n);
    assert_true(n - 1 - failed >= 3); /* at least three failures met prefetching, which
                                         is then skipped without an error */
    prefetch_close(&w);
    prefetch_operands_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_budget_is_kept),
        cmocka_unit_test(plans_that_hold_the_device_are_no_error),
        cmocka_unit_test(each_call_of_the_backend_fails),
        cmocka_unit_test(each_allocation_fails),
    };
    return cmocka_run_group_tests_name("prefetch_limits", tests, NULL, NULL);
}
