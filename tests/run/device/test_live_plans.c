/* tests/run/device/test_live_plans.c - several live plans share the memory of one
   device.

   An idle plan, which does not run at the moment, gives up buffers that its next run can
   fill again. Packs of A that are cached for later runs stay. Messages name the plan
   that holds the memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/plan/plan.h"
#include "support/inputs/cases.h"
#include "support/engines/either.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/engines/places.h"

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

enum { ROWS = 1500, EACH = 12, COLUMNS = 4, CAP = 1 << 20, SMALL = 3 };

typedef struct world {
    hybrid_engine *engine;
    int on_device;
    hybrid_csr A, small;
    hybrid_dense X, Y, before;
    oracle square, small_square;
} world;

static void open_world(world *w, int on_device)
{
    *w = (world){.engine = either_open(!on_device, CAP), .on_device = on_device};
    matrix_random(ROWS, ROWS, EACH, 3, kind, &w->A);
    matrix_random(SMALL, SMALL, 2, 4, kind, &w->small);
    oracle_spgemm(&w->A, &w->A, &w->square);
    oracle_spgemm(&w->small, &w->small, &w->small_square);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, kind, &w->X);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, kind, &w->Y);
    dense_copy(&w->Y, &w->before);
}

static void close_world(world *w)
{
    hybrid_engine_destroy(w->engine);
    oracle_free(&w->square);
    oracle_free(&w->small_square);
    matrix_free(&w->A);
    matrix_free(&w->small);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->before);
    assert_int_equal(fake_alive(), 0);
}

/* ---- device memory ---- */

static hy_meter *meter_of(const world *w)
{
    return w->on_device ? &w->engine->device->device : &w->engine->host->device;
}

static int64_t used(const world *w)
{
    return hy_meter_used(meter_of(w));
}

static void expect_cap_was_kept(const world *w)
{
    assert_true(hy_meter_peak(meter_of(w)) <= CAP);
}

/* ---- products ---- */

static hybrid_plan_options options_of(const world *w, const char *variant, unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    options.flags   = flags;
    options.split   = w->on_device ? HYBRID_SPLIT_GPU : HYBRID_SPLIT_DEFAULT;
    options.variant = w->on_device ? variant : NULL;
    return options;
}

static hybrid_plan *plan_square(const world *w, const hybrid_csr *A)
{
    const hybrid_plan_options options = options_of(w, "spgemm.fake.esc", 0);
    hybrid_plan *plan;

    assert_int_equal(hybrid_spgemm_plan(w->engine, A, A, &options, &plan), HYBRID_OK);
    return plan;
}

static hybrid_plan *plan_dense(const world *w, unsigned flags)
{
    const hybrid_plan_options options = options_of(w, "spmm.fake.rows", flags);
    hybrid_plan *plan;

    assert_int_equal(hybrid_spmm_plan(w->engine, &w->A, COLUMNS, &options, &plan),
                     HYBRID_OK);
    return plan;
}

static void run_square(const world *w, hybrid_plan *plan, const hybrid_csr *A,
                       const oracle *right)
{
    hybrid_csr C;

    assert_int_equal(hybrid_spgemm_run(plan, A, A, &C), HYBRID_OK);
    assert_null(oracle_check(right, &C, 1));
    hybrid_csr_free(w->engine, &C);
    expect_cap_was_kept(w);
}

static void run_dense(world *w, hybrid_plan *plan)
{
    assert_int_equal(hybrid_spmm_run(plan, 1, &w->A, &w->X, 0, &w->Y), HYBRID_OK);
    assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->before, &w->Y, 1));
    expect_cap_was_kept(w);
}

static void multiply_small(const world *w)
{
    const hybrid_plan_options options = options_of(w, "spgemm.fake.esc", 0);
    hybrid_csr C;

    assert_int_equal(hybrid_spgemm_with(w->engine, &options, &w->small, &w->small, &C),
                     HYBRID_OK);
    assert_null(oracle_check(&w->small_square, &C, 1));
    hybrid_csr_free(w->engine, &C);
    expect_cap_was_kept(w);
}

/* ---- tests ---- */

static void a_plan_that_fills_the_device_lets_others_run(void **state)
{
    world w;

    (void)state;
    for (int on_device = 0; on_device < 2; on_device++) {
        open_world(&w, on_device);
        hybrid_plan *first = plan_square(&w, &w.A);
        assert_true(used(&w) > CAP / 2);
        multiply_small(&w);
        hybrid_plan *second = plan_square(&w, &w.A);
        assert_true(used(&w) > CAP / 2);
        hybrid_plan *third = plan_square(&w, &w.small);
        hybrid_plan *dense = plan_dense(&w, 0);
        for (int i = 0; i < 3; i++) {
            run_square(&w, first, &w.A, &w.square);
            run_square(&w, second, &w.A, &w.square);
            run_square(&w, third, &w.small, &w.small_square);
            run_dense(&w, dense);
            multiply_small(&w);
        }
        hybrid_plan_destroy(first);
        run_square(&w, second, &w.A, &w.square);
        hybrid_plan_destroy(second);
        hybrid_plan_destroy(third);
        hybrid_plan_destroy(dense);
        close_world(&w);
    }
}

/* A new plan that finds enough free memory does not take any from an idle plan. */
static void idle_plans_leave_only_if_they_must(void **state)
{
    world w;

    (void)state;
    for (int on_device = 0; on_device < 2; on_device++) {
        open_world(&w, on_device);
        hybrid_plan *small = plan_square(&w, &w.small);
        const int64_t held = used(&w);
        assert_true(held > 0);
        hybrid_plan *dense = plan_dense(&w, 0);
        assert_true(used(&w) >= held);
        multiply_small(&w);
        assert_true(used(&w) >= held);
        hybrid_plan_destroy(small);
        hybrid_plan_destroy(dense);
        close_world(&w);
    }
}

/* Runs a plan with HYBRID_RESIDENT, of which all of A is cached, without the arrays of
   A. */
static void run_without_a(world *w, hybrid_plan *plan)
{
    static int64_t nothing;
    hybrid_csr gone = w->A;

    gone.row_ptr = gone.col = gone.val = &nothing;
    assert_int_equal(hybrid_spmm_run(plan, 1, &gone, &w->X, 0, &w->Y), HYBRID_OK);
    assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->before, &w->Y, 1));
    expect_cap_was_kept(w);
}

/* All of A stays cached on the device, although plans that were made before and after
   may use the rest of the memory. */
static void packs_that_last_stay(void **state)
{
    world w;

    (void)state;
    open_world(&w, 1);
    hybrid_plan *kept = plan_dense(&w, HYBRID_RESIDENT);
    run_dense(&w, kept);
    const hybrid_report first = report_of(kept);
    assert_int_equal(first.resident_chunks, first.chunks);
    hybrid_plan *square = plan_square(&w, &w.A);
    for (int i = 0; i < 3; i++) {
        run_square(&w, square, &w.A, &w.square);
        multiply_small(&w);
        run_without_a(&w, kept);
        assert_int_equal(report_of(kept).resident_chunks, first.chunks);
    }
    hybrid_plan_destroy(square);
    hybrid_plan_destroy(kept);
    close_world(&w);
}

/* Plans that cache A leave an older plan all the memory that its chunks need. */
static void lasting_packs_starve_no_other_plan(void **state)
{
    world w;

    (void)state;
    open_world(&w, 1);
    hybrid_plan *square = plan_square(&w, &w.A);
    hybrid_plan *kept[3];
    for (int i = 0; i < 3; i++) {
        kept[i] = plan_dense(&w, HYBRID_RESIDENT);
        run_dense(&w, kept[i]);
        run_square(&w, square, &w.A, &w.square);
    }
    for (int i = 0; i < 3; i++) {
        run_dense(&w, kept[i]);
        run_square(&w, square, &w.A, &w.square);
        hybrid_plan_destroy(kept[i]);
    }
    hybrid_plan_destroy(square);
    close_world(&w);
}

static void expect_words(const world *w, const char *words)
{
    const char *message = hybrid_engine_message(w->engine);

    if (!strstr(message, words))
        fail_msg("'%s' is not in '%s'", words, message);
}

/* If cached packs leave less memory than a row of a new plan needs, the message names
   the plan that holds them. */
static void messages_name_the_holder(void **state)
{
    const char *holder = "; or destroy the plan of spmm 1500 x 1500, which holds ";
    hybrid_plan *none;
    world w;

    (void)state;
    open_world(&w, 1);
    const hybrid_plan_options options = options_of(&w, "spgemm.fake.esc", 0);
    hybrid_plan *small                = plan_square(&w, &w.small);
    hybrid_plan *kept                 = plan_dense(&w, HYBRID_RESIDENT);
    run_dense(&w, kept);
    const int64_t lasting = (int64_t)hy_tenants_lasting(w.engine->device);
    assert_true(lasting > 0);
    meter_of(&w)->cap = lasting + 256;
    assert_int_equal(hybrid_spgemm_plan(w.engine, &w.A, &w.A, &options, &none),
                     HYBRID_NO_DEVICE_MEMORY);
    expect_words(&w, holder);
    expect_words(&w, " of the budget of ");
    hy_tenants_leave(w.engine->device);
    hybrid_csr C;
    assert_int_equal(hybrid_spgemm_run(small, &w.small, &w.small, &C),
                     HYBRID_NO_DEVICE_MEMORY);
    expect_words(&w, holder);
    meter_of(&w)->cap = CAP;
    run_square(&w, small, &w.small, &w.small_square);
    hybrid_plan_destroy(small);
    run_without_a(&w, kept);
    hybrid_plan_destroy(kept);
    close_world(&w);
}

/* An idle plan that computes on the host keeps slots in host memory. They are freed if a
   result needs their memory, and the plan can run again. */
static void idle_plans_make_room_for_results(void **state)
{
    world w;
    hybrid_csr C;

    (void)state;
    open_world(&w, 0);
    hybrid_plan *plan = plan_square(&w, &w.A);
    hy_meter *host    = &w.engine->ctx.memory.meter;
    const int64_t cap = host->cap;
    void *array;

    assert_true(used(&w) > CAP / 2);
    host->cap = hy_meter_used(host) + CAP / 4;
    assert_int_equal(hy_array(&w.engine->ctx, CAP / 2, 1, "an array", &array), HYBRID_OK);
    assert_int_equal(used(&w), 0);
    hy_array_free(&w.engine->ctx, array);
    host->cap = cap;
    assert_int_equal(hybrid_spgemm_run(plan, &w.A, &w.A, &C), HYBRID_OK);
    assert_null(oracle_check(&w.square, &C, 1));
    hybrid_csr_free(w.engine, &C);
    hybrid_plan_destroy(plan);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_that_fills_the_device_lets_others_run),
        cmocka_unit_test(idle_plans_leave_only_if_they_must),
        cmocka_unit_test(packs_that_last_stay),
        cmocka_unit_test(lasting_packs_starve_no_other_plan),
        cmocka_unit_test(messages_name_the_holder),
        cmocka_unit_test(idle_plans_make_room_for_results),
    };
    return cmocka_run_group_tests_name("live_plans", tests, NULL, NULL);
}
