/* tests/unit/io/test_number_kind.c - kinds of numbers in files, and their conversion. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "io/numbers/number_kind.h"

enum { MANY = 3000 }; /* more numbers than a piece */

static hy_number_kind kind_of(const char *descr)
{
    hy_number_kind kind;

    assert_true(hy_kind_of_descr(descr, &kind));
    return kind;
}

static void descriptions_are_understood(void **state)
{
    static const char *const bad[]  = {"",    "<",    "<f",  "f8",  "<f1", "<f16", "<c8",
                                       "<f3", "<i16", "|i4", "<b4", "|O",  "=f8",  "<f88"};
    static const char *const good[] = {"<f8", ">f4", "<f2", "|b1", "|u1", ">i8", "<u2"};
    static const hy_number_kind kinds[] = {
        {HY_FLOAT, 8, 0},    {HY_FLOAT, 4, 1},  {HY_FLOAT, 2, 0},   {HY_UNSIGNED, 1, 0},
        {HY_UNSIGNED, 1, 0}, {HY_SIGNED, 8, 1}, {HY_UNSIGNED, 2, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hy_number_kind kind;
        if (hy_kind_of_descr(bad[i], &kind))
            fail_msg("'%s' is accepted", bad[i]);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(hy_same_kind(kind_of(good[i]), kinds[i]));
}

/* Writes a whole number in any kind, byte by byte. Floats of 2 bytes hold 0 to 2048. */
static void put(hy_number_kind kind, int64_t value, unsigned char *to)
{
    uint64_t bits = (uint64_t)value;

    if (kind.is == HY_FLOAT && kind.size == 8) {
        const double x = (double)value;
        memcpy(&bits, &x, 8);
    } else if (kind.is == HY_FLOAT && kind.size == 4) {
        const float x = (float)value;
        uint32_t four;
        memcpy(&four, &x, 4);
        bits = four;
    } else if (kind.is == HY_FLOAT) {
        int exponent;
        const double x = frexp((double)value, &exponent);
        bits           = value == 0
                             ? 0
                             : (uint64_t)(exponent + 14) << 10 | ((uint64_t)(x * 2048) & 1023);
    }
    for (int i = 0; i < kind.size; i++)
        to[kind.big_endian ? kind.size - 1 - i : i] = (unsigned char)(bits >> 8 * i);
}

/* Small whole numbers are converted exactly from each kind, in both byte orders, from an
   address that is not aligned. */
static void whole_numbers_survive_all_kinds(void **state)
{
    static const char *const names[] = {"f2", "f4", "f8", "i1", "i2", "i4",
                                        "i8", "u1", "u2", "u4", "u8", "b1"};
    static unsigned char from[1 + 8 * MANY];
    static double wide[MANY];
    static float narrow[MANY];
    static int64_t long_index[MANY];
    static int32_t index[MANY];

    (void)state;
    for (int k = 0; k < 24; k++) {
        const char descr[] = {k & 1 ? '>' : '<', names[k / 2][0], names[k / 2][1], 0};
        const hy_number_kind kind = kind_of(descr);
        const int64_t limit       = kind.size == 1 ? 128 : 2049;
        const int64_t sign        = kind.is == HY_SIGNED ? -1 : 1;
        const int64_t fits        = kind.is == HY_FLOAT ? 0 : MANY;
        for (int64_t i = 0; i < MANY; i++)
            put(kind, sign * (i % limit), from + 1 + i * kind.size);
        assert_int_equal(hy_convert_values(kind, from + 1, MANY, HYBRID_F64, wide), MANY);
        assert_int_equal(hy_convert_values(kind, from + 1, MANY, HYBRID_F32, narrow),
                         MANY);
        assert_int_equal(hy_convert_indices(kind, from + 1, MANY, HYBRID_I32, index),
                         fits);
        assert_int_equal(hy_convert_indices(kind, from + 1, MANY, HYBRID_I64, long_index),
                         fits);
        for (int64_t i = 0; i < MANY; i++) {
            const int64_t value = sign * (i % limit);
            assert_true(wide[i] == (double)value && narrow[i] == (float)value);
            assert_true(!fits || (index[i] == value && long_index[i] == value));
        }
    }
}

/* A conversion returns the position of the first number that does not fit the wanted
   type, also if it lies behind the first piece of numbers. */
static void numbers_that_do_not_fit_are_told(void **state)
{
    static int64_t long_index[MANY];
    static double wide[MANY];
    static float narrow[MANY];
    static int32_t index[MANY];
    const hy_number_kind i8 = kind_of("<i8"), u8 = kind_of("<u8"), f8 = kind_of("<f8");

    (void)state;
    for (int64_t at = 0; at < MANY; at += 1499) {
        long_index[at] = INT64_C(1) << 31;
        wide[at]       = -1e39;
        assert_int_equal(hy_convert_indices(i8, long_index, MANY, HYBRID_I32, index), at);
        long_index[at] = INT64_MIN;
        assert_int_equal(hy_convert_indices(u8, long_index, MANY, HYBRID_I64, wide), at);
        assert_int_equal(hy_convert_values(f8, wide, MANY, HYBRID_F32, narrow), at);
        memset(long_index, 0, sizeof long_index);
        memset(wide, 0, sizeof wide);
    }
    wide[0] = INFINITY;
    assert_int_equal(hy_convert_values(f8, wide, MANY, HYBRID_F32, narrow), MANY);
    assert_true(isinf(narrow[0]));
    long_index[5] = -1;
    assert_int_equal(hy_convert_values(u8, long_index, 6, HYBRID_F64, wide), 6);
    assert_true(wide[5] == 18446744073709551616.0);
}

/* Converts subnormal, infinite and other special floats of 16 bits. */
static void halves_are_right(void **state)
{
    static const uint16_t bits[] = {0x0001, 0x03ff, 0x0400, 0x3c00, 0x7bff,
                                    0xc000, 0x7c00, 0xfc00, 0x8000};
    static const double value[]  = {0x1p-24, 0x1.ff8p-15, 0x1p-14,   1,   65504,
                                    -2,      INFINITY,    -INFINITY, -0.0};
    const uint16_t nan           = 0x7e00;
    double out[9];

    (void)state;
    assert_int_equal(hy_convert_values(kind_of("<f2"), bits, 9, HYBRID_F64, out), 9);
    assert_memory_equal(out, value, sizeof value);
    assert_int_equal(hy_convert_values(kind_of("<f2"), &nan, 1, HYBRID_F64, out), 1);
    assert_true(isnan(out[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptions_are_understood),
        cmocka_unit_test(whole_numbers_survive_all_kinds),
        cmocka_unit_test(numbers_that_do_not_fit_are_told),
        cmocka_unit_test(halves_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
