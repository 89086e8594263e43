/* tests/run/device/test_prefault.c - prefaulting pages of C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/threads/spin.h"
#include "base/memory/pages.h"
#include "engine/api/engine.h"
#include "pipeline/sink/prefault.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_lane.h"
#include "support/fake/fake_spmm.h"
#include "support/runs/prefault_await.h"

enum { ENTRIES = 1 << 19 };

/* Reserves a span (page range of a result) whose pages are in memory already, as those
   of a freed result are. */
static void reserve_again(hy_context *ctx, size_t bytes, hy_span *span)
{
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(hy_results_reserve(ctx, bytes, "a result", span), HYBRID_OK);
        if (turn > 0)
            break;
        assert_int_equal(hy_results_use(ctx, span, bytes), HYBRID_OK);
        char *ptr = span->ptr;
        memset(ptr, 1, bytes);
        hy_results_hand_out(ctx, span, bytes);
        assert_int_equal(hy_results_release(ctx, ptr), 1);
    }
    assert_int_equal(span->touched, bytes);
}

/* Prefaults pages for `expected` entries. Returns how many leading entries of columns
   and values are then pinned. */
static int64_t pinned_if(hybrid_engine *engine, int64_t expected)
{
    hy_context *ctx = &engine->ctx;
    hy_span col, val;
    hy_prefault prefault;
    int64_t n = 0;

    reserve_again(ctx, (size_t)ENTRIES * 4, &col);
    reserve_again(ctx, (size_t)ENTRIES * 8, &val);
    hy_prefault_start(&prefault, ctx, &col, &val, 4, 8, expected, 0);
    prefault_await(&prefault);
    hy_prefault_stop(&prefault);
    while (n < ENTRIES && hy_results_pinned(&col, 0, (size_t)(n + 1) * 4) &&
           hy_results_pinned(&val, 0, (size_t)(n + 1) * 8))
        n++;
    hy_results_release(ctx, col.ptr);
    hy_results_release(ctx, val.ptr);
    return n;
}

static int64_t pinned_of_fresh_engine(int64_t expected)
{
    hybrid_engine *engine = fake_spmm(0);
    const int64_t n       = pinned_if(engine, expected);

    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
    return n;
}

static void a_quarter_more_than_expected(void **state)
{
    (void)state;
    fake_delays(1, 0);
    assert_int_equal(pinned_of_fresh_engine(ENTRIES), ENTRIES);
    assert_int_equal(pinned_of_fresh_engine(ENTRIES / 8 * 7), ENTRIES);
    assert_in_range(pinned_of_fresh_engine(ENTRIES / 2), ENTRIES / 8 * 5,
                    ENTRIES / 8 * 5 + FAKE_PIN_BYTES);
}

/* ---- several devices ---- */

static hybrid_status sleep_until(void *arg, int part, int64_t begin, int64_t end)
{
    (void)part;
    (void)begin;
    (void)end;
    while (!__atomic_load_n((int *)arg, __ATOMIC_ACQUIRE))
        hy_relax();
    return HYBRID_OK;
}

enum { SLOW = 8 * FAKE_PIN_BYTES / 4 }; /* number of entries whose columns are 8 pieces */

/* Opens an engine as if it had several devices, and reserves a result whose pages are in
   memory. */
static hybrid_engine *open_several(hy_span *col, hy_span *val)
{
    hybrid_engine *engine = fake_spmm(0);

    hy_results_pin_for(&engine->ctx, engine->device, 1);
    reserve_again(&engine->ctx, (size_t)SLOW * 4, col);
    reserve_again(&engine->ctx, (size_t)SLOW * 8, val);
    return engine;
}

static void close_several(hybrid_engine *engine, const hy_span *col, const hy_span *val)
{
    hy_results_release(&engine->ctx, col->ptr);
    hy_results_release(&engine->ctx, val->ptr);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

/* Lets workers pin until `step` steps are done. */
static void pin_until(hy_prefault *prefault, int64_t step)
{
    while (prefault->pinned < step) {
        hy_prefault_pin(prefault);
        while (__atomic_load_n(&prefault->pinning, __ATOMIC_ACQUIRE))
            hy_relax();
    }
}

static void several_devices_pin_one_piece_after_another(void **state)
{
    const int64_t before = fake_pins();
    hy_span col, val;
    hybrid_engine *engine = open_several(&col, &val);
    hy_prefault prefault;

    (void)state;
    hy_prefault_start(&prefault, &engine->ctx, &col, &val, 4, 8, SLOW, 0);
    assert_true(prefault.pins == 0 && prefault.slow_pins == 8);
    prefault_await(&prefault);
    assert_int_equal(fake_pins(), before);
    for (int64_t step = 1; step <= 8; step++) {
        pin_until(&prefault, step);
        assert_int_equal(fake_pins() - before, 3 * prefault.pinned);
        assert_true(hy_results_pinned(&col, 0, (size_t)step * FAKE_PIN_BYTES));
        assert_true(hy_results_pinned(&val, 0, (size_t)step * 2 * FAKE_PIN_BYTES));
    }
    hy_prefault_pin(&prefault);
    assert_int_equal(prefault.pinning, 0);
    hy_prefault_stop(&prefault);
    close_several(engine, &col, &val);
}

/* All workers are busy, so that the task that pins is still queued when it is taken
   back. */
static void stop_takes_the_next_piece_back(void **state)
{
    const int64_t before = fake_pins();
    int go_on            = 0;
    hy_span col, val;
    hybrid_engine *engine = open_several(&col, &val);
    hy_pool *pool         = engine->ctx.pool;
    hy_prefault prefault;
    hy_loop busy;

    (void)state;
    hy_pool_begin(&busy, pool, HY_COMPUTE, 0, hy_pool_threads(pool), 1, sleep_until,
                  &go_on);
    hy_prefault_start(&prefault, &engine->ctx, &col, &val, 4, 8, SLOW, 0);
    hy_prefault_pin(&prefault);
    assert_int_equal(prefault.pinning, 1);
    hy_prefault_stop(&prefault);
    assert_int_equal(prefault.pinning, 0);
    __atomic_store_n(&go_on, 1, __ATOMIC_RELEASE);
    assert_int_equal(hy_pool_end(&busy), HYBRID_OK);
    assert_int_equal(fake_pins(), before);
    close_several(engine, &col, &val);
}

/* A piece that takes t keeps pinning from going on for HY_PIN_SHARE * t, counted from its
   beginning, or from the end of the rest before. */
static void pinning_rests_in_proportion(void **state)
{
    (void)state;
    assert_int_equal(hy_pin_rest(0, 1000, 1003), 1000 + 3 * HY_PIN_SHARE);
    assert_int_equal(hy_pin_rest(1500, 1000, 1003), 1500 + 3 * HY_PIN_SHARE);
    assert_int_equal(hy_pin_rest(900, 1000, 1000), 1000);
}

/* ---- fresh pages ---- */

enum { STEP = 1 << 19, STEPS = 6 };

/* Returns 1 if the page of byte `at` is in memory. */
static int is_present(const hy_span *span, size_t at)
{
    unsigned char there = 0;

    assert_int_equal(mincore(span->ptr + at / HY_PAGE * HY_PAGE, 1, &there), 0);
    return there & 1;
}

static int both_present(const hy_prefault *a, int64_t entry)
{
    return is_present(a->col, (size_t)entry * a->col_size) &&
           is_present(a->val, (size_t)entry * 8);
}

/* All workers are busy, so that no page is touched before hy_prefault_reach() says that
   entries are about to be written. */
static void touched_first(size_t col_size)
{
    hybrid_engine *engine = fake_spmm(0);
    hy_context *ctx       = &engine->ctx;
    const int workers     = hy_pool_threads(ctx->pool);
    int go_on             = 0;
    hy_span col, val;
    hy_prefault prefault;
    hy_loop busy;

    assert_int_equal(hy_results_reserve(ctx, STEPS * STEP * col_size, "a result", &col),
                     HYBRID_OK);
    assert_int_equal(hy_results_reserve(ctx, STEPS * STEP * 8, "a result", &val),
                     HYBRID_OK);
    hy_pool_begin(&busy, ctx->pool, HY_COMPUTE, 0, workers, 1, sleep_until, &go_on);
    hy_prefault_start(&prefault, ctx, &col, &val, col_size, 8, STEPS * STEP, 0);
    assert_int_equal(prefault.touches, STEPS);
    __atomic_store_n(&prefault.stop, 1,
                     __ATOMIC_RELEASE); /* keeps idle workers from touching any page */
    __atomic_store_n(&go_on, 1, __ATOMIC_RELEASE);
    assert_int_equal(hy_pool_end(&busy), HYBRID_OK);
    hy_prefault_stop(&prefault);
    assert_false(both_present(&prefault, 3 * STEP));

    prefault.next    = 0;
    prefault.reaches = 1;
    assert_int_equal(hy_prefault_reach(&prefault, 2 * STEP + 1), HYBRID_OK);
    assert_int_equal(prefault.next, 3);
    for (int64_t i = 0; i < 3; i++)
        assert_true(both_present(&prefault, i * STEP));
    assert_false(both_present(&prefault, 5 * STEP));
    assert_int_equal(hy_prefault_reach(&prefault, 3 * STEP), HYBRID_OK);
    assert_int_equal(prefault.next, 3);
    assert_int_equal(hy_prefault_reach(&prefault, 9 * STEP), HYBRID_OK);
    assert_int_equal(prefault.next, STEPS);
    assert_true(both_present(&prefault, STEPS * STEP - 1));
    hy_results_release(ctx, col.ptr);
    hy_results_release(ctx, val.ptr);
    hybrid_engine_destroy(engine);
}

static void what_is_written_next_is_touched_first(void **state)
{
    (void)state;
    touched_first(4);
    touched_first(8);
}

/* The pages of 64-bit columns are not pinned, because the device does not write them. */
static void wide_columns_are_not_pinned(void **state)
{
    hybrid_engine *engine = fake_spmm(0);
    hy_context *ctx       = &engine->ctx;
    hy_span col, val;
    hy_prefault prefault;

    (void)state;
    reserve_again(ctx, (size_t)ENTRIES * 8, &col);
    reserve_again(ctx, (size_t)ENTRIES * 8, &val);
    hy_prefault_start(&prefault, ctx, &col, &val, 8, 8, ENTRIES, 0);
    assert_true(prefault.pins == 0 && prefault.touches == 0);
    hy_prefault_stop(&prefault);
    hy_results_release(ctx, col.ptr);
    hy_results_release(ctx, val.ptr);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quarter_more_than_expected),
        cmocka_unit_test(several_devices_pin_one_piece_after_another),
        cmocka_unit_test(stop_takes_the_next_piece_back),
        cmocka_unit_test(pinning_rests_in_proportion),
        cmocka_unit_test(what_is_written_next_is_touched_first),
        cmocka_unit_test(wide_columns_are_not_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
