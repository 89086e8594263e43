/* pipeline/sink/sink_csr_deltas.c - decodes delta-coded columns of a result in CSR. */
#include "base/data/min_max.h"
#include "partition/move/deltas.h"
#include "pipeline/sink/indices.h"
#include "pipeline/sink/sink_csr.h"

enum {
    DECODE_FRAMES = 32, /* frames per task; a frame is HY_DELTA_FRAME columns, which are
                           coded together */
    NEAR_FRAMES = 4 /* number of frames decoded at once; their numbers fit the first-level
                       cache */
};

typedef struct decoding {
    const hy_csr_sink *csr;
    const hy_part *part;
    const void *deltas;
} decoding;

/* Returns 1 if delta-coded columns can be used: pages of C are being pinned, so that the
   device will copy to them directly, and this processor decodes fast. */
int hy_csr_accepts_deltas(const hy_sink *sink)
{
    return ((const hy_csr_sink *)sink)->prefault.pins > 0 && hy_deltas_quick();
}

/* Decodes `count` frames from `frame` on and stores them in the result. `count` is at
   most NEAR_FRAMES, so that decoded numbers are still in the first-level cache when they
   are stored. */
static void decode_near(const decoding *d, int64_t frame, int64_t count)
{
    const int64_t nnz = d->part->nnz, first = frame * HY_DELTA_FRAME;
    int32_t near[NEAR_FRAMES * HY_DELTA_FRAME];

    for (int64_t k = 0; k < count; k++)
        hy_deltas_decode(d->deltas, nnz, frame + k, near + k * HY_DELTA_FRAME);
    hy_columns_put(d->csr->col_type, d->csr->col.ptr, d->part->offset + first, near,
                   hy_min(count * HY_DELTA_FRAME, nnz - first));
}

static hybrid_status decode_frames(void *arg, int part, int64_t begin, int64_t end)
{
    (void)part;
    for (int64_t f = begin; f < end; f += NEAR_FRAMES)
        decode_near(arg, f, hy_min(NEAR_FRAMES, end - f));
    return HYBRID_OK;
}

hybrid_status hy_csr_store_deltas(hy_sink *sink, const hy_part *part, const void *deltas)
{
    decoding d = {(const hy_csr_sink *)sink, part, deltas};

    return hy_pool_for(sink->ctx->pool, HY_PACK, 0, hy_deltas_frames(part->nnz),
                       DECODE_FRAMES, decode_frames, &d);
}
