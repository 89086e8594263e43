/* io/hdf5/decode/h5_filters.c - undoes the filters of a chunk, the last one first. */
#include "io/hdf5/decode/h5_filters.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "base/data/min_max.h"

#if HYBRID_WITH_LIBDEFLATE
#include <libdeflate.h>
#endif
#if HYBRID_WITH_ZSTD
#include <zstd.h>
#endif

/* A range of memory that a filter reads or fills. */
typedef struct piece {
    const char *at;
    size_t bytes;
} piece;

/* ---- deflate ----------------------------------------------------------------------- */

#if HYBRID_WITH_LIBDEFLATE

void hy_h5_inflater_make(hy_h5_decoder *decoder)
{
    decoder->inflater = libdeflate_alloc_decompressor();
}

void hy_h5_inflater_free(hy_h5_decoder *decoder)
{
    libdeflate_free_decompressor(decoder->inflater); /* accepts NULL */
    decoder->inflater = NULL;
}

#else

void hy_h5_inflater_make(hy_h5_decoder *decoder)
{
    decoder->inflater = NULL;
}

void hy_h5_inflater_free(hy_h5_decoder *decoder)
{
    (void)decoder;
}

#endif

static const char too_long[] = "it inflates to more than a chunk";

/* zlib counts bytes in 32 bits. The data of a chunk have fewer than 2^32 bytes, but there
   may be more memory for them. */
static const char *inflate_slowly(piece in, char *to, size_t most, size_t *made)
{
    const uInt room = (uInt)hy_min((int64_t)most, UINT_MAX);
    z_stream stream = {.next_in   = (Bytef *)(uintptr_t)in.at,
                       .avail_in  = (uInt)hy_min((int64_t)in.bytes, UINT_MAX),
                       .next_out  = (Bytef *)to,
                       .avail_out = room};

    if (inflateInit(&stream) != Z_OK)
        return "zlib has no memory";
    const int end = inflate(&stream, Z_FINISH);
    *made         = room - stream.avail_out;
    inflateEnd(&stream);
    if (end == Z_STREAM_END)
        return NULL;
    return end == Z_BUF_ERROR && stream.avail_out == 0 ? too_long
                                                       : "its deflated data are damaged";
}

static const char *undo_deflate(hy_h5_decoder *decoder, piece in, char *to, size_t most,
                                size_t *made)
{
#if HYBRID_WITH_LIBDEFLATE
    if (decoder->inflater) {
        const enum libdeflate_result result = libdeflate_zlib_decompress(
            decoder->inflater, in.at, in.bytes, to, most, made);
        if (result == LIBDEFLATE_SUCCESS)
            return NULL;
        return result == LIBDEFLATE_INSUFFICIENT_SPACE ? too_long
                                                       : "its deflated data are damaged";
    }
#endif
    (void)decoder;
    return inflate_slowly(in, to, most, made);
}

/* ---- other filters ----------------------------------------------------------------- */

#if HYBRID_WITH_ZSTD

static const char *undo_zstd(piece in, char *to, size_t most, size_t *made)
{
    *made = ZSTD_decompress(to, most, in.at, in.bytes);
    return ZSTD_isError(*made) ? "its zstd data are damaged or hold more than a chunk"
                               : NULL;
}

#endif

/* LZF: a control byte below 32 precedes that many literal bytes and one more. Another one
   holds a length in its upper 3 bits (7: a further byte is added), and with the byte
   after it a distance. */
static const char *undo_lzf(piece in, char *to, size_t most, size_t *made)
{
    static const char damaged[] = "its LZF data are damaged or hold more than a chunk";
    const unsigned char *p = (const unsigned char *)in.at, *end = p + in.bytes;
    size_t n = 0;

    while (p < end) {
        const unsigned control = *p++;
        size_t length          = control < 32 ? control + 1 : control >> 5;
        if (control < 32) {
            if (length > (size_t)(end - p) || length > most - n)
                return damaged;
            memcpy(to + n, p, length);
            p += length;
            n += length;
            continue;
        }
        if (length == 7 && p < end)
            length += *p++;
        if (p == end)
            return damaged;
        const size_t distance = ((size_t)(control & 31) << 8) + *p++ + 1;
        length += 2;
        if (distance > n || length > most - n)
            return damaged;
        for (; length > 0; length--, n++)
            to[n] = to[n - distance]; /* Bytes are copied one by one, because the ranges
                                         may overlap. */
    }
    *made = n;
    return NULL;
}

/* Gathers byte i of number k from byte k of part i. `size` is a constant in each call, so
   that the inner loop is unrolled. */
static inline void gather_bytes(const char *in, size_t numbers, size_t size, char *to)
{
    for (size_t k = 0; k < numbers; k++)
        for (size_t i = 0; i < size; i++)
            to[k * size + i] = in[i * numbers + k];
}

static const char *undo_shuffle(size_t size, piece in, char *to, size_t most,
                                size_t *made)
{
    const size_t numbers = in.bytes / size;

    if (in.bytes > most)
        return "it is longer than a chunk";
    if (size == 4)
        gather_bytes(in.at, numbers, 4, to);
    else if (size == 8)
        gather_bytes(in.at, numbers, 8, to);
    else
        gather_bytes(in.at, numbers, size, to);
    memcpy(to + numbers * size, in.at + numbers * size, in.bytes - numbers * size);
    *made = in.bytes;
    return NULL;
}

/* Fletcher's checksum of 16-bit words, whose first byte is the upper one, as HDF5 defines
   it: a sum of 0 stays 0, and one that is a multiple of 65535 becomes 65535. */
static uint32_t fletcher32(const unsigned char *data, size_t bytes)
{
    uint64_t first = 0, second = 0;

    for (size_t i = 0; i < bytes; i += 2) {
        first += (uint32_t)data[i] << 8 | (i + 1 < bytes ? data[i + 1] : 0u);
        second += first;
        first  = (first & 0xffff) + (first >> 16);
        second = (second & 0xffff) + (second >> 16);
    }
    second = (second & 0xffff) + (second >> 16);
    return (uint32_t)(second << 16 | first);
}

/* Compares the checksum that follows the data, and removes it from *data. Returns NULL or
   words about the fault. */
static const char *check_fletcher32(piece *data)
{
    const unsigned char *p = (const unsigned char *)data->at;

    if (data->bytes < 4)
        return "it is too short for its checksum";
    data->bytes -= 4;
    p += data->bytes;
    const uint32_t stored = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
                            (uint32_t)p[3] << 24;
    return stored == fletcher32((const unsigned char *)data->at, data->bytes)
               ? NULL
               : "its checksum is wrong";
}

/* ---- all filters ------------------------------------------------------------------- */

const char *hy_h5_unreadable(int filter, int *known)
{
    static const struct {
        int filter;
        const char *name; /* name of a filter that this build lacks; NULL: the filter can
                             be decoded */
    } filters[] = {
        {HY_H5_DEFLATE, NULL},
        {HY_H5_SHUFFLE, NULL},
        {HY_H5_FLETCHER32, NULL},
        {HY_H5_LZF, NULL},
#if HYBRID_WITH_ZSTD
        {HY_H5_ZSTD, NULL},
#else
        {HY_H5_ZSTD, "zstd"},
#endif
        {4, "szip"},
        {5, "n-bit"},
        {6, "scale-offset"},
        {307, "bzip2"},
        {32001, "Blosc"},
        {32004, "LZ4"},
        {32008, "Bitshuffle"},
        {32026, "Blosc2"}
    };

    *known = 1;
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (filters[i].filter == filter)
            return filters[i].name;
    *known = 0;
    return "unknown";
}

size_t hy_h5_scratch_bytes(const hy_h5_filters *filters)
{
    return filters->chunk_bytes + filters->chunk_bytes / 8 +
           1024; /* A filter may lengthen
                    data a little. */
}

static const char *undo(const hy_h5_filters *filters, int filter, hy_h5_decoder *decoder,
                        piece in, char *to, size_t most, size_t *made)
{
    switch (filter) {
    case HY_H5_DEFLATE:
        return undo_deflate(decoder, in, to, most, made);
    case HY_H5_SHUFFLE:
        return undo_shuffle(filters->number_bytes, in, to, most, made);
    case HY_H5_LZF:
        return undo_lzf(in, to, most, made);
#if HYBRID_WITH_ZSTD
    case HY_H5_ZSTD:
        return undo_zstd(in, to, most, made);
#endif
    default:
        return "its filter is unknown";
    }
}

/* Returns the number of filters of a chunk that write its data to another place; a
   checksum does not. Filters with a bit in `mask` were not applied. */
static int count_moves(const hy_h5_filters *filters, uint32_t mask)
{
    int moves = 0;

    for (int i = 0; i < filters->count; i++)
        moves += !(mask & 1u << i) && filters->filter[i] != HY_H5_FLETCHER32;
    return moves;
}

const char *hy_h5_decode(const hy_h5_filters *filters, uint32_t mask,
                         hy_h5_decoder *decoder, const void *raw, size_t bytes, void *to)
{
    int moves  = count_moves(filters, mask);
    piece data = {raw, bytes};

    for (int i = filters->count - 1; i >= 0; i--) {
        const char *why = NULL;
        if (mask & 1u << i)
            continue;
        if (filters->filter[i] == HY_H5_FLETCHER32)
            why = check_fletcher32(&data);
        else {
            moves--;
            char *next  = moves == 0 ? to : decoder->scratch[moves % 2];
            size_t made = 0;
            why         = undo(filters, filters->filter[i], decoder, data, next,
                       moves == 0 ? filters->chunk_bytes : decoder->room, &made);
            data        = (piece){next, made};
        }
        if (why)
            return why;
    }
    if (data.bytes != filters->chunk_bytes)
        return "it does not have the size of a chunk";
    if (data.at != to)
        memcpy(to, data.at, data.bytes);
    return NULL;
}
