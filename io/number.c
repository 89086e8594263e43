/* io/number.c - correctly rounded decimal numbers, quickly.

   A number w * 10^e with w < 10^19 and |e| <= 27 is one product or one quotient of
   64-bit integers, exact in 128 bits up to the remainder, and then rounded once.
   Everything else is left to strtod(). */
#include "io/number.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 wide;

enum { MAX_POWER = 27, MAX_DIGITS = 19 };

static const uint64_t power5[MAX_POWER + 1] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u,
};

static int is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* 2^e for normal results. */
static double power2(int e)
{
    const uint64_t bits = (uint64_t)(1023 + e) << 52;
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static int bit_length(wide x)
{
    const uint64_t high = (uint64_t)(x >> 64);
    return high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)x);
}

/* x * 2^e, x > 0, rounded to nearest, ties to even. */
static double round_wide(wide x, int e)
{
    const int shift = bit_length(x) - 53;
    if (shift <= 0)
        return (double)(uint64_t)x * power2(e);

    uint64_t m      = (uint64_t)(x >> shift);
    const wide rest = x & (((wide)1 << shift) - 1);
    const wide half = (wide)1 << (shift - 1);
    if (rest > half || (rest == half && (m & 1)))
        m++;
    return (double)m * power2(shift + e);
}

/* w * 10^e for w > 0, |e| <= MAX_POWER. */
static double scale(uint64_t w, int e)
{
    if (e >= 0)
        return round_wide((wide)w * power5[e], e);

    uint64_t d        = power5[-e];
    const int shift_w = __builtin_clzll(w), shift_d = __builtin_clzll(d);
    w <<= shift_w;
    d <<= shift_d;
    const wide x = (wide)w << 63;
    const wide q = x / d; /* 2^62 or more: its last bit may stand for the remainder */
    return round_wide(q | (q * d != x), e - 63 - shift_w + shift_d);
}

static const char *skip_digits(const char *p, uint64_t *w)
{
    uint64_t x = *w;

    for (; is_digit(*p); p++)
        x = x * 10 + (uint64_t)(*p - '0');
    *w = x;
    return p;
}

static int64_t significant_digits(const char *p, const char *end)
{
    int64_t count = 0;

    while (p < end && (*p == '0' || *p == '.'))
        p++;
    for (; p < end && (is_digit(*p) || *p == '.'); p++)
        count += *p != '.';
    return count;
}

/* Exponent at `p`, behind the e; limited to what is certainly infinite or 0 for a
   mantissa of fewer than 10^17 digits. */
static const char *parse_exponent(const char *p, int64_t *e)
{
    const int negative = *p == '-';
    int64_t x          = 0;

    p += *p == '-' || *p == '+';
    if (!is_digit(*p))
        return NULL;
    for (; is_digit(*p); p++)
        if (x < 100000000000000000)
            x = x * 10 + (*p - '0');
    *e += negative ? -x : x;
    return p;
}

static const char *parse_word(const char *p, double sign, double *value)
{
    const int is_inf = strncasecmp(p, "inf", 3) == 0;

    if (!is_inf && strncasecmp(p, "nan", 3) != 0)
        return NULL;
    *value =
        is_inf ? sign * __builtin_inf() : __builtin_copysign(__builtin_nan(""), sign);
    return p + (is_inf && strncasecmp(p, "infinity", 8) == 0 ? 8 : 3);
}

const char *hy_parse_real(const char *p, locale_t c, double *value)
{
    const double sign = *p == '-' ? -1 : 1;
    uint64_t w        = 0;
    int64_t e         = 0;
    const char *first = p + (*p == '-' || *p == '+');
    const char *end   = skip_digits(first, &w);
    int64_t digits    = end - first;

    if (*end == '.') {
        const char *point = end;
        end               = skip_digits(point + 1, &w);
        e                 = point + 1 - end;
        digits -= e;
    }
    if (digits == 0)
        return parse_word(first, sign, value);
    const char *mantissa = end;
    if ((*end == 'e' || *end == 'E') && !(end = parse_exponent(end + 1, &e)))
        return NULL;

    const int fits =
        digits <= MAX_DIGITS || significant_digits(first, mantissa) <= MAX_DIGITS;
    if (fits && (w == 0 || e == 0))
        *value = sign * (double)w;
    else if (fits && e >= -MAX_POWER && e <= MAX_POWER)
        *value = sign * scale(w, (int)e);
    else
        *value = sign * strtod_l(first, NULL, c);
    return end;
}

const char *hy_parse_int(const char *p, int64_t *value)
{
    const int negative = *p == '-';
    uint64_t w         = 0;
    const char *first  = p + (*p == '-' || *p == '+');
    const char *end    = skip_digits(first, &w);

    if (end == first)
        return NULL;
    if (w > INT64_MAX ||
        (end - first > MAX_DIGITS && significant_digits(first, end) > MAX_DIGITS))
        w = INT64_MAX;
    *value = negative ? -(int64_t)w : (int64_t)w;
    return end;
}
