/* io/text/number_write.c - writes numbers as the shortest decimal text that reads back
   exactly.

   The algorithm is Schubfach: R. Giulietti, The Schubfach way to render doubles, 2020. A
   value v = c * 2^q is the only value of its type in the interval from (c - 1/2) * 2^q to
   (c + 1/2) * 2^q. With k = floor(log10(2^q)), the interval holds one or more multiples
   of 10^k and at most one multiple of 10^(k+1). The multiple of 10^(k+1) is the result if
   there is one, because it has a digit less. Otherwise the multiple of 10^k closest to v
   is.

   Four times v / 10^k and four times both ends of the interval are computed as 64-bit
   integers. Their last bit is set if digits were cut off ("rounding to odd"), so that
   comparing the integers compares the exact numbers. */
#include <math.h>
#include <string.h>

#include "io/text/number.h"

__extension__ typedef unsigned __int128 wide;

/* Marks a function that is compiled anew for each constant argument. */
#define SPECIALIZED static inline __attribute__((always_inline))

/* Number of decimal digits that tells all values of a type apart. */
enum { F64_DIGITS = 17, F32_DIGITS = 9 };

/* The number digits * 10^exponent; the last decimal digits of `digits` may be 0. */
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

/* ---- shortest digits --------------------------------------------------------------- */

static int floor_log2_power10(int e)
{
    return (e * 1741647) >> 19;
}

/* Returns floor(log10(2^q)) or, if `narrow`, floor(log10(3/4 * 2^q)). */
static int floor_log10(int q, int narrow)
{
    return (q * 1262611 - (narrow ? 524031 : 0)) >> 22;
}

/* Returns the leading 128 bits of 10^e, plus 1 in the last place. The proof of the
   algorithm requires a number above 10^e. For a float 64 bits are enough, and the lower
   half is 0. */
SPECIALIZED wide power_above(const hy_numbers *numbers, int e, int most_digits)
{
    const int at = e - HY_MIN_POWER;

    if (most_digits == F32_DIGITS)
        return (wide)(numbers->high[at] + 1) << 64;
    return ((wide)numbers->high[at] << 64 | numbers->low[at]) + 1;
}

/* Returns x * power / 2^128, with the last bit set if the quotient is not whole. For a
   float, x has 32 bits, and only the upper 32 bits behind the point are examined. */
SPECIALIZED uint64_t scale_to_odd(wide power, uint64_t x, int most_digits)
{
    const wide upper = (power >> 64) * x;

    if (most_digits == F32_DIGITS)
        return (uint64_t)(upper >> 64) | ((uint32_t)(upper >> 32) > 1);
    const wide all = upper + (uint64_t)((wide)(uint64_t)power * x >> 64);
    return (uint64_t)(all >> 64) | ((uint64_t)all > 1);
}

/* Finds the shortest decimal for c * 2^q. `narrow`: c is a power of two, and the next
   smaller value is only half as far away as the next larger one. */
SPECIALIZED decimal shortest(uint64_t c, int q, int narrow, const hy_numbers *numbers,
                             int most_digits)
{
    const int k      = floor_log10(q, narrow);
    const int shift  = q + floor_log2_power10(-k) + 1;
    const wide power = power_above(numbers, -k, most_digits);
    const uint64_t below =
        scale_to_odd(power, (4 * c - 2 + (uint64_t)narrow) << shift, most_digits);
    const uint64_t value = scale_to_odd(power, (4 * c) << shift, most_digits);
    const uint64_t above = scale_to_odd(power, (4 * c + 2) << shift, most_digits);
    /* an end of the interval belongs to it only if c is even */
    const uint64_t odd   = c & 1;
    const uint64_t least = below + odd, most = above - odd;
    const uint64_t digits = value / 4, tens = digits / 10;

    const int ten_fits = least <= 40 * tens, next_ten_fits = 40 * tens + 40 <= most;
    if (ten_fits != next_ten_fits)
        return (decimal){tens + (uint64_t)next_ten_fits, k + 1};
    const int fits = least <= 4 * digits, next_fits = 4 * digits + 4 <= most;
    if (fits != next_fits)
        return (decimal){digits + (uint64_t)next_fits, k};
    const uint64_t middle = 4 * digits + 2;
    return (decimal){digits + (value > middle || (value == middle && (digits & 1))), k};
}

/* Finds the shortest decimal for `value`, which is finite and not 0. */
static decimal shortest_f64(double value, const hy_numbers *numbers)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    const int exponent      = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    if (exponent == 0)
        return shortest(fraction, -1074, 0, numbers, F64_DIGITS);
    return shortest(fraction | (uint64_t)1 << 52, exponent - 1075,
                    fraction == 0 && exponent > 1, numbers, F64_DIGITS);
}

static decimal shortest_f32(float value, const hy_numbers *numbers)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    const int exponent      = (int)(bits >> 23 & 0xff);
    const uint32_t fraction = bits & (((uint32_t)1 << 23) - 1);
    if (exponent == 0)
        return shortest(fraction, -149, 0, numbers, F32_DIGITS);
    return shortest(fraction | (uint32_t)1 << 23, exponent - 150,
                    fraction == 0 && exponent > 1, numbers, F32_DIGITS);
}

/* ---- text -------------------------------------------------------------------------- */

/* Return the number of zeros before the first digit that is not 0, and behind the last
   one. Each byte of `digits` is a digit, the first one in the lowest byte; not all are
   0. */
static int zeros_before(uint64_t digits)
{
    return __builtin_ctzll(digits) / 8;
}

static int zeros_behind(uint64_t digits)
{
    return __builtin_clzll(digits) / 8;
}

/* Returns d with `most` decimal digits, made by appending zeros. */
SPECIALIZED decimal widen(decimal d, int most)
{
    static const uint64_t power10[] = {UINT64_C(1),
                                       UINT64_C(10),
                                       UINT64_C(100),
                                       UINT64_C(1000),
                                       UINT64_C(10000),
                                       UINT64_C(100000),
                                       UINT64_C(1000000),
                                       UINT64_C(10000000),
                                       UINT64_C(100000000),
                                       UINT64_C(1000000000),
                                       UINT64_C(10000000000),
                                       UINT64_C(100000000000),
                                       UINT64_C(1000000000000),
                                       UINT64_C(10000000000000),
                                       UINT64_C(100000000000000),
                                       UINT64_C(1000000000000000),
                                       UINT64_C(10000000000000000),
                                       UINT64_C(100000000000000000)};
    const int bits                  = 64 - __builtin_clzll(d.digits);
    /* number of decimal digits of d.digits, or one less */
    const int guess = (bits * 1233) >> 12;
    const int count = guess + (d.digits >= power10[guess]);

    return (decimal){d.digits * power10[most - count], d.exponent - (most - count)};
}

/* Writes `most` digits. Returns the number of digits without the zeros at the end. */
SPECIALIZED int put_digits(char *p, uint64_t digits, int most)
{
    const uint64_t eight = 100000000, upper = digits / eight;
    const uint64_t last = hy_split_digits((uint32_t)(digits % eight));

    hy_store8(p + most - 8, last | HY_ASCII_ZEROS);
    if (most == F32_DIGITS) {
        *p = (char)('0' + upper);
        return last ? most - zeros_behind(last) : 1;
    }
    const uint64_t middle = hy_split_digits((uint32_t)(upper % eight));
    *p                    = (char)('0' + upper / eight);
    hy_store8(p + 1, middle | HY_ASCII_ZEROS);
    return last ? most - zeros_behind(last) : middle ? 9 - zeros_behind(middle) : 1;
}

/* Writes a number in the form 0.00125. The first digit stands for 10^power, power < 0. */
SPECIALIZED char *put_fraction(char *p, uint64_t digits, int power, int most)
{
    static const char zeros[] = {'0', '.', '0', '0', '0'};

    memcpy(p, zeros, sizeof zeros);
    p += 1 - power;
    return p + put_digits(p, digits, most);
}

/* Writes a number in the form 12.5 or 1200. The first digit stands for 10^power, 0 <=
   power < most. */
SPECIALIZED char *put_plain(char *p, uint64_t digits, int power, int most)
{
    const int count = put_digits(p + 1, digits, most), whole = power + 1;

    for (int i = 0; i < whole; i++)
        p[i] = p[i + 1];
    p[whole] = '.';
    return count > whole ? p + count + 1 : p + whole;
}

/* Writes a number in the form 1.25e-300. The first digit stands for 10^power. */
SPECIALIZED char *put_scientific(char *p, uint64_t digits, int power, int most)
{
    const int count = put_digits(p + 1, digits, most);

    p[0] = p[1];
    p[1] = '.';
    p += count > 1 ? count + 1 : 1;
    *p++ = 'e';
    *p   = '-';
    return hy_write_uint(p + (power < 0), (uint64_t)(power < 0 ? -power : power));
}

SPECIALIZED char *put_finite(char *p, decimal d, int most)
{
    const decimal full = widen(d, most);
    const int power    = full.exponent + most - 1;

    if (power < -4 || power >= most)
        return put_scientific(p, full.digits, power, most);
    return power < 0 ? put_fraction(p, full.digits, power, most)
                     : put_plain(p, full.digits, power, most);
}

char *hy_write_uint(char *p, uint64_t x)
{
    const uint64_t eight = 100000000;

    if (x >= eight) {
        p = hy_write_uint(p, x / eight);
        hy_store8(p, hy_split_digits((uint32_t)(x % eight)) | HY_ASCII_ZEROS);
        return p + 8;
    }
    const uint64_t digits = hy_split_digits((uint32_t)x);
    const int zeros       = x ? zeros_before(digits) : 7;
    hy_store8(p, (digits | HY_ASCII_ZEROS) >> 8 * zeros);
    return p + 8 - zeros;
}

char *hy_write_real(char *p, double value, hybrid_type type, const hy_numbers *numbers)
{
    static const char infinity[] = {'i', 'n', 'f'}, not_a_number[] = {'n', 'a', 'n'};
    const double size = fabs(value);

    *p = '-';
    p += signbit(value) != 0;
    if (size < 0x1p53 && size == (double)(uint64_t)size)
        return hy_write_uint(p, (uint64_t)size);
    if (!isfinite(size)) {
        memcpy(p, isnan(size) ? not_a_number : infinity, sizeof infinity);
        return p + sizeof infinity;
    }
    return type == HYBRID_F64
               ? put_finite(p, shortest_f64(size, numbers), F64_DIGITS)
               : put_finite(p, shortest_f32((float)size, numbers), F32_DIGITS);
}
