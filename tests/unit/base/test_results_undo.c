/* tests/unit/base/test_results_undo.c - pages of results that a failed call used are
   released. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/check/result_pages.h"

/* Returns a span (page range of a result) of up to `bound` bytes, reserved in call
   number `call`, with its first `used` bytes counted and written. */
static hy_span span_of(int64_t call, size_t bound, size_t used)
{
    hy_span span;

    ctx->call = call;
    assert_int_equal(hy_results_reserve(ctx, bound, "a result", &span), HYBRID_OK);
    assert_int_equal(hy_results_use(ctx, &span, used), HYBRID_OK);
    memset(span.ptr, 0x5a, used);
    return span;
}

static void a_failed_call_leaves_no_pages(void **state)
{
    const hy_span span = span_of(1, 64 * MIB, 6 * MIB);

    (void)state;
    hy_results_release(ctx, span.ptr);
    hy_results_undo(ctx);
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
}

static void pages_of_earlier_calls_outlive_one_that_fails(void **state)
{
    hy_span span    = span_of(1, 4 * MIB, MIB);
    char *const ptr = span.ptr;

    (void)state;
    hy_results_hand_out(ctx, &span, MIB);
    hy_results_release(ctx, ptr);
    span = span_of(2, 4 * MIB, 3 * MIB);
    assert_ptr_equal(span.ptr, ptr);
    hy_results_touch(&span, 3 * MIB, 4 * MIB);
    assert_int_equal(pages_counted(), 4 * MIB);
    hy_results_release(ctx, ptr);
    hy_results_undo(ctx);
    assert_int_equal(pages_counted(), 2 * MIB);
    assert_int_equal(pages_present(ptr + 2 * MIB, 2 * MIB), 0);
    span = span_of(3, 4 * MIB, MIB);
    assert_ptr_equal(span.ptr, ptr);
    assert_int_equal(span.touched, MIB);
    hy_results_undo(ctx); /* undoes the failed call 3; its result is in use and must
                             stay */
    assert_int_equal(ptr[MIB - 1], 0x5a);
    hy_results_release(ctx, ptr);
}

/* Released pages of which many were counted or touched are not given to a much smaller
   result. */
static void pages_that_may_be_present_are_not_wasted(void **state)
{
    hy_span span    = span_of(1, 16 * MIB, 9 * MIB);
    char *const ptr = span.ptr;

    (void)state;
    hy_results_release(ctx, ptr);
    assert_ptr_not_equal(array_of(100), ptr);
    hy_results_trim(ctx);
    ctx->call = 2;
    assert_int_equal(hy_results_reserve(ctx, MIB, "a result", &span), HYBRID_OK);
    hy_results_touch(&span, 0, MIB);
    hy_results_release(ctx, span.ptr);
    assert_ptr_not_equal(array_of(100), span.ptr);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, results_open, close_context)
    const struct CMUnitTest tests[] = {
        TEST(a_failed_call_leaves_no_pages),
        TEST(pages_of_earlier_calls_outlive_one_that_fails),
        TEST(pages_that_may_be_present_are_not_wasted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
