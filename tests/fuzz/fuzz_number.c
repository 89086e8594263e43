/* tests/fuzz/fuzz_number.c - every value is written with the fewest digits from which it
   can be read back.

   The oracle is the C library: strtod() and strtof() read the text, and snprintf() with
   one digit less must give another value. With HYBRID_LIBFUZZER this is a target of
   libFuzzer that takes bit patterns. Otherwise it is a program that tries random bits and
   values with few digits, the same on every run; `fuzz_number all` tries every 32-bit
   value. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/number.h"
#include "tests/support/engines/io_fixture.h"
#include "tests/support/inputs/random.h"

static hy_context *ctx;
static hy_numbers *numbers;

static void fail(const char *text, double value, const char *what)
{
    fprintf(stderr, "%a is written as '%s', which %s\n", value, text, what);
    abort();
}

/* Returns the number of significant digits of the mantissa: without leading and trailing
   zeros. */
static int significant_digits(const char *text)
{
    int count = 0, zeros = 0;

    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (count == 0 && *text == '0'))
            continue;
        zeros = *text == '0' ? zeros + 1 : 0;
        count++;
    }
    return count - zeros;
}

/* Returns 1 if the bits are equal or both are NaN. */
static int is_same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static double read_back(const char *text, hybrid_type type)
{
    return type == HYBRID_F64 ? strtod(text, NULL) : (double)strtof(text, NULL);
}

static void check_shortest(const char *text, double value, hybrid_type type)
{
    const int digits = significant_digits(text);
    char shorter[64];

    /* not checked: whole numbers below 2^53 keep all their digits, so that they remain
       integers */
    if (digits < 2 || (fabs(value) < 0x1p53 && value == trunc(value)))
        return;
    snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
    if (is_same(read_back(shorter, type), value))
        fail(text, value, "is not the shortest");
}

/* Fails unless the text is closest to the value among all texts with the same number of
   digits. */
static void check_closest(const char *text, double value, hybrid_type type)
{
    char closest[64];

    snprintf(closest, sizeof closest, "%.*e", significant_digits(text) - 1, value);
    if (is_same(read_back(closest, type), value) &&
        strtod(closest, NULL) != strtod(text, NULL))
        fail(text, value, "is not the closest");
}

static void check(double value, hybrid_type type, int thorough)
{
    char room[HY_NUMBER_ROOM + 1], *text = room;
    double ours = 0;

    memset(room, '#', sizeof room);
    char *end   = hy_write_real(text, value, type, numbers);
    const int n = (int)(end - text);
    if (room[HY_NUMBER_ROOM] != '#' || n < 1 || n > 24)
        fail("", value, "has no end");
    memset(end, 0, (size_t)(room + sizeof room - end));
    if (!is_same(read_back(text, type), value))
        fail(text, value, "reads back as something else");
    if (!thorough || !isfinite(value) || value == 0)
        return;
    char padded[HY_NUMBER_ROOM + 1 + HY_TEXT_PAD] = "";
    memcpy(padded, text, (size_t)n);
    if (hy_parse_real(padded, numbers, &ours) != padded + n || ours != strtod(text, NULL))
        fail(text, value, "the reader of files takes for something else");
    check_shortest(text, value, type);
    check_closest(text, value, type);
}

static void check_bits(uint64_t bits, int thorough)
{
    const uint32_t half = (uint32_t)(bits >> 32);
    double value;
    float small;

    memcpy(&value, &bits, sizeof value);
    memcpy(&small, &half, sizeof small);
    check(value, HYBRID_F64, thorough);
    check((double)small, HYBRID_F32, thorough);
}

static void open_numbers(void)
{
    if (ctx)
        return;
    ctx = io_open(1);
    if (hy_numbers_open(ctx, &numbers) != HYBRID_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    uint64_t bits;

    open_numbers();
    for (; bytes >= sizeof bits; data += sizeof bits, bytes -= sizeof bits) {
        memcpy(&bits, data, sizeof bits);
        check_bits(bits, 1);
    }
    return 0;
}

#ifndef HYBRID_LIBFUZZER

/* Checks `value`, a power of two or ten, and its two neighbours on each side. At a power
   of two the numbers that are rounded to the value do not lie symmetrically; at a power
   of ten the number of digits changes. */
static void check_around(double value)
{
    for (int i = -2; i <= 2; i++) {
        double near = value;
        float small = (float)value;
        for (int k = 0; k < abs(i); k++) {
            near  = nextafter(near, i < 0 ? -INFINITY : INFINITY);
            small = nextafterf(small, i < 0 ? -INFINITY : INFINITY);
        }
        check(near, HYBRID_F64, 1);
        check((double)small, HYBRID_F32, 1);
    }
}

static void check_edges(void)
{
    for (int e = -1074; e < 1024; e++)
        check_around(ldexp(1, e));
    for (int e = -323; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        check_around(strtod(text, NULL));
    }
    check_around(0);
    check_around(INFINITY);
    check(NAN, HYBRID_F64, 1);
    check(-NAN, HYBRID_F32, 1);
}

/* Returns a number with few decimal digits, made from random bits. */
static double few_digits(uint64_t random)
{
    char text[64];

    snprintf(text, sizeof text, "%s%llue%d", random & 1 ? "-" : "",
             (unsigned long long)(random >> 8) >> random % 56,
             (int)(random >> 1 & 31) - 20);
    return strtod(text, NULL);
}

static void check_all_f32(void)
{
    for (uint64_t bits = 0; bits >> 32 == 0; bits++) {
        const uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        check((double)value, HYBRID_F32, half % 64 == 0);
    }
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 100000;
    uint64_t random  = 3;

    open_numbers();
    check_edges();
    for (int i = 0; i < rounds; i++) {
        check_bits(random_next(&random), 1);
        check(few_digits(random_next(&random)), HYBRID_F64, 1);
        check((double)(float)few_digits(random_next(&random)), HYBRID_F32, 1);
    }
    if (argc > 1 && strcmp(argv[1], "all") == 0)
        check_all_f32();
    hy_numbers_close(ctx, numbers);
    io_close(ctx);
    return 0;
}
#endif
