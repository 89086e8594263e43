/* tests/unit/base/test_results_pooled.c - pages of results that are used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "support/check/result_pages.h"

/* ---- pooling ---- */

static void kept_pages_are_used_again(void **state)
{
    char *first = array_of(3 * MIB);
    hy_span span;

    (void)state;
    assert_true(hy_results_release(ctx, first));
    assert_int_equal(pages_counted(), 4 * MIB);
    assert_int_equal(hy_results_reserve(ctx, 2 * MIB, "a result", &span), HYBRID_OK);
    assert_ptr_equal(span.ptr, first);
    assert_int_equal(span.touched, 3 * MIB);
    assert_int_equal(hy_results_use(ctx, &span, 2 * MIB), HYBRID_OK);
    assert_int_equal(pages_counted(), 4 * MIB); /* pages that are pooled (freed and kept
                                                   for reuse) stay counted */
    hy_results_hand_out(ctx, &span, 2 * MIB);
    assert_true(hy_results_release(ctx, span.ptr));
}

static void the_smallest_that_fits_is_taken(void **state)
{
    char *some = array_of(1 * MIB), *most = array_of(2 * MIB), *again;

    (void)state;
    hy_results_release(ctx, most);
    hy_results_release(ctx, some);
    again = array_of(MIB / 2 + MIB / 4);
    assert_ptr_equal(again, some);
    hy_results_release(ctx, again);
    again = array_of(MIB + MIB / 2);
    assert_ptr_equal(again, most);
    hy_results_release(ctx, again);
    again = array_of(100); /* both pooled ranges are much larger, so that neither is
                              taken */
    assert_ptr_not_equal(again, some);
    assert_ptr_not_equal(again, most);
    hy_results_release(ctx, again);
}

static void small_results_take_turns_on_a_page(void **state)
{
    char *page = array_of(4000);

    (void)state;
    for (size_t bytes = 1; bytes < 4000; bytes = bytes * 3 + 1) {
        hy_results_release(ctx, page);
        char *again = array_of(bytes);
        assert_ptr_equal(again, page);
    }
    hy_results_release(ctx, page);
}

static void keeping_has_an_end(void **state)
{
    char *ptr[100];

    (void)state;
    for (int i = 0; i < 100; i++)
        ptr[i] = array_of(10 * PAGE);
    assert_int_equal(pages_counted() / (10 * PAGE), 100);
    for (int i = 0; i < 100; i++)
        assert_true(hy_results_release(ctx, ptr[i]));
    assert_in_range(pages_counted() / (10 * PAGE), 1, 99);
    /* the pool has the pages that were freed last */
    assert_ptr_equal(array_of(10 * PAGE), ptr[99]);
}

static void pooled_pages_take_half_of_the_cap(void **state)
{
    char *old = array_of(2 * MIB), *middle = array_of(4 * MIB), *last = array_of(6 * MIB);

    (void)state;
    ctx->memory.meter.cap = 20 * MIB;
    hy_results_release(ctx, old);
    hy_results_release(ctx, middle);
    assert_int_equal(hy_results_pooled_bytes(ctx->results), 6 * MIB);
    hy_results_release(ctx, last); /* the pool may have half of the cap, 10 MiB; the
                                      three ranges are 12 MiB, so the oldest leaves */
    assert_int_equal(hy_results_pooled_bytes(ctx->results), 10 * MIB);
    assert_int_equal(pages_counted(), 10 * MIB);
    assert_ptr_equal(array_of(4 * MIB), middle);
}

/* Releases the spans (page ranges of results) of all slots; with `of_call`, only those
   reserved in the current call. */
static void release_slots(hy_span slots[], const int64_t calls[], int count, int of_call)
{
    for (int i = 0; i < count; i++)
        if (slots[i].ptr && (!of_call || calls[i] == ctx->call)) {
            hy_results_release(ctx, slots[i].ptr);
            slots[i] = (hy_span){0};
        }
}

/* The pooled bytes are always the counted bytes minus those of spans in use, after any
   sequence of reservations, releases, trims and failed calls. */
static void pooled_bytes_are_never_wrong(void **state)
{
    enum { SLOTS = 8, STEPS = 4000 };
    hy_span slots[SLOTS] = {0};
    int64_t calls[SLOTS] = {0};
    unsigned seed        = 1;
    int undone           = 0;

    (void)state;
    ctx->memory.meter.cap = before + 40 * MIB;
    for (int step = 0; step < STEPS; step++) {
        const int i = rand_r(&seed) % SLOTS, what = rand_r(&seed) % 40;
        int64_t live = 0;
        if (what == 0) {
            hy_results_trim(ctx);
        } else if (what == 1) {
            release_slots(slots, calls, SLOTS, 1);
            hy_results_undo(ctx);
            undone++;
        } else if (what < 6) {
            ctx->call++;
        } else if (slots[i].ptr) {
            hy_results_release(ctx, slots[i].ptr);
            slots[i] = (hy_span){0};
        } else {
            const size_t bytes = (size_t)(1 + rand_r(&seed) % (3 * MIB));
            assert_int_equal(hy_results_reserve(ctx, bytes, "a result", &slots[i]),
                             HYBRID_OK);
            assert_int_equal(
                hy_results_use(ctx, &slots[i], 1 + (size_t)rand_r(&seed) % bytes),
                HYBRID_OK);
            calls[i] = ctx->call;
        }
        for (int s = 0; s < SLOTS; s++)
            live += (int64_t)slots[s].counted;
        assert_int_equal(hy_results_pooled_bytes(ctx->results), pages_counted() - live);
    }
    assert_true(undone > 10);
    release_slots(slots, calls, SLOTS, 0);
}

static void trim_gives_back_only_what_is_kept(void **state)
{
    char *mine = array_of(MIB), *kept = array_of(2 * MIB);

    (void)state;
    hy_results_release(ctx, kept);
    hy_results_trim(ctx);
    assert_int_equal(pages_counted(), MIB);
    assert_int_equal(mine[MIB - 1], 0x5a);
    hy_results_release(ctx, mine);
    hy_results_trim(ctx);
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
}

static void kept_pages_make_room_under_the_cap(void **state)
{
    char *kept = array_of(4 * MIB), *other;
    void *ptr;

    (void)state;
    ctx->memory.meter.cap = before + 7 * MIB;
    assert_int_equal(hy_results_array(ctx, 5 * MIB, 1, "y", &ptr), HYBRID_NO_MEMORY);
    assert_null(ptr);
    hy_results_release(ctx, kept);
    other = array_of(5 * MIB);
    assert_int_equal(pages_counted(), 6 * MIB);
    hy_results_release(ctx, other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, results_open, close_context)
    const struct CMUnitTest tests[] = {
        TEST(kept_pages_are_used_again),
        TEST(the_smallest_that_fits_is_taken),
        TEST(small_results_take_turns_on_a_page),
        TEST(keeping_has_an_end),
        TEST(pooled_pages_take_half_of_the_cap),
        TEST(pooled_bytes_are_never_wrong),
        TEST(trim_gives_back_only_what_is_kept),
        TEST(kept_pages_make_room_under_the_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
