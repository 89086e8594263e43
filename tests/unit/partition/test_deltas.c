/* tests/unit/partition/test_deltas.c - delta-coded columns of C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "partition/move/deltas.h"
#include "support/check/deltas.h"
#include "support/check/poison.h"

enum { MOST = 5 * HY_DELTA_FRAME };

static int32_t numbers[MOST];

/* Checks that each frame (1024 numbers coded together) decodes to the right numbers,
   with and without vector instructions. */
static void unpacks(const void *packed, int64_t count)
{
    int32_t out[HY_DELTA_FRAME], plain[HY_DELTA_FRAME];

    for (int64_t f = 0; f < hy_deltas_frames(count); f++) {
        const int64_t first = f * HY_DELTA_FRAME, left = count - first;
        const size_t here = (size_t)(left < HY_DELTA_FRAME ? left : HY_DELTA_FRAME);
        hy_deltas_decode(packed, count, f, out);
        hy_deltas_decode_plainly(packed, count, f, plain);
        assert_memory_equal(out, numbers + first, here * sizeof *out);
        assert_memory_equal(out, plain, sizeof out);
    }
}

static void passes(int64_t count)
{
    const size_t room   = hy_deltas_bound(count) + HY_DELTA_BEHIND;
    void *packed        = poison_block(room);
    const int64_t units = deltas_pack(numbers, count, packed);
    const size_t bytes  = hy_deltas_bytes(count, units);

    assert_true(bytes <= hy_deltas_bound(count));
    assert_true(poison_intact(packed, bytes, room));
    unpacks(packed, count);
    free(packed);
}

static void every_length_of_list(void **state)
{
    static const int64_t counts[] = {0,    1,    3,    4,    5,    255,      256, 1023,
                                     1024, 1025, 2047, 2048, 2050, MOST - 1, MOST};

    (void)state;
    deltas_fill(1, 10, 77, numbers, MOST);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        passes(counts[i]);
}

static void every_length_of_difference(void **state)
{
    (void)state;
    for (int bits = 0; bits <= 31; bits++) {
        deltas_fill((uint64_t)bits + 5, bits, 0, numbers, MOST);
        passes(MOST);
        deltas_fill((uint64_t)bits + 5, bits, 50, numbers, MOST);
        passes(MOST - 3);
    }
}

/* Large and small numbers alternate, so that each difference takes four bytes. The coded
   bytes then reach hy_deltas_bound(). */
static void the_most_that_can_be(void **state)
{
    void *packed = poison_block(hy_deltas_bound(MOST) + HY_DELTA_BEHIND);

    (void)state;
    for (int64_t k = 0; k < MOST; k++)
        numbers[k] = k % 2 == 0 ? INT32_MAX : INT32_MAX / 3;
    const int64_t units = deltas_pack(numbers, MOST, packed);
    assert_int_equal(hy_deltas_bytes(MOST, units), hy_deltas_bound(MOST));
    unpacks(packed, MOST);
    free(packed);
}

/* Columns that differ by less than 256, as in a row of a stencil matrix, take 1.25 bytes
   each. */
static void neighbours_take_a_byte(void **state)
{
    void *packed = poison_block(hy_deltas_bound(MOST) + HY_DELTA_BEHIND);

    (void)state;
    for (int32_t k = 0; k < MOST; k++)
        numbers[k] = 1000000 + 2 * k;
    const int64_t units = deltas_pack(numbers, MOST, packed);
    assert_in_range(units * HY_DELTA_UNIT, MOST * 5 / 4, MOST * 5 / 4 + 5 * 32);
    free(packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_of_list),
        cmocka_unit_test(every_length_of_difference),
        cmocka_unit_test(the_most_that_can_be),
        cmocka_unit_test(neighbours_take_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
