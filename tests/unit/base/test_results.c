/* tests/unit/base/test_results.c - pages of results: counting, pooling, reuse and
   release. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/memory/pages.h"
#include "base/threads/pool.h"
#include "support/check/result_pages.h"

/* ---- reserving and counting ---- */

static void reserving_costs_nothing(void **state)
{
    hy_span span;

    (void)state;
    ctx->memory.meter.cap = before + 8 * MIB;
    assert_int_equal(hy_results_reserve(ctx, (size_t)1 << 36, "a result", &span),
                     HYBRID_OK);
    assert_int_equal(pages_counted(), 0);
    assert_int_equal(hy_results_use(ctx, &span, MIB), HYBRID_OK);
    assert_int_equal(pages_counted(), 2 * MIB); /* the counted bytes of one huge page */
    memset(span.ptr, 1, MIB);
    assert_int_equal(hy_results_use(ctx, &span, MIB / 2), HYBRID_OK);
    assert_int_equal(hy_results_use(ctx, &span, 3 * MIB), HYBRID_OK);
    assert_int_equal(pages_counted(), 4 * MIB);
    assert_int_equal(hy_results_use(ctx, &span, 9 * MIB), HYBRID_NO_MEMORY);
    assert_non_null(strstr(ctx->message.text, "cannot allocate 9.0 MiB of host memory"));
    assert_int_equal(pages_counted(), 4 * MIB);
    hy_results_hand_out(ctx, &span, 3 * MIB);
    assert_true(hy_results_release(ctx, span.ptr));
}

static void nothing_is_a_result_too(void **state)
{
    hy_span span = {.bytes = 1};
    void *ptr    = ctx;

    (void)state;
    assert_int_equal(hy_results_reserve(ctx, 0, "a result", &span), HYBRID_OK);
    assert_null(span.ptr);
    assert_int_equal(hy_results_use(ctx, &span, 0), HYBRID_OK);
    hy_results_touch(&span, 0, 100);
    hy_results_hand_out(ctx, &span, 0);
    assert_false(hy_results_release(ctx, span.ptr));
    assert_int_equal(hy_results_array(ctx, 0, 8, "y", &ptr), HYBRID_OK);
    assert_null(ptr);
}

static void bounds_are_kept(void **state)
{
    hy_span span;
    void *ptr;

    (void)state;
    assert_int_equal(hy_results_reserve(ctx, 100, "a result", &span), HYBRID_OK);
    assert_int_equal(hy_results_use(ctx, &span, span.bytes + 1), HYBRID_NO_MEMORY);
    hy_results_release(ctx, span.ptr);
    assert_int_equal(hy_results_reserve(ctx, SIZE_MAX, "a result", &span),
                     HYBRID_NO_MEMORY);
    assert_int_equal(hy_results_reserve(ctx, (size_t)1 << 60, "a result", &span),
                     HYBRID_NO_MEMORY);
    assert_null(span.ptr);
    assert_int_equal(hy_results_array(ctx, -1, 8, "y", &ptr), HYBRID_NO_MEMORY);
    assert_int_equal(hy_results_array(ctx, INT64_MAX / 4, 8, "y", &ptr),
                     HYBRID_NO_MEMORY);
}

static void large_results_start_at_a_huge_page(void **state)
{
    char *small = array_of(100), *large = array_of(5 * MIB + 1);

    (void)state;
    assert_int_equal((uintptr_t)large % (2 * MIB), 0);
    memset(large, 1, 5 * MIB + 1);
    hy_results_release(ctx, small);
    hy_results_release(ctx, large);
}

/* All pages of a result that are in memory are counted: a byte beyond a page boundary
   needs another page, which may be a huge page. */
static void no_page_is_present_that_is_not_counted(void **state)
{
    static const size_t sizes[] = {1,           PAGE + 1,    MIB + 1,
                                   2 * MIB - 1, 2 * MIB + 1, 4 * MIB - PAGE};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t bytes = hy_pages_round(sizes[i]);
        char *ptr          = array_of(sizes[i]);
        assert_int_equal(pages_counted(), bytes);
        assert_true(pages_present(ptr, bytes) * PAGE <= pages_counted());
        hy_results_release(ctx, ptr);
        hy_results_trim(ctx);
    }
}

/* ---- pooling ---- */

static void releasing_twice_or_strangers_is_ignored(void **state)
{
    char *ptr = array_of(100);
    int stranger;

    (void)state;
    assert_false(hy_results_release(ctx, NULL));
    assert_false(hy_results_release(ctx, &stranger));
    assert_false(hy_results_release(ctx, ptr + 1));
    assert_true(hy_results_release(ctx, ptr));
    assert_false(hy_results_release(ctx, ptr));
    hy_results_trim(ctx);
    assert_false(hy_results_release(ctx, ptr));
}

static void every_failure_leaves_things_as_they_were(void **state)
{
    void *ptr  = NULL;
    int failed = 0;

    (void)state;
    for (int64_t nth = 1;; nth++) {
        ctx->memory.failures       = nth;
        const hybrid_status status = hy_results_array(ctx, MIB, 1, "y", &ptr);
        ctx->memory.failures       = 0;
        if (status == HYBRID_OK)
            break;
        assert_int_equal(status, HYBRID_NO_MEMORY);
        assert_null(ptr);
        assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
        failed++;
    }
    assert_true(failed >= 2); /* at least two allocations fail: the entry in the list of
                                 results, and the pages */
    hy_results_release(ctx, ptr);
    ctx->memory.failures = 1; /* the allocation must fail also if pooled pages would
                                 serve */
    assert_int_equal(hy_results_array(ctx, MIB, 1, "y", &ptr), HYBRID_NO_MEMORY);
}

/* ---- touching ---- */

static void touching_makes_pages_present(void **state)
{
    hy_span span;

    (void)state;
    assert_int_equal(hy_results_reserve(ctx, MIB, "a result", &span), HYBRID_OK);
    assert_int_equal(pages_present(span.ptr, MIB), 0);
    hy_results_touch(&span, 10 * PAGE + 1, 20 * PAGE);
    assert_int_equal(pages_present(span.ptr, MIB), 10);
    hy_results_touch(&span, 0, SIZE_MAX);
    assert_int_equal(pages_present(span.ptr, MIB), MIB / PAGE);
    span.touched = span.bytes;
    hy_results_touch(&span, 0, SIZE_MAX);
    hy_results_release(ctx, span.ptr);
}

static hybrid_status write_or_touch(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_span *span = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        if (i % 2)
            hy_results_touch(span, 0, (size_t)MIB);
        else
            memset(span->ptr + i * PAGE, (int)i % 255 + 1, 2 * PAGE);
    return HYBRID_OK;
}

static void touching_leaves_what_others_write(void **state)
{
    hy_span span;

    (void)state;
    assert_int_equal(hy_results_reserve(ctx, MIB, "a result", &span), HYBRID_OK);
    assert_int_equal(hy_results_use(ctx, &span, MIB), HYBRID_OK);
    assert_int_equal(
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, MIB / PAGE, 1, write_or_touch, &span),
        HYBRID_OK);
    for (int64_t i = 0; i < MIB; i++)
        assert_int_equal((unsigned char)span.ptr[i], i / (2 * PAGE) * 2 % 255 + 1);
    hy_results_hand_out(ctx, &span, MIB);
    hy_results_release(ctx, span.ptr);
}

static hybrid_status churn(void *arg, int part, int64_t begin, int64_t end)
{
    (void)arg;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const size_t bytes = (size_t)(i * 7919 % 300000 + 1);
        void *ptr;
        HY_TRY(hy_results_array(ctx, (int64_t)bytes, 1, "y", &ptr));
        memset(ptr, (int)i, bytes);
        if (((char *)ptr)[bytes - 1] != (char)i || !hy_results_release(ctx, ptr))
            return hy_fail(ctx, HYBRID_BAD_STATE, "result %lld", (long long)i);
    }
    return HYBRID_OK;
}

static void threads_share_the_pages(void **state)
{
    (void)state;
    assert_int_equal(hy_pool_for(ctx->pool, HY_COMPUTE, 0, 2000, 1, churn, NULL),
                     HYBRID_OK);
    hy_results_trim(ctx);
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, results_open, close_context)
    const struct CMUnitTest tests[] = {
        TEST(reserving_costs_nothing),
        TEST(nothing_is_a_result_too),
        TEST(bounds_are_kept),
        TEST(no_page_is_present_that_is_not_counted),
        TEST(large_results_start_at_a_huge_page),
        TEST(releasing_twice_or_strangers_is_ignored),
        TEST(every_failure_leaves_things_as_they_were),
        TEST(touching_makes_pages_present),
        TEST(touching_leaves_what_others_write),
        TEST(threads_share_the_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
