/* io/text/encoder_zstd.c - makes frames of zstd files (RFC 8878). */
#include "io/text/encoder.h"

#if HYBRID_WITH_ZSTD
#include <string.h>
#include <zstd.h>

enum {
    LEVEL       = 3,
    STATE_BYTES = 3 << 20 /* enough for a text of at most 256 KiB */
};

static size_t pack(const char *text, size_t bytes, char *to)
{
    const size_t made = ZSTD_compress(to, hy_encoder_room(bytes), text, bytes, LEVEL);

    return ZSTD_isError(made) ? 0 : made;
}

/* The header says that the size of the text has one byte. The three bytes before the text
   say: this block is the last one, it is not compressed, and has this size. */
static size_t store(const char *text, size_t bytes, char *to)
{
    const unsigned block = (unsigned)bytes << 3 | 1;
    const char header[]  = {0x28, (char)0xb5,  0x2f,        (char)0xfd,
                            0x20, (char)bytes, (char)block, (char)(block >> 8),
                            0};

    memcpy(to, header, sizeof header);
    memcpy(to + sizeof header, text, bytes);
    return sizeof header + bytes;
}

const hy_encoder hy_encoder_zstd = {
    .ending = ".zst", .state_bytes = STATE_BYTES, .pack = pack, .store = store};

#else

const hy_encoder hy_encoder_zstd = {.ending = ".zst", .missing = "libzstd"};

#endif
