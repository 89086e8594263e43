/* pipeline/sink/sink_subset.c - stores a dense result whose parts have a subset of the
   rows.

   If Y is row-major, idle workers fill the other rows at the same time. If Y is
   column-major, a cache line holds elements of many rows. A part is then stored together
   with the rows behind each of its own (partition/move/spread_rows.c). */
#include "base/data/csr.h"
#include "pipeline/sink/sink_dense.h"

/* Returns no direct copies: workers distribute the part's rows, which are not contiguous
   in Y. */
static hy_direct direct(const hy_sink *sink, const hy_part *part)
{
    (void)sink;
    (void)part;
    return (hy_direct){.count = 0};
}

static hybrid_status store(hy_sink *sink, const hy_part *part)
{
    const hy_dense_sink *dense = (const hy_dense_sink *)sink;
    hy_storing storing         = hy_storing_of(&dense->update, part, dense->subset);

    return (sink->order == HYBRID_COL_MAJOR ? hy_store_spread
                                            : hy_store_dense)(sink->ctx->pool, &storing);
}

static hybrid_status end_others(hy_dense_sink *dense)
{
    const int begun = dense->others_begun;

    dense->others_begun = 0;
    return begun ? hy_empty_rows_end(&dense->others) : HYBRID_OK;
}

static hybrid_status finish(hy_sink *sink)
{
    HY_TRY(end_others((hy_dense_sink *)sink));
    return hy_dense_finish(sink);
}

static void abort_result(hy_sink *sink)
{
    end_others((hy_dense_sink *)sink);
}

static const hy_sink_ops ops = {
    .reserve = hy_dense_reserve,
    .direct  = direct,
    .store   = store,
    .finish  = finish,
    .abort   = abort_result,
};

void hy_subset_sink_open(hy_context *ctx, const hy_update *update,
                         const hy_touched *subset, hy_dense_sink *out)
{
    const hybrid_dense *Y = update->Y;
    const int64_t others  = Y->rows - subset->count;

    *out        = hy_dense_sink_of(ctx, &ops, update, subset->count);
    out->subset = subset;
    out->sink.own_bytes =
        others * Y->cols * (int64_t)hy_value_size(Y->type) * (out->sink.reads ? 2 : 1);
    out->others_begun = out->sink.order == HYBRID_ROW_MAJOR;
    if (out->others_begun)
        hy_empty_rows_begin(&out->others, ctx->pool, &out->update, subset);
}
