/* pipeline/sink/sink_dense.c - stores a dense result. */
#include "pipeline/sink/sink_dense.h"

#include "base/data/csr.h"
#include "base/memory/pinned.h"

/* Parts may be reserved in any order, because elements have fixed places. */
hybrid_status hy_dense_reserve(hy_sink *sink, hy_part *part)
{
    const hy_chunk *chunk = part->chunk;

    part->nnz = (chunk->row_end - chunk->row_begin) * (chunk->col_end - chunk->col_begin);
    part->offset = 0;
    ((hy_dense_sink *)sink)->left -= part->nnz;
    return HYBRID_OK;
}

static hy_direct direct(const hy_sink *sink, const hy_part *part)
{
    const hy_dense_sink *dense = (const hy_dense_sink *)sink;
    hy_direct to               = {.count = 1, .all = 1};
    hy_row_copy *rows          = &to.to->rows;

    if (hy_storing_home(&dense->update, part, rows) && hy_pinned_rows(sink->ctx, rows, 1))
        return to;
    return (hy_direct){.count = 0};
}

static hybrid_status store(hy_sink *sink, const hy_part *part)
{
    hy_storing storing = hy_storing_of(&((hy_dense_sink *)sink)->update, part, NULL);

    return hy_store_dense(sink->ctx->pool, &storing);
}

hybrid_status hy_dense_finish(hy_sink *sink)
{
    const hy_dense_sink *dense = (const hy_dense_sink *)sink;

    if (dense->left == 0)
        return HYBRID_OK;
    return hy_fail(
        sink->ctx, HYBRID_BAD_STATE,
        "internal error, please report it: %lld elements of Y were not computed",
        (long long)dense->left);
}

/* Y belongs to the caller, and its contents after an error are undefined. */
static void abort_result(hy_sink *sink)
{
    (void)sink;
}

static const hy_sink_ops ops = {
    .reserve = hy_dense_reserve,
    .direct  = direct,
    .store   = store,
    .finish  = hy_dense_finish,
    .abort   = abort_result,
};

hy_dense_sink hy_dense_sink_of(hy_context *ctx, const hy_sink_ops *own,
                               const hy_update *update, int64_t rows)
{
    const hybrid_dense *Y = update->Y;

    return (hy_dense_sink){
        .sink   = {.ops = own, .ctx = ctx, .order = Y->order, .reads = update->beta != 0},
        .update = *update,
        .left   = rows * Y->cols};
}

void hy_dense_sink_open(hy_context *ctx, const hy_update *update, hy_dense_sink *out)
{
    *out = hy_dense_sink_of(ctx, &ops, update, update->Y->rows);
}
