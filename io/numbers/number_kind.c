/* io/numbers/number_kind.c - kinds of numbers that files hold, and their conversion.

   Numbers pass through a piece on the stack: they are copied, brought to the order of
   this machine, widened to 64 bits, and narrowed to their destination. */
#include "io/numbers/number_kind.h"

#include <math.h>
#include <string.h>

#include "base/data/min_max.h"
#include "base/data/value_type.h"

enum { PIECE = 1024 }; /* numbers that pass through the stack at a time */

hy_number_kind hy_kind_of_type(hybrid_type type)
{
    return (hy_number_kind){HY_FLOAT, (int)hy_value_size(type), 0};
}

hy_number_kind hy_kind_of_index(hybrid_index type)
{
    return (hy_number_kind){HY_SIGNED, type == HYBRID_I64 ? 8 : 4, 0};
}

int hy_kind_of_descr(const char *descr, hy_number_kind *out)
{
    static const char letters[]            = "fiub";
    static const hy_number_class classes[] = {HY_FLOAT, HY_SIGNED, HY_UNSIGNED,
                                              HY_UNSIGNED};
    const char *letter;

    if (!descr[0] || !strchr("<>|", descr[0]) || !descr[1] ||
        !(letter = strchr(letters, descr[1])) || !descr[2] || descr[3])
        return 0;
    const int size = descr[2] - '0';
    if ((size != 1 && size != 2 && size != 4 && size != 8) ||
        (*letter == 'f' && size < 2) || (*letter == 'b' && size != 1) ||
        (descr[0] == '|' && size != 1))
        return 0;
    *out = (hy_number_kind){classes[letter - letters], size, descr[0] == '>'};
    return 1;
}

int hy_same_kind(hy_number_kind a, hy_number_kind b)
{
    return a.is == b.is && a.size == b.size &&
           (a.size == 1 || !a.big_endian == !b.big_endian);
}

hybrid_type hy_type_of_kind(hy_number_kind kind)
{
    int i = 0;

    while (i < HY_TYPE_COUNT - 1 &&
           (kind.is != HY_FLOAT || (int)hy_value_size(hy_type_at(i)) < kind.size))
        i++;
    return hy_type_at(i);
}

/* ---- bytes ------------------------------------------------------------------------- */

void hy_swap_bytes(void *numbers, int64_t count, int size)
{
    uint16_t *two   = numbers;
    uint32_t *four  = numbers;
    uint64_t *eight = numbers;

    if (size == 2)
        for (int64_t i = 0; i < count; i++)
            two[i] = __builtin_bswap16(two[i]);
    else if (size == 4)
        for (int64_t i = 0; i < count; i++)
            four[i] = __builtin_bswap32(four[i]);
    else if (size == 8)
        for (int64_t i = 0; i < count; i++)
            eight[i] = __builtin_bswap64(eight[i]);
}

/* Copies numbers to an aligned piece, in the byte order of this machine. */
static void load(hy_number_kind kind, const void *from, int64_t count, void *to)
{
    memcpy(to, from, (size_t)count * (size_t)kind.size);
    if (kind.big_endian)
        hy_swap_bytes(to, count, kind.size);
}

/* ---- values ------------------------------------------------------------------------ */

/* Returns the value of an IEEE 754 number of 16 bits. */
static double half(uint16_t bits)
{
    const int exponent    = bits >> 10 & 31;
    const double fraction = bits & 1023;
    const double size     = exponent == 31  ? (bits & 1023 ? NAN : INFINITY)
                            : exponent == 0 ? ldexp(fraction, -24)
                                            : ldexp(1024 + fraction, exponent - 25);

    return bits & 0x8000 ? -size : size;
}

#define WIDEN(type, what)                                                                \
    do {                                                                                 \
        const type *x = from;                                                            \
        for (int64_t i = 0; i < count; i++)                                              \
            to[i] = what;                                                                \
    } while (0)

static void widen_floats(int size, const void *from, int64_t count, double *to)
{
    if (size == 2)
        WIDEN(uint16_t, half(x[i]));
    else if (size == 4)
        WIDEN(float, (double)x[i]);
    else
        WIDEN(double, x[i]);
}

static void widen_signed(int size, const void *from, int64_t count, double *to)
{
    if (size == 1)
        WIDEN(int8_t, (double)x[i]);
    else if (size == 2)
        WIDEN(int16_t, (double)x[i]);
    else if (size == 4)
        WIDEN(int32_t, (double)x[i]);
    else
        WIDEN(int64_t, (double)x[i]);
}

static void widen_unsigned(int size, const void *from, int64_t count, double *to)
{
    if (size == 1)
        WIDEN(uint8_t, (double)x[i]);
    else if (size == 2)
        WIDEN(uint16_t, (double)x[i]);
    else if (size == 4)
        WIDEN(uint32_t, (double)x[i]);
    else
        WIDEN(uint64_t, (double)x[i]);
}

/* Converts doubles to each type. Returns `count`, or the index of the first finite value
   that would become infinite. */
#define NARROW(is, T, suffix, ...)                                                       \
    static int64_t narrow_##suffix(const double *from, int64_t count, T *to)             \
    {                                                                                    \
        for (int64_t i = 0; i < count; i++) {                                            \
            to[i] = (T)from[i];                                                          \
            if (isinf(to[i]) && !isinf(from[i]))                                         \
                return i;                                                                \
        }                                                                                \
        return count;                                                                    \
    }
HY_VALUE_TYPES(NARROW)

static int64_t convert_values(hy_number_kind kind, const void *from, int64_t count,
                              hybrid_type type, void *to)
{
    uint64_t piece[PIECE];
    double wide[PIECE];

    load(kind, from, count, piece);
    (kind.is == HY_FLOAT    ? widen_floats
     : kind.is == HY_SIGNED ? widen_signed
                            : widen_unsigned)(kind.size, piece, count, wide);
    return HY_CALL_BY_TYPE(type, narrow, wide, count, to);
}

int64_t hy_convert_values(hy_number_kind kind, const void *from, int64_t count,
                          hybrid_type type, void *to)
{
    const hy_number_kind own = hy_kind_of_type(type);

    if (hy_same_kind(kind, own)) {
        memcpy(to, from, (size_t)(count * own.size));
        return count;
    }
    for (int64_t at = 0, n; at < count; at += n) {
        n                 = hy_min(PIECE, count - at);
        const int64_t fit = convert_values(kind, (const char *)from + at * kind.size, n,
                                           type, (char *)to + at * own.size);
        if (fit < n)
            return at + fit;
    }
    return count;
}

/* ---- indices ----------------------------------------------------------------------- */

/* Widens integers to 64 bits. An unsigned integer of 2^63 or more becomes negative. */
static void widen_integers(hy_number_kind kind, const void *from, int64_t count,
                           int64_t *to)
{
    const int is_signed = kind.is == HY_SIGNED;

    if (kind.size == 1 && is_signed)
        /* a number, no character: NOLINTNEXTLINE(bugprone-signed-char-misuse) */
        WIDEN(int8_t, x[i]);
    else if (kind.size == 1)
        WIDEN(uint8_t, x[i]);
    else if (kind.size == 2 && is_signed)
        WIDEN(int16_t, x[i]);
    else if (kind.size == 2)
        WIDEN(uint16_t, x[i]);
    else if (kind.size == 4 && is_signed)
        WIDEN(int32_t, x[i]);
    else if (kind.size == 4)
        WIDEN(uint32_t, x[i]);
    else
        WIDEN(int64_t, x[i]);
}

static int64_t convert_indices(hy_number_kind kind, const void *from, int64_t count,
                               hybrid_index type, void *to)
{
    const int is_huge = kind.is == HY_UNSIGNED && kind.size == 8;
    int64_t piece[PIECE], wide[PIECE];
    int32_t *narrow_to = to;

    load(kind, from, count, piece);
    widen_integers(kind, piece, count, wide);
    for (int64_t i = 0; i < count; i++)
        if ((is_huge && wide[i] < 0) ||
            (type == HYBRID_I32 && wide[i] != (int32_t)wide[i]))
            return i;
    if (type == HYBRID_I32)
        for (int64_t i = 0; i < count; i++)
            narrow_to[i] = (int32_t)wide[i];
    else
        memcpy(to, wide, (size_t)count * 8);
    return count;
}

int64_t hy_convert_indices(hy_number_kind kind, const void *from, int64_t count,
                           hybrid_index type, void *to)
{
    const hy_number_kind own = hy_kind_of_index(type);

    if (hy_same_kind(kind, own)) {
        memcpy(to, from, (size_t)(count * own.size));
        return count;
    }
    for (int64_t at = 0, n; at < count && kind.is != HY_FLOAT; at += n) {
        n                 = hy_min(PIECE, count - at);
        const int64_t fit = convert_indices(kind, (const char *)from + at * kind.size, n,
                                            type, (char *)to + at * own.size);
        if (fit < n)
            return at + fit;
    }
    return kind.is == HY_FLOAT ? 0 : count;
}
