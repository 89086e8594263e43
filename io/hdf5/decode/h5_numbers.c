/* io/hdf5/decode/h5_numbers.c - converts numbers of a file to numbers of a matrix, in
   blocks. */
#include "io/hdf5/decode/h5_numbers.h"

#include <string.h>

#include "base/data/min_max.h"

enum { BLOCK = 512 }; /* numbers converted at a time */

static void swap_bytes(char *numbers, int64_t count, size_t size)
{
    for (char *n = numbers; n < numbers + count * (int64_t)size; n += size)
        for (size_t i = 0; i < size / 2; i++) {
            const char byte = n[i];
            n[i]            = n[size - 1 - i];
            n[size - 1 - i] = byte;
        }
}

/* Widens `count` numbers of `type` at `in` to int64_t at `out`. */
#define WIDEN(type)                                                                      \
    for (int64_t i = 0; i < count; i++) {                                                \
        type number;                                                                     \
        memcpy(&number, in + i * (int64_t)sizeof(type), sizeof(type));                   \
        out[i] = (int64_t)number;                                                        \
    }                                                                                    \
    return;

/* Widens integers to 64 bits. An unsigned integer from 2^63 on becomes negative. */
static void widen(const hy_h5_number *from, const char *in, int64_t count, int64_t *out)
{
    const int is_signed = from->kind == HY_H5_SIGNED;

    switch (from->bytes) {
    case 1:
        if (is_signed) {
            WIDEN(int8_t)
        }
        WIDEN(uint8_t)
    case 2:
        if (is_signed) {
            WIDEN(int16_t)
        }
        WIDEN(uint16_t)
    case 4:
        if (is_signed) {
            WIDEN(int32_t)
        }
        WIDEN(uint32_t)
    default:
        WIDEN(int64_t)
    }
}

static int64_t narrow(const int64_t *in, int64_t count, char *out)
{
    for (int64_t i = 0; i < count; i++) {
        const int32_t number = (int32_t)in[i];
        if (in[i] != number)
            return i;
        memcpy(out + i * (int64_t)sizeof number, &number, sizeof number);
    }
    return count;
}

static void to_doubles(const int64_t *in, int64_t count, char *out)
{
    for (int64_t i = 0; i < count; i++) {
        const double value = (double)in[i];
        memcpy(out + i * (int64_t)sizeof value, &value, sizeof value);
    }
}

/* Stores widened integers at `out`, which may have any alignment. Returns `count`, or the
   index of the first integer that does not fit the type `to`. */
static int64_t store(const hy_h5_number *from, const hy_h5_number *to, const int64_t *in,
                     int64_t count, char *out)
{
    const int may_wrap = from->kind == HY_H5_UNSIGNED && from->bytes == 8;

    for (int64_t i = 0; may_wrap && i < count; i++)
        if (in[i] < 0)
            return i;
    if (to->kind == HY_H5_FLOAT)
        to_doubles(in, count, out);
    else if (to->bytes == 4)
        return narrow(in, count, out);
    else
        memcpy(out, in, (size_t)count * sizeof *in);
    return count;
}

static int is_same(const hy_h5_number *a, const hy_h5_number *b)
{
    return a->kind == b->kind && a->bytes == b->bytes;
}

int64_t hy_h5_convert(const hy_h5_number *from, const hy_h5_number *to, const void *in,
                      int64_t count, void *out)
{
    char piece[BLOCK * 8];
    int64_t wide[BLOCK];

    if (is_same(from, to)) {
        memcpy(out, in, (size_t)count * from->bytes);
        if (from->big_endian)
            swap_bytes(out, count, from->bytes);
        return count;
    }
    for (int64_t at = 0; at < count; at += BLOCK) {
        const int64_t n   = hy_min(BLOCK, count - at);
        const char *begin = (const char *)in + at * (int64_t)from->bytes;
        if (from->big_endian) {
            memcpy(piece, begin, (size_t)n * from->bytes);
            swap_bytes(piece, n, from->bytes);
            begin = piece;
        }
        widen(from, begin, n, wide);
        const int64_t stored =
            store(from, to, wide, n, (char *)out + at * (int64_t)to->bytes);
        if (stored < n)
            return at + stored;
    }
    return count;
}
