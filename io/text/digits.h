/* io/text/digits.h - decimal digits, eight characters at a time. */
#ifndef HY_DIGITS_H
#define HY_DIGITS_H

#include <stdint.h>
#include <string.h>

/* Readable bytes after the final 0 of a text, with any contents: numbers are read in
   steps of eight characters. */
enum { HY_TEXT_PAD = 8 };

/* Loads eight characters, the first one in the lowest byte. */
static inline uint64_t hy_load8(const char *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

/* Returns the number of leading digits among the eight characters. The high bit of a byte
   of `none` is set if its character is no digit; carries only disturb later bytes. */
static inline int hy_count_digits(uint64_t x)
{
    const uint64_t t    = x ^ 0x3030303030303030u;
    const uint64_t none = ((t + 0x7676767676767676u) | t) & 0x8080808080808080u;
    return none ? __builtin_ctzll(none) / 8 : 8;
}

/* Returns the value of the first n <= 8 characters, all digits. The shifts put zeros in
   front; then neighbours are joined to pairs, fours and eight. */
static inline uint64_t hy_digits_value(uint64_t x, int n)
{
    const uint64_t two = 0x000000FF000000FFu;

    x = (x ^ 0x3030303030303030u) << (32 - 4 * n) << (32 - 4 * n);
    x = x * 10 + (x >> 8);
    return ((x & two) * (100 + ((uint64_t)1000000 << 32)) +
            (x >> 16 & two) * (1 + ((uint64_t)10000 << 32))) >>
           32;
}

/* Stores eight characters at `p`, the first one from the lowest byte. */
static inline void hy_store8(char *p, uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    memcpy(p, &x, sizeof x);
}

#define HY_ASCII_ZEROS 0x3030303030303030u /* digits | HY_ASCII_ZEROS turns eight digits
                                              into characters */

/* Splits x < 10^8 into eight decimal digits with leading zeros, one per byte and the
   first one in the lowest byte. Multiplying by 10486 and 103, and shifting, divides by
   100 and 10. */
static inline uint64_t hy_split_digits(uint32_t x)
{
    const uint64_t fours = x / 10000 | (uint64_t)(x % 10000) << 32;
    const uint64_t high  = fours * 10486 >> 20 & 0x0000007F0000007Fu;
    const uint64_t pairs = high | (fours - 100 * high) << 16;
    const uint64_t tens  = pairs * 103 >> 10 & 0x000F000F000F000Fu;

    return tens | (pairs - 10 * tens) << 8;
}

#endif /* HY_DIGITS_H */
