/* io/text/encoder_gzip.c - makes members of gzip files (RFC 1952). */
#include "io/text/encoder.h"

#include <string.h>
#include <zlib.h>

#if HYBRID_WITH_LIBDEFLATE
#include <libdeflate.h>
#endif

enum {
    LEVEL       = 1, /* level 6 makes files 9 % smaller and takes four times as long */
    STATE_BYTES = 1 << 20 /* libdeflate takes 600 KiB, zlib 268 KiB */
};

#if HYBRID_WITH_LIBDEFLATE

static size_t pack(const char *text, size_t bytes, char *to)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(LEVEL);
    const size_t room               = hy_encoder_room(bytes);
    const size_t made = c ? libdeflate_gzip_compress(c, text, bytes, to, room) : 0;

    libdeflate_free_compressor(c); /* accepts NULL */
    return made;
}

#else

static size_t pack(const char *text, size_t bytes, char *to)
{
    z_stream z = {.next_in   = (z_const Bytef *)text,
                  .avail_in  = (uInt)bytes,
                  .next_out  = (Bytef *)to,
                  .avail_out = (uInt)hy_encoder_room(bytes)};

    /* 15: largest window; 16: gzip header; 8: zlib's usual use of memory */
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    const int code = deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return code == Z_STREAM_END ? z.total_out : 0;
}

#endif

static char *put(char *to, size_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *to++ = (char)(number >> 8 * i);
    return to;
}

/* The member has a header without a time, one block that is not compressed, and the
   checksum. */
static size_t store(const char *text, size_t bytes, char *to)
{
    static const char header[] = "\x1f\x8b\x08\0\0\0\0\0\0\xff\x01";
    const size_t length        = sizeof header - 1;

    char *p = (char *)memcpy(to, header, length) + length;
    p       = put(p, bytes, 2);
    p       = put(p, ~bytes, 2);
    p       = (char *)memcpy(p, text, bytes) + bytes;
    p       = put(p, crc32(0, (const Bytef *)text, (uInt)bytes), 4);
    p       = put(p, bytes, 4);
    return (size_t)(p - to);
}

const hy_encoder hy_encoder_gzip = {
    .ending = ".gz", .state_bytes = STATE_BYTES, .pack = pack, .store = store};
