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

/* With several devices one worker pins all pages. */
static void one_worker_pins_for_several_devices(void **state)
{
    enum { PIECES = 8, FEW = PIECES * FAKE_PIN_BYTES / 4 };
    hybrid_engine *engine = fake_spmm(0);
    hy_context *ctx       = &engine->ctx;
    hy_span col, val;
    hy_prefault prefault;

    (void)state;
    hy_results_pin_for(ctx, engine->device, 1);
    reserve_again(ctx, (size_t)FEW * 4, &col);
    reserve_again(ctx, (size_t)FEW * 8, &val);
    hy_prefault_start(&prefault, ctx, &col, &val, 4, 8, FEW, 0);
    assert_true(prefault.pins == PIECES && prefault.submitted == 1);
    prefault_await(&prefault);
    hy_prefault_stop(&prefault);
    assert_true(hy_results_pinned(&col, 0, (size_t)FEW * 4));
    assert_true(hy_results_pinned(&val, 0, (size_t)FEW * 8));
    hy_results_release(ctx, col.ptr);
    hy_results_release(ctx, val.ptr);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

/* ---- fresh pages ---- */

enum { STEP = 1 << 19, STEPS = 6 };

static hybrid_status sleep_until(void *arg, int part, int64_t begin, int64_t end)
{
    (void)part;
    (void)begin;
    (void)end;
    while (!__atomic_load_n((int *)arg, __ATOMIC_ACQUIRE))
        hy_relax();
    return HYBRID_OK;
}

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
        cmocka_unit_test(one_worker_pins_for_several_devices),
        cmocka_unit_test(what_is_written_next_is_touched_first),
        cmocka_unit_test(wide_columns_are_not_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
