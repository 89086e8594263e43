/* pipeline/sink_device.c - results in the memory of the device that computes. */
#include "pipeline/sink_device.h"

#include "base/csr.h"

/* ---- Y ------------------------------------------------------------------------------
 */

static hybrid_status land_dense(hy_sink *sink, hy_lane *lane, const hy_part *part)
{
    const hy_update *u    = &((hy_dense_sink *)sink)->update;
    const hybrid_dense *Y = u->Y;
    const hy_chunk *c     = part->chunk;
    const int in_rows     = Y->order == HYBRID_ROW_MAJOR;
    const int part_rows   = part->order == HYBRID_ROW_MAJOR;
    const int64_t rows = c->row_end - c->row_begin, cols = c->col_end - c->col_begin;
    const int64_t at             = in_rows ? c->row_begin * Y->ld + c->col_begin
                                           : c->row_begin + c->col_begin * Y->ld;
    const hy_combining combining = {.to       = hy_dense_at(Y, at),
                                    .from     = part->rows.val,
                                    .to_row   = in_rows ? Y->ld : 1,
                                    .to_col   = in_rows ? 1 : Y->ld,
                                    .from_row = part_rows ? cols : 1,
                                    .from_col = part_rows ? 1 : rows,
                                    .rows     = rows,
                                    .cols     = cols,
                                    .filled   = cols,
                                    .alpha    = u->alpha,
                                    .beta     = u->beta,
                                    .type     = Y->type};

    return lane->backend->ops->combine(lane, &combining);
}

static hy_direct no_copies(const hy_sink *sink, const hy_part *part)
{
    (void)sink;
    (void)part;
    return (hy_direct){.count = 0};
}

/* Nobody asks for it. */
static hybrid_status store_nothing(hy_sink *sink, const hy_part *part)
{
    return hy_fail(
        sink->ctx, HYBRID_BAD_STATE,
        "chunk %lld brings a part to host memory, and its result is on a device",
        (long long)part->chunk->id);
}

static void abort_dense(hy_sink *sink)
{
    (void)sink;
}

static const hy_sink_ops dense = {
    .reserve = hy_dense_reserve,
    .direct  = no_copies,
    .land    = land_dense,
    .store   = store_nothing,
    .finish  = hy_dense_finish,
    .abort   = abort_dense,
};

void hy_device_dense_sink_open(hy_context *ctx, const hy_update *update,
                               hy_dense_sink *out)
{
    *out = hy_dense_sink_of(ctx, &dense, update, update->Y->rows);
}
