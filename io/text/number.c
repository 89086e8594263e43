/* io/text/number.c - correctly rounded decimal numbers, quickly.

   w * 10^e, w of 64 bits, is the product of w and of the leading 128 bits of 10^e, which
   are cut off. So the 128 leading bits of the product are too small by less than 2 in the
   last place, and rounding them to 53 is rounding the number, unless they lie just on or
   just before the middle of two values. Then, and where the result is not a normal
   number, strtod() decides. The idea is that of Lemire, Number parsing at a gigabyte per
   second, 2021. */
#include "io/text/number.h"

#include <stdlib.h>
#include <strings.h>

__extension__ typedef unsigned __int128 wide;

enum { MAX_DIGITS = 19 }; /* fit 64 bits */

static int is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* The exponent of 10^e, of its leading bit: e * log2(10), rounded down. */
static int exponent_of_10(int e)
{
    return (217706 * e) >> 16;
}

/* w * 10^e for w > 0; returns 0 where that does not tell how to round. */
static inline int scale(const hy_numbers *numbers, uint64_t w, int64_t e, double *value)
{
    if (e < HY_LEAST_POWER || e > HY_MOST_POWER)
        return 0;
    const int zeros     = __builtin_clzll(w);
    const uint64_t high = numbers->high[e - HY_LEAST_POWER];
    const uint64_t low  = numbers->low[e - HY_LEAST_POWER];
    const wide product  = (wide)(w << zeros) * high + ((wide)(w << zeros) * low >> 64);

    const uint64_t x = (uint64_t)(product >> 64), tail = (uint64_t)product;
    const int top       = (int)(x >> 63); /* the leading bit is this one, or the next */
    const int shift     = 10 + top;       /* leaves 53 bits */
    const uint64_t half = (uint64_t)1 << (shift - 1), rest = x & (2 * half - 1);
    if ((rest == half && tail == 0) || (rest == half - 1 && tail == UINT64_MAX))
        return 0;

    const int exponent = 1023 + 63 + top - zeros + exponent_of_10((int)e);
    if (exponent < 1 || exponent > 2046)
        return 0;
    /* the leading bit of the 53 counts for 1 of the exponent; rounding may carry on */
    const uint64_t bits =
        ((uint64_t)(exponent - 1) << 52) + (x >> shift) + (rest >= half);
    memcpy(value, &bits, sizeof bits);
    return 1;
}

/* Append the digits at `p` to w, modulo 2^64. Returns where they end. Where eight of
   eight are digits the next ones are looked at without waiting for their number. */
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

/* The same for what stands before a point: one digit, mostly. */
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

/* The first MAX_DIGITS significant digits of the mantissa [p, end), which has more; those
   left out make e larger. */
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

/* More digits than fit: if the number without the others and the next one round to the
   same value, so does what lies between. */
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
