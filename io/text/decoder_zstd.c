/* io/text/decoder_zstd.c - decompresses zstd data, which may have several frames
   (parts that were compressed independently).

   A frame tells how large a window of decompressed bytes its decoder must keep. The
   library allows windows of at most an eighth of the host memory that the engine has
   left, and counts a window of that size while the decoder is open. */
#include "io/text/decoder.h"

#include <stdio.h>
#include <string.h>

static int is_zstd(const char *bytes, size_t count)
{
    return count >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0;
}

#if HYBRID_WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

#include "base/memory/shortage.h"

enum {
    LEAST_WINDOW = 17,       /* log2 of the smallest limit on windows, in bytes */
    MOST_WINDOW  = 27,       /* log2 of the largest one, which zstd itself sets */
    SHARE        = 8,        /* 1/SHARE of the memory that is left may be a window */
    BESIDE_BYTES = 512 << 10 /* bytes that zstd needs besides the window */
};

typedef struct decoding {
    ZSTD_DStream *stream;
    int window;     /* log2 of the limit on windows */
    size_t counted; /* bytes counted on the meter of host memory */
} decoding;

static size_t bytes_of(int window)
{
    return ((size_t)1 << window) + BESIDE_BYTES;
}

static int choose_window(const hy_meter *meter)
{
    const int64_t most = hy_meter_left(meter) / SHARE;
    int window         = LEAST_WINDOW;

    while (window < MOST_WINDOW && ((int64_t)1 << (window + 1)) <= most)
        window++;
    return window;
}

/* Fails because the system or, if `is_full`, the budget has no memory for the window. */
static hybrid_status fail_memory(const hy_decoder *self, size_t bytes, int is_full)
{
    char what[HY_MESSAGE_BYTES / 2];

    snprintf(what, sizeof what, "the window that inflates '%s'", self->path);
    return is_full ? hy_memory_full(self->ctx, what, (int64_t)bytes, "")
                   : hy_memory_refused(self->ctx, what, (int64_t)bytes, NULL);
}

static hybrid_status open_zstd(hy_decoder *self)
{
    hy_meter *meter    = &self->ctx->memory.meter;
    const int window   = choose_window(meter);
    const size_t bytes = bytes_of(window);

    HY_TRY(hy_array(self->ctx, 1, sizeof(decoding), "a stream of bytes", &self->state));
    decoding *d = self->state;
    *d          = (decoding){.stream = ZSTD_createDStream(), .window = window};
    if (!d->stream ||
        ZSTD_isError(ZSTD_DCtx_setParameter(d->stream, ZSTD_d_windowLogMax, window)))
        return fail_memory(self, bytes, 0);
    if (!hy_meter_charge(meter, bytes))
        return fail_memory(self, bytes, 1);
    d->counted = bytes;
    return HYBRID_OK;
}

static hybrid_status begin(hy_decoder *self, hy_flow *flow)
{
    (void)flow;
    self->is_between = 0; /* decode() also begins the next frame */
    return HYBRID_OK;
}

static hybrid_status fail_zstd(const hy_decoder *self, size_t code)
{
    const decoding *d = self->state;

    if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge)
        return hy_fail(self->ctx, HYBRID_NO_MEMORY,
                       "%s: was compressed by zstd with a window of more than %zu bytes, "
                       "an eighth of the host memory that is left; raise host_bytes "
                       "(--host-memory)",
                       self->path, (size_t)1 << d->window);
    return hy_fail(self->ctx, HYBRID_BAD_FILE, "%s: the zstd data are damaged: %s",
                   self->path, ZSTD_getErrorName(code));
}

static hybrid_status decode(hy_decoder *self, hy_flow *flow)
{
    const decoding *d  = self->state;
    ZSTD_inBuffer in   = {flow->next, (size_t)(flow->end - flow->next), 0};
    ZSTD_outBuffer out = {flow->to, flow->room, 0};

    const size_t code = ZSTD_decompressStream(d->stream, &out, &in);
    if (ZSTD_isError(code))
        return fail_zstd(self, code);
    if (code != 0 && flow->next == flow->end && out.pos == 0)
        return hy_fail(self->ctx, HYBRID_BAD_FILE, "%s: the zstd data are truncated",
                       self->path);
    flow->next += in.pos;
    flow->to += out.pos;
    flow->room -= out.pos;
    self->is_between = code == 0;
    return HYBRID_OK;
}

static void close_zstd(hy_decoder *self)
{
    const decoding *d = self->state;

    if (!d)
        return;
    ZSTD_freeDStream(d->stream);
    hy_meter_release(&self->ctx->memory.meter, d->counted);
    hy_array_free(self->ctx, self->state);
}

const hy_decoder_ops hy_decoder_zstd = {.is     = is_zstd,
                                        .open   = open_zstd,
                                        .begin  = begin,
                                        .decode = decode,
                                        .close  = close_zstd};
#else

static hybrid_status refuse(hy_decoder *self)
{
    return hy_fail(self->ctx, HYBRID_UNSUPPORTED,
                   "%s: is compressed with zstd, but this library was built without "
                   "libzstd; unpack the file: zstd -d %s",
                   self->path, self->path);
}

static void close_nothing(hy_decoder *self)
{
    (void)self;
}

const hy_decoder_ops hy_decoder_zstd = {
    .is = is_zstd, .open = refuse, .close = close_nothing};
#endif
