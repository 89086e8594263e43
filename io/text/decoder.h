/* io/text/decoder.h - decompresses the bytes of a file.

   Each format of compressed bytes is a constant table of functions in a file of its own.
   Compressed bytes are a sequence of frames (gzip: members), which were compressed
   independently of each other. */
#ifndef HY_DECODER_H
#define HY_DECODER_H

#include "base/contract/context.h"

/* A decoder of one compressed file. A zeroed struct is closed. */
typedef struct hy_decoder {
    const struct hy_decoder_ops *ops; /* NULL: the decoder is closed */
    hy_context *ctx;
    const char *path; /* path of the file, for messages; borrowed */
    int is_between;   /* 1: the last frame has ended, and no other has begun */
    void *state;      /* the decoder's own state, for ops */
} hy_decoder;

/* Bytes that a decoder takes, and where decompressed bytes go. */
typedef struct hy_flow {
    const char *next, *end; /* compressed bytes that have not been used */
    char *to;               /* memory for decompressed bytes */
    size_t room;            /* free bytes at `to` */
} hy_flow;

typedef struct hy_decoder_ops {
    /* Returns 1 if a file that begins with these bytes has the format. */
    int (*is)(const char *bytes, size_t count);

    /* Opens the decoder and sets self->state. Fails with NO_MEMORY. */
    hybrid_status (*open)(hy_decoder *self);

    /* Begins the next frame at flow->next, where there is at least one byte, or skips
       bytes that may lie between frames. BAD_FILE if neither is there. */
    hybrid_status (*begin)(hy_decoder *self, hy_flow *flow);

    /* Decompresses a part of the frame and moves the pointers of the flow. No compressed
       bytes mean that the file has ended. BAD_FILE if the bytes are damaged or end within
       the frame. */
    hybrid_status (*decode)(hy_decoder *self, hy_flow *flow);

    void (*close)(hy_decoder *self);
} hy_decoder_ops;

extern const hy_decoder_ops hy_decoder_gzip;
extern const hy_decoder_ops hy_decoder_zstd; /* without libzstd its open() fails with
                                                UNSUPPORTED */

#endif /* HY_DECODER_H */
