/* io/hdf5/decode/h5_pack.c - compresses a chunk of numbers. */
#include <string.h>
#include <zlib.h>

#include "io/hdf5/decode/h5_filters.h"

#if HYBRID_WITH_LIBDEFLATE
#include <libdeflate.h>
#endif
#if HYBRID_WITH_ZSTD
#include <zstd.h>
#endif

#include <stdlib.h>

/* The shuffle filter: splits `to` into `size` parts, and moves byte i of every number to
   part i. */
static void scatter_bytes(const char *in, size_t bytes, size_t size, char *to)
{
    const size_t numbers = bytes / size;

    for (size_t i = 0; i < size; i++)
        for (size_t k = 0; k < numbers; k++)
            to[i * numbers + k] = in[k * size + i];
    memcpy(to + numbers * size, in + numbers * size, bytes - numbers * size);
}

static size_t deflate_chunk(int level, const char *in, size_t bytes, char *to,
                            size_t most)
{
#if HYBRID_WITH_LIBDEFLATE
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    const size_t made = c ? libdeflate_zlib_compress(c, in, bytes, to, most) : 0;

    libdeflate_free_compressor(c); /* accepts NULL */
    return made;
#else
    uLongf made = most;

    return compress2((Bytef *)to, &made, (const Bytef *)in, bytes, level) == Z_OK ? made
                                                                                  : 0;
#endif
}

size_t hy_h5_packed_bound(size_t bytes)
{
    return bytes + bytes / 8 + 1024; /* more than compressBound() and the bounds of other
                                        compressors */
}

static size_t compress_chunk(const hy_h5_packer *packer, const char *in, size_t bytes,
                             char *to, size_t most)
{
    if (packer->filter == HY_H5_DEFLATE)
        return deflate_chunk(packer->level, in, bytes, to, most);
#if HYBRID_WITH_ZSTD
    if (packer->filter == HY_H5_ZSTD) {
        const size_t made = ZSTD_compress(to, most, in, bytes, packer->level);
        return ZSTD_isError(made) ? 0 : made;
    }
#endif
    memcpy(to, in, bytes);
    return bytes;
}

size_t hy_h5_pack(const hy_h5_packer *packer, const char *in, size_t bytes, char *to,
                  size_t most)
{
    if (packer->number_bytes == 1)
        return compress_chunk(packer, in, bytes, to, most);
    char *shuffled = malloc(bytes);
    if (!shuffled)
        return 0;
    scatter_bytes(in, bytes, packer->number_bytes, shuffled);
    const size_t made = compress_chunk(packer, shuffled, bytes, to, most);
    free(shuffled);
    return made;
}
