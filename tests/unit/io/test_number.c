/* tests/unit/io/test_number.c - numbers are read with the bits that strtod() gives. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/text/number.h"
#include "tests/support/engines/io_fixture.h"
#include "tests/support/inputs/random.h"

enum { TEXT_BYTES = 1500 };

static hy_context *ctx;
static hy_numbers *numbers;
static uint64_t state64 = 1;

static uint64_t next(void)
{
    const uint64_t random = random_next(&state64);
    return random ^ random >> 29;
}

/* Compares with strtod(), with three different characters after the number. */
static void check(const char *text)
{
    const size_t length = strlen(text), all = length + 1 + HY_TEXT_PAD;
    char *padded = malloc(all); /* no larger, so that sanitizers notice reads beyond it */
    double value = 0;

    assert_non_null(padded);
    const double want = strtod(text, NULL);
    for (int i = 0; i < 3; i++) {
        memset(padded, "9.e"[i], all); /* characters behind the end of the number must be
                                          ignored */
        memcpy(padded, text, length);
        memcpy(padded + length, &"\0 \n"[i], 1);
        const char *end = hy_parse_real(padded, numbers, &value);
        if (end != padded + length || memcmp(&value, &want, sizeof value) != 0)
            fail_msg("'%s' gives %a, not %a", text, value, want);
    }
    free(padded);
}

static double random_value(void)
{
    const uint64_t x = next();
    double value;

    memcpy(&value, &x, sizeof value);
    return isfinite(value) ? value : 1;
}

/* Tries random 64-bit values, with 1 to 26 digits. */
static void random_bits(void **state)
{
    char text[TEXT_BYTES];
    (void)state;

    for (int i = 0; i < 200000; i++) {
        snprintf(text, sizeof text, "%.*e", i % 26, random_value());
        check(text);
    }
}

/* Tries random digits before and after the point, with and without exponent. */
static void random_digits(void **state)
{
    char text[TEXT_BYTES];
    (void)state;

    for (int i = 0; i < 200000; i++) {
        const uint64_t x = next(), y = next();
        const int sign   = (int)(y & 1);
        const int length = snprintf(text, sizeof text, "%s%llu.%0*llu", sign ? "-" : "",
                                    (unsigned long long)(x >> (x % 64)),
                                    (int)(y >> 1 & 15), /* number of leading zeros */
                                    (unsigned long long)(y >> (y % 64)));
        if (y & 32)
            snprintf(text + length, sizeof text - (size_t)length, "%c%s%d",
                     y & 64 ? 'e' : 'E', y & 128 ? "+" : "",
                     (int)(y >> 8 & 1023) - (y & 128 ? 0 : 512));
        check(text);
    }
}

/* Tries the exact middle of two neighbouring values, and numbers slightly above and below
   it. */
static void halfway(void **state)
{
    char text[TEXT_BYTES];
    (void)state;

    for (int i = 0; i < 20000; i++) {
        const double value = i % 2 ? fabs(random_value())
                                   : ldexp((double)(next() >> 11 | 1), i % 120 - 60);
        if (value == 0 || nextafter(value, INFINITY) > DBL_MAX)
            continue;
        const long double middle =
            ((long double)value + (long double)nextafter(value, INFINITY)) / 2;
        const int length = snprintf(text, sizeof text, "%.*Le", 900, middle);
        check(text);
        assert_true(length > 902 && text[1] == '.');
        char *last = text + 902 - 1;
        *last      = '1'; /* makes the number slightly larger than the middle */
        check(text);
        for (char *p = last; p > text; p--) { /* makes the number slightly smaller than
                                                 the middle */
            if (*p == '.')
                continue;
            if (p == last || *p == '0') {
                *p = '9';
            } else {
                --*p;
                break;
            }
        }
        check(text);
    }
}

/* Integers of 54 bits and more, some of which lie in the middle of two values, are read
   as strtod() reads them. */
static void large_integers(void **state)
{
    char text[TEXT_BYTES];
    (void)state;

    for (int i = 0; i < 100000; i++) {
        const uint64_t x = next();
        snprintf(text, sizeof text, "%llu", (unsigned long long)(x >> 10 | 1));
        check(text);
        snprintf(text, sizeof text, "-%llu5e-1", (unsigned long long)(x >> 11));
        check(text);
        snprintf(text, sizeof text, "%llu.%0*d", (unsigned long long)(x >> 10 | 1),
                 i % 12 + 1, 0);
        check(text);
    }
}

/* Tries all powers in the table and beyond, with mantissas of one to 20 digits. */
static void all_powers(void **state)
{
    static const char *const mantissas[] = {
        "1",
        "9",
        "17976931348623157",
        "17976931348623159",
        "22250738585072014",
        "49406564584124654",
        "24703282292062327",
        "9007199254740993",
        "9223372036854775807",
        "9999999999999999999",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999",
    };
    char text[TEXT_BYTES];
    (void)state;

    for (size_t i = 0; i < sizeof mantissas / sizeof *mantissas; i++)
        for (int e = -400; e <= 400; e++) {
            snprintf(text, sizeof text, "%se%d", mantissas[i], e);
            check(text);
        }
    for (int e = HY_MIN_POWER - 20; e <= HY_MAX_POWER + 20; e++)
        for (int i = 0; i < 200; i++) {
            snprintf(text, sizeof text, "%llue%d", (unsigned long long)(next() >> i % 60),
                     e);
            check(text);
        }
}

static void subnormals(void **state)
{
    char text[TEXT_BYTES];
    (void)state;

    for (int i = 0; i < 20000; i++) {
        const uint64_t bits = next() >> (12 + i % 52);
        double value;
        memcpy(&value, &bits, sizeof value);
        snprintf(text, sizeof text, "%.*e", i % 30, value);
        check(text);
        snprintf(text, sizeof text, "-%.1100f", value);
        check(text);
    }
}

/* Tries leading and trailing zeros that do not change the value, also in exponents. */
static void many_zeros(void **state)
{
    char text[TEXT_BYTES], zeros[600];
    (void)state;

    memset(zeros, '0', sizeof zeros);
    for (int i = 0; i < 500; i++) {
        const unsigned long long x = (unsigned long long)(next() >> i % 64);
        snprintf(text, sizeof text, "%.*s%llu", i, zeros, x);
        check(text);
        snprintf(text, sizeof text, "%.*s.%.*s%llu", i, zeros, i + 1, zeros, x);
        check(text);
        snprintf(text, sizeof text, "%llu%.*s.%.*se-%d", x, i, zeros, i, zeros, i);
        check(text);
        snprintf(text, sizeof text, ".%llu%.*s1e%.*s%d", x, i, zeros, i, zeros, i % 40);
        check(text);
        snprintf(text, sizeof text, "0.%.*s%llue%d", i, zeros, x, i);
        check(text);
    }
}

static void special(void **state)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "+0.0",
        "0e999999999999999999999",
        "1e999999999999999",
        "-1e400",
        "1e-400",
        "-1e-400",
        "1e-99999999999999999999",
        "inf",
        "-Inf",
        "INFINITY",
        "+5",
        "5.",
        ".5",
        "-.5e+1",
        "1e308",
        "2e308",
        "1.7976931348623158e308",
        "5e-324",
        "2e-324",
        "3e-324",
        "2.4703282292062327e-324",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "12345678",
        "123456789",
        "1234567.8",
        "12345678.12345678",
        "123456789012345678901234567890",
        "0.1234567890123456789012345678901234567890",
        "9007199254740993.0000000000000000000000000000000000000000000000000000000000001",
        "9007199254740992.9999999999999999999999999999999999999999999999999999999999999",
    };
    (void)state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check(texts[i]);
}

static void not_numbers(void **state)
{
    static const char *const texts[] = {"",    "-", "+",   ".",  "-.",   "e5", "1e",
                                        "1e+", "x", "--1", " 1", "1.e-", "/1", ":1"};
    char padded[16 + HY_TEXT_PAD]    = {0};
    double value;
    (void)state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        memset(padded, 0, sizeof padded);
        memcpy(padded, texts[i], strlen(texts[i]));
        if (hy_parse_real(padded, numbers, &value))
            fail_msg("'%s' is a number", texts[i]);
    }
}

/* Digits end at any other character, at each position among eight, whatever follows. */
static void digits_end(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++)
        for (int at = 0; at < 8; at++)
            for (int after = 0; after < 256; after += 51) {
                char text[8];
                uint64_t want = 0;
                memset(text, after, sizeof text);
                for (int i = 0; i < at; i++) {
                    text[i] = (char)('1' + i);
                    want    = want * 10 + (uint64_t)i + 1;
                }
                text[at] = (char)c;
                if (c >= '0' && c <= '9')
                    continue;
                assert_int_equal(hy_count_digits(hy_load8(text)), at);
                assert_int_equal(hy_digits_value(hy_load8(text), at), want);
            }
    assert_int_equal(hy_count_digits(hy_load8("90817263")), 8);
    assert_int_equal(hy_digits_value(hy_load8("90817263"), 8), 90817263);
}

static void integers(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {"12345678", 12345678},
        {"123456789", 123456789},
        {"-1234567890123456", -1234567890123456},
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775808", INT64_MAX},
        {"-9223372036854775807", -INT64_MAX},
        {"18446744073709551617", INT64_MAX},
        {"99999999999999999999999", INT64_MAX},
        {"000000000000000000000000000000012", 12},
    };
    char padded[64 + HY_TEXT_PAD];
    (void)state;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int64_t value = -1;
        memset(padded, 0, sizeof padded);
        memcpy(padded, good[i].text, strlen(good[i].text));
        assert_ptr_equal(hy_parse_int(padded, &value), padded + strlen(good[i].text));
        assert_int_equal(value, good[i].value);
    }
    memset(padded, 0, sizeof padded);
    padded[0]     = '-';
    int64_t value = -1;
    assert_null(hy_parse_int(padded, &value));
}

static int open_all(void **state)
{
    (void)state;
    ctx = io_open(1);
    return hy_numbers_open(ctx, &numbers) != HYBRID_OK;
}

static int close_all(void **state)
{
    (void)state;
    hy_numbers_close(ctx, numbers);
    io_close(ctx);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_bits), cmocka_unit_test(random_digits),
        cmocka_unit_test(halfway),     cmocka_unit_test(large_integers),
        cmocka_unit_test(all_powers),  cmocka_unit_test(subnormals),
        cmocka_unit_test(many_zeros),  cmocka_unit_test(special),
        cmocka_unit_test(not_numbers), cmocka_unit_test(digits_end),
        cmocka_unit_test(integers),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
