/* io/text/number.c - reads decimal numbers quickly and rounds them correctly.

   A number w * 10^e, where w has 64 bits, is computed by multiplying w by the leading 128
   bits of 10^e. These are cut off, so the leading 128 bits of the result are too small by
   less than 2 in the last place. Rounding them to 53 bits rounds the number correctly,
   unless they lie on, or just below, the middle between two values. Then, and if the
   result is not a normal number, strtod() decides. The idea is from D. Lemire, Number
   parsing at a gigabyte per second, 2021. */
#include "io/text/number.h"

#include <stdlib.h>
#include <strings.h>

__extension__ typedef unsigned __int128 wide;

enum { MAX_DIGITS = 19 }; /* maximum decimal digits that always fit 64 bits */

static int is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Returns the exponent of the leading bit of 10^e: e * log2(10), rounded down. */
static int exponent_of_10(int e)
{
    return (217706 * e) >> 16;
}

/* Sets *value to w * 10^e, correctly rounded; w > 0. Returns 0, and leaves *value, if 128
   bits do not decide the rounding, or if e or the result is out of range; the caller then
   uses strtod(). */
static inline int scale(const hy_numbers *numbers, uint64_t w, int64_t e, double *value)
{
    if (e < HY_MIN_POWER || e > HY_MAX_POWER)
        return 0;
    const int zeros     = __builtin_clzll(w);
    const uint64_t high = numbers->high[e - HY_MIN_POWER];
    const uint64_t low  = numbers->low[e - HY_MIN_POWER];
    const wide product  = (wide)(w << zeros) * high + ((wide)(w << zeros) * low >> 64);

    const uint64_t x = (uint64_t)(product >> 64), tail = (uint64_t)product;
    const int top   = (int)(x >> 63); /* the leading bit of x is bit 62 + top */
    const int shift = 10 + top;       /* number of bits to drop, so that 53 bits
                                         remain */
    const uint64_t half = (uint64_t)1 << (shift - 1), rest = x & (2 * half - 1);
    if ((rest == half && tail == 0) || (rest == half - 1 && tail == UINT64_MAX))
        return 0;

    const int exponent = 1023 + 63 + top - zeros + exponent_of_10((int)e);
    if (exponent < 1 || exponent > 2046)
        return 0;
    /* The leading one of the 53 bits adds 1 to the exponent. Rounding may carry into
       it. */
    const uint64_t bits =
        ((uint64_t)(exponent - 1) << 52) + (x >> shift) + (rest >= half);
    memcpy(value, &bits, sizeof bits);
    return 1;
}

/* Appends the digits at `p` to w, modulo 2^64. Returns the end of the digits. After eight
   digits the next eight are loaded without waiting for their count. */
static inline const char *take_digits(const char *p, uint64_t *w)
{
    static const uint64_t power10[] = {1,     10,     100,     1000,
                                       10000, 100000, 1000000, 10000000};
    uint64_t x = hy_load8(p), sum = *w;
    int n;

    for (; (n = hy_count_digits(x)) == 8; x = hy_load8(p)) {
        sum = sum * 100000000 + hy_digits_value(x, 8);
        p += 8;
    }
    *w = sum * power10[n] + hy_digits_value(x, n);
    return p + n;
}

/* Sets *w, which must be 0, to the digits before a point; faster than take_digits() if
   there is only one. Returns the end of the digits. */
static inline const char *take_whole(const char *p, uint64_t *w)
{
    if (!is_digit(p[0]) || p[1] != '.')
        return take_digits(p, w);
    *w = (uint64_t)(p[0] - '0');
    return p + 1;
}

static int64_t significant_digits(const char *p, const char *end)
{
    int64_t count = 0;

    while (p < end && (*p == '0' || *p == '.'))
        p++;
    for (; p < end; p++)
        count += *p != '.';
    return count;
}

/* Adds the exponent at `p`, behind the letter e, to *e. The exponent is limited to values
   that are certainly infinite or 0 for a mantissa of fewer than 10^17 digits. Returns its
   end, or NULL if there are no digits. */
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

/* Returns the first MAX_DIGITS significant digits of the mantissa [p, end), which has
   more. Each omitted digit adds 1 to *e. */
static uint64_t leading_digits(const char *p, const char *end, int64_t *e)
{
    uint64_t w = 0;
    int count  = 0;

    for (; p < end; p++) {
        if (*p == '.')
            continue;
        if (count < MAX_DIGITS)
            w = w * 10 + (uint64_t)(*p - '0');
        else
            ++*e;
        count += count > 0 || *p != '0';
        count = count > MAX_DIGITS ? MAX_DIGITS : count;
    }
    return w;
}

/* Does the work of scale() for a mantissa with more than MAX_DIGITS digits, which is cut
   off: if it and the next larger one round to the same value, so do all numbers between
   them. */
static int scale_long(const hy_numbers *numbers, const char *first, const char *mantissa,
                      int64_t e, double *value)
{
    const uint64_t w = leading_digits(first, mantissa, &e);
    double next;

    return scale(numbers, w, e, value) && scale(numbers, w + 1, e, &next) &&
           *value == next;
}

const char *hy_parse_real(const char *p, const hy_numbers *numbers, double *value)
{
    const double sign = *p == '-' ? -1 : 1;
    uint64_t w        = 0;
    int64_t e         = 0;
    const char *first = p + (*p == '-' || *p == '+');
    const char *end   = take_whole(first, &w);
    int64_t digits    = end - first;
    double size;
    int done;

    if (*end == '.') {
        const char *point = end;
        end               = take_digits(point + 1, &w);
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
    if (fits && (w == 0 || e == 0)) {
        size = (double)w;
        done = 1;
    } else if (fits) {
        done = scale(numbers, w, e, &size);
    } else {
        done = scale_long(numbers, first, mantissa, e, &size);
    }
    *value = sign * (done ? size : strtod_l(first, NULL, numbers->c));
    return end;
}

const char *hy_parse_int(const char *p, int64_t *value)
{
    const int negative = *p == '-';
    uint64_t w         = 0;
    const char *first  = p + (*p == '-' || *p == '+');
    const char *end    = take_digits(first, &w);

    if (end == first)
        return NULL;
    if (w > INT64_MAX ||
        (end - first > MAX_DIGITS && significant_digits(first, end) > MAX_DIGITS))
        w = INT64_MAX;
    *value = negative ? -(int64_t)w : (int64_t)w;
    return end;
}
