/* io/text/decoder_gzip.c - inflates gzip data, which may have several members and zeros
   at the end. */
#include "io/text/decoder.h"

#include <stdio.h>
#include <zlib.h>

#include "base/memory/shortage.h"

enum { INFLATE_BYTES = 44 << 10 }; /* bytes that zlib needs to inflate */

static int is_gzip(const char *bytes, size_t count)
{
    return count >= 2 && (unsigned char)bytes[0] == 0x1f &&
           (unsigned char)bytes[1] == 0x8b;
}

static hybrid_status fail_memory(const hy_decoder *self)
{
    char what[HY_MESSAGE_BYTES / 2];

    snprintf(what, sizeof what, "the window that inflates '%s'", self->path);
    return hy_memory_refused(self->ctx, what, INFLATE_BYTES, NULL);
}

static hybrid_status open_gzip(hy_decoder *self)
{
    HY_TRY(hy_array(self->ctx, 1, sizeof(z_stream), "a stream of bytes", &self->state));
    z_stream *z = self->state;
    *z          = (z_stream){.next_in = NULL};
    if (inflateInit2(z, 15 + 16) == Z_OK) /* 15: largest window; 16: gzip header */
        return HYBRID_OK;
    hy_array_free(self->ctx, self->state);
    self->state = NULL;
    return fail_memory(self);
}

static hybrid_status begin(hy_decoder *self, hy_flow *flow)
{
    if ((unsigned char)*flow->next == 0x1f) {
        inflateReset(self->state);
        self->is_between = 0;
        return HYBRID_OK;
    }
    while (flow->next < flow->end && *flow->next == 0)
        flow->next++;
    return flow->next == flow->end
               ? HYBRID_OK
               : hy_fail(self->ctx, HYBRID_BAD_FILE, "%s: bytes follow the gzip data",
                         self->path);
}

static hybrid_status fail_gzip(const hy_decoder *self, int code)
{
    const z_stream *z = self->state;

    if (code == Z_MEM_ERROR)
        return fail_memory(self);
    if (code == Z_DATA_ERROR) /* Z_NEED_DICT does not occur in the gzip format */
        return hy_fail(self->ctx, HYBRID_BAD_FILE, "%s: the gzip data are damaged: %s",
                       self->path, z->msg);
    return hy_fail(self->ctx, HYBRID_BAD_FILE, "%s: the gzip data are truncated",
                   self->path);
}

static hybrid_status decode(hy_decoder *self, hy_flow *flow)
{
    const size_t at_once = (size_t)1 << 30; /* zlib counts in unsigned int */
    z_stream *z          = self->state;

    z->next_in     = (z_const Bytef *)flow->next;
    z->avail_in    = (uInt)hy_smaller((size_t)(flow->end - flow->next), at_once);
    z->next_out    = (Bytef *)flow->to;
    z->avail_out   = (uInt)hy_smaller(flow->room, at_once);
    const int code = inflate(z, Z_NO_FLUSH);
    flow->next     = (const char *)z->next_in;
    flow->room -= (size_t)((char *)z->next_out - flow->to);
    flow->to         = (char *)z->next_out;
    self->is_between = code == Z_STREAM_END;
    return code == Z_OK || code == Z_STREAM_END ? HYBRID_OK : fail_gzip(self, code);
}

static void close_gzip(hy_decoder *self)
{
    if (self->state)
        inflateEnd(self->state);
    hy_array_free(self->ctx, self->state);
}

const hy_decoder_ops hy_decoder_gzip = {.is     = is_gzip,
                                        .open   = open_gzip,
                                        .begin  = begin,
                                        .decode = decode,
                                        .close  = close_gzip};
