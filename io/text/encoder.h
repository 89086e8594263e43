/* io/text/encoder.h - compresses text, piece by piece.

   Each format of compressed bytes is a constant table of functions in a file of its own.
   A piece becomes a frame (gzip: a member) that is independent of all others, so that
   workers compress pieces at the same time. The frames of a file follow each other. */
#ifndef HY_ENCODER_H
#define HY_ENCODER_H

#include "base/contract/context.h"

enum { HY_MOST_STORED = 255 };

typedef struct hy_encoder {
    const char *ending;  /* ending of the names of its files, such as ".gz" */
    const char *missing; /* library that this build lacks; NULL: none */
    size_t state_bytes;  /* maximum bytes that pack() allocates while it runs */

    /* Compresses `bytes` bytes to `to`, which has hy_encoder_room(bytes) bytes. Returns
       the bytes of the frame, or 0 if there is no memory. Any thread may call it. */
    size_t (*pack)(const char *text, size_t bytes, char *to);

    /* Makes a frame of at most HY_MOST_STORED bytes of text, which stay as they are, so
       that texts of equal length give frames of equal length. Returns the bytes of the
       frame. */
    size_t (*store)(const char *text, size_t bytes, char *to);
} hy_encoder;

extern const hy_encoder hy_encoder_gzip, hy_encoder_zstd;

/* Returns the maximum bytes of a frame. */
static inline size_t hy_encoder_room(size_t bytes)
{
    return bytes + bytes / 8 + 1024;
}

/* Sets *out to the encoder of files with this name; NULL: such files are not compressed.
   UNSUPPORTED if this build lacks the library that compresses them. */
hybrid_status hy_encoder_of_name(hy_context *ctx, const char *path,
                                 const hy_encoder **out);

#endif /* HY_ENCODER_H */
