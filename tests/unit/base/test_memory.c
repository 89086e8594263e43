/* tests/unit/base/test_memory.c - working memory, meters, and the message of the first
   error. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/threads/pool.h"
#include "base/memory/results.h"
#include "tests/support/engines/group.h"

/* ---- meters ---- */

static void meter_counts_up_to_its_cap(void **state)
{
    hy_meter meter = {.cap = 100};

    (void)state;
    assert_true(hy_meter_charge(&meter, 60));
    assert_false(hy_meter_charge(&meter, 41));
    assert_int_equal(hy_meter_used(&meter), 60);
    assert_true(hy_meter_charge(&meter, 40));
    hy_meter_release(&meter, 70);
    assert_int_equal(hy_meter_used(&meter), 30);
    assert_int_equal(hy_meter_peak(&meter), 100);
    hy_meter_reset_peak(&meter);
    assert_int_equal(hy_meter_peak(&meter), 30);
    assert_false(hy_meter_charge(&meter, SIZE_MAX));
    assert_int_equal(hy_meter_used(&meter), 30);
}

static hybrid_status take_and_give(void *arg, int part, int64_t begin, int64_t end)
{
    hy_meter *meter = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        if (hy_meter_charge(meter, 3))
            hy_meter_release(meter, 3);
    return HYBRID_OK;
}

static void meter_is_exact_when_shared(void **state)
{
    hy_meter meter = {.cap = 7}; /* bytes; two threads at a time can charge their 3
                                    bytes */

    (void)state;
    assert_int_equal(
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, 20000, 10, take_and_give, &meter),
        HYBRID_OK);
    assert_int_equal(hy_meter_used(&meter), 0);
    assert_in_range(hy_meter_peak(&meter), 3, 6);
}

/* ---- arrays ---- */

static void array_is_aligned_and_counted(void **state)
{
    const int64_t before = hy_meter_used(&ctx->memory.meter);
    void *array;

    (void)state;
    for (int64_t n = 1; n < 5000; n = n * 3 + 1) {
        assert_int_equal(hy_array(ctx, n, 3, "x", &array), HYBRID_OK);
        assert_int_equal((uintptr_t)array % 64, 0);
        memset(array, 0xff, (size_t)n * 3);
        assert_true(hy_meter_used(&ctx->memory.meter) >= before + n * 3);
        hy_array_free(ctx, array);
        assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    }
    hy_array_free(ctx, NULL);
}

static void empty_array_is_null(void **state)
{
    void *array = ctx;

    (void)state;
    assert_int_equal(hy_array(ctx, 0, 8, "x", &array), HYBRID_OK);
    assert_null(array);
}

static void sizes_that_overflow_are_refused(void **state)
{
    static const int64_t counts[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 8 + 1};
    void *array                   = ctx;

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        hy_message_clear(&ctx->message);
        assert_int_equal(hy_array(ctx, counts[i], 16, "counters", &array),
                         HYBRID_NO_MEMORY);
        assert_null(array);
        assert_non_null(strstr(ctx->message.text, "counters"));
    }
}

static void cap_is_kept_and_named(void **state)
{
    const int64_t before = hy_meter_used(&ctx->memory.meter);
    void *array;

    (void)state;
    ctx->memory.meter.cap = before + 1000;
    assert_int_equal(hy_array(ctx, 1000, 1, "counters", &array), HYBRID_NO_MEMORY);
    assert_null(array);
    assert_non_null(strstr(ctx->message.text, "cannot allocate 1.1 KiB of host memory"));
    assert_non_null(strstr(ctx->message.text, " [counters]"));
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    assert_int_equal(hy_array(ctx, 500, 1, "counters", &array), HYBRID_OK);
    hy_array_free(ctx, array);
}

static void kept_results_make_room(void **state)
{
    void *result, *array;

    (void)state;
    ctx->memory.meter.cap = hy_meter_used(&ctx->memory.meter) + 100000;
    assert_int_equal(hy_results_array(ctx, 60000, 1, "y", &result), HYBRID_OK);
    assert_int_equal(hy_array(ctx, 60000, 1, "x", &array), HYBRID_NO_MEMORY);
    assert_true(hy_results_release(ctx, result));
    assert_int_equal(hy_array(ctx, 60000, 1, "x", &array), HYBRID_OK);
    hy_array_free(ctx, array);
}

/* The pages of a freed array must be returned to the system, because the meter no longer
   counts them. */
static void freed_arrays_are_resident_no_more(void **state)
{
    enum { COUNT = 64, BYTES = 100000 };
    const int64_t before = hy_meter_used(&ctx->memory.meter);
    unsigned char present;
    void *arrays[COUNT];

    (void)state;
    ctx->memory.strict = 1;
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(hy_array(ctx, BYTES, 1, "x", &arrays[i]), HYBRID_OK);
        assert_int_equal((uintptr_t)arrays[i] % 64, 0);
        memset(arrays[i], 1, BYTES);
    }
    assert_true(hy_meter_used(&ctx->memory.meter) - before >= COUNT * (int64_t)BYTES);
    for (int i = 0; i < COUNT; i++) {
        char *page = (char *)(((uintptr_t)arrays[i] + 4095) & ~(uintptr_t)4095);
        hy_array_free(ctx, arrays[i]);
        assert_int_equal(mincore(page, 1, &present), -1);
        assert_int_equal(errno, ENOMEM);
    }
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
}

static void each_failure_happens_once(void **state)
{
    void *array[3];

    (void)state;
    ctx->memory.failures = 2;
    assert_int_equal(hy_array(ctx, 8, 8, "a", &array[0]), HYBRID_OK);
    assert_int_equal(hy_array(ctx, 8, 8, "b", &array[1]), HYBRID_NO_MEMORY);
    assert_null(array[1]);
    assert_int_equal(hy_array(ctx, 8, 8, "c", &array[2]), HYBRID_OK);
    hy_array_free(ctx, array[0]);
    hy_array_free(ctx, array[2]);
    assert_false(hy_memory_fails(&ctx->memory));
}

/* ---- the caller's allocator ---- */

typedef struct counting {
    int64_t blocks;
    int refuse;
} counting;

/* Allocates for a caller's allocator. The memory is aligned to 8 bytes only. */
static void *odd_alloc(void *user, size_t bytes)
{
    counting *c = user;
    char *block = c->refuse ? NULL : malloc(bytes + 8);

    if (!block)
        return NULL;
    c->blocks++;
    return block + 8;
}

static void odd_free(void *user, void *ptr)
{
    ((counting *)user)->blocks--;
    free((char *)ptr - 8);
}

static void callers_allocator_is_used(void **state)
{
    const int64_t before = hy_meter_used(&ctx->memory.meter);
    counting c           = {0, 0};
    void *array;

    (void)state;
    ctx->memory.allocator = (hybrid_allocator){odd_alloc, odd_free, &c};
    assert_int_equal(hy_array(ctx, 100, 4, "x", &array), HYBRID_OK);
    assert_int_equal(c.blocks, 1);
    assert_int_equal((uintptr_t)array % 64, 0);
    memset(array, 1, 400);
    hy_array_free(ctx, array);
    assert_int_equal(c.blocks, 0);
    c.refuse = 1;
    assert_int_equal(hy_array(ctx, 100, 4, "x", &array), HYBRID_NO_MEMORY);
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    ctx->memory.allocator = (hybrid_allocator){NULL, NULL, NULL};
}

/* ---- the message ---- */

static void first_sentence_stays(void **state)
{
    char text[2 * HY_MESSAGE_BYTES];

    (void)state;
    assert_int_equal(hy_fail(ctx, HYBRID_BAD_SHAPE, "%d rows", 3), HYBRID_BAD_SHAPE);
    assert_int_equal(hy_fail(ctx, HYBRID_IO_FAILED, "later"), HYBRID_IO_FAILED);
    assert_string_equal(ctx->message.text, "3 rows");
    hy_message_clear(&ctx->message);
    assert_string_equal(ctx->message.text, "");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    hy_fail(ctx, HYBRID_BAD_SHAPE, "%s", text);
    assert_int_equal(strlen(ctx->message.text), HY_MESSAGE_BYTES - 1);
}

static void copies_past_the_caches_copy_all(void **state)
{
    enum { MOST = 9000 };
    static unsigned char from[MOST + 64], to[MOST + 64];

    (void)state;
    for (int i = 0; i < MOST + 64; i++)
        from[i] = (unsigned char)(i * 37 + i / 251);
    for (size_t bytes = 0; bytes < MOST; bytes += bytes < 40 ? 1 : 613)
        for (size_t shift = 0; shift < 17; shift += 5) {
            memset(to, 0xee, sizeof to);
            hy_copy_past(to + shift, from + 3, bytes);
            assert_memory_equal(to + shift, from + 3, bytes);
            assert_int_equal(to[shift + bytes], 0xee);
            assert_true(shift == 0 || to[shift - 1] == 0xee);
        }
}

static void rows_past_the_caches_are_copied_whole(void **state)
{
    enum { ROWS = 90, FROM = 320, TO = 384 };
    static unsigned char from[ROWS * FROM];
    static _Alignas(64) unsigned char to[ROWS * TO + 64];
    static const size_t steps[] = {330, TO};

    (void)state;
    for (int i = 0; i < ROWS * FROM; i++)
        from[i] = (unsigned char)(i * 29 + i / 253);
    for (size_t bytes = 0; bytes <= FROM; bytes += bytes % 64 == 48 ? 16 : 12)
        for (size_t k = 0; k < 2 * 16; k++) {
            const size_t shift = k / 2 * 4, step = steps[k % 2];
            memset(to, 0xee, sizeof to);
            hy_copy_rows_past(to + shift, step, from, FROM, bytes, ROWS);
            for (size_t i = 0; i < shift; i++)
                assert_int_equal(to[i], 0xee);
            for (size_t i = 0; i < ROWS; i++) {
                const unsigned char *row = to + shift + i * step;
                assert_memory_equal(row, from + i * FROM, bytes);
                for (size_t j = bytes; j < step && row + j < to + sizeof to; j++)
                    assert_int_equal(row[j], 0xee);
            }
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_four_workers, close_context)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_past_the_caches_copy_all),
        cmocka_unit_test(rows_past_the_caches_are_copied_whole),
        TEST(meter_counts_up_to_its_cap),
        TEST(meter_is_exact_when_shared),
        TEST(array_is_aligned_and_counted),
        TEST(empty_array_is_null),
        TEST(sizes_that_overflow_are_refused),
        TEST(cap_is_kept_and_named),
        TEST(kept_results_make_room),
        TEST(each_failure_happens_once),
        TEST(freed_arrays_are_resident_no_more),
        TEST(callers_allocator_is_used),
        TEST(first_sentence_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
