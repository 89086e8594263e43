/* tests/test_ahead.c - pages of C that are pinned before they are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/look.h"
#include "engine/engine.h"
#include "pipeline/ahead.h"
#include "support/fake_backend.h"
#include "support/fake_lane.h"
#include "support/fake_spmm.h"

enum { ENTRIES = 1 << 19 };

/* A span whose pages are present, as after a result that was freed. */
static void reserve_again(hy_context *ctx, size_t bytes, hy_span *span)
{
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(hy_results_reserve(ctx, bytes, span), HYBRID_OK);
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

/* The first entries, of those that the pages hold, that are pinned. */
static int64_t pinned_if(hybrid_engine *engine, int64_t expected)
{
    hy_context *ctx = &engine->ctx;
    hy_span col, val;
    hy_ahead ahead;
    int64_t n = 0;

    reserve_again(ctx, (size_t)ENTRIES * 4, &col);
    reserve_again(ctx, (size_t)ENTRIES * 8, &val);
    hy_ahead_start(&ahead, ctx, &col, &val, 8, expected);
    while (hy_ahead_goes_on(&ahead))
        hy_relax();
    hy_ahead_stop(&ahead);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quarter_more_than_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
