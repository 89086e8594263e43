/* partition/parts/x_whole.c - reads all of an X in a file. */
#include "partition/parts/x_whole.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/clock.h"
#include "base/threads/pool.h"

enum {
    PIECE_BYTES = 1 << 20, /* target for the bytes of X that a worker reads at a time,
                              rounded up to whole rows */
    COLUMN_ROWS = 1 << 16, /* minimum rows of a column-major X that a worker reads at a
                              time */
    PART_BYTES = 4 << 20   /* target for the bytes that a worker reads between two reports
                              of progress */
};

typedef struct reading {
    const hy_source *source;
    const hybrid_dense *X;
} reading;

/* Reads rows [begin, end) of X. */
static hybrid_status load(void *arg, int part, int64_t begin, int64_t end)
{
    const reading *r      = arg;
    const hybrid_dense *X = r->X;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const int64_t bytes   = (end - begin) * (int64_t)hy_value_size(X->type);
    const int64_t step    = PART_BYTES / bytes + 1;

    (void)part;
    for (int64_t j = 0; j < X->cols; j += step) {
        const hy_rect rect = {begin, end - begin, j, hy_min(step, X->cols - j)};
        const hy_grid to   = {
              hy_dense_at(X, in_rows ? begin * X->ld + j : begin + j * X->ld),
            in_rows ? X->ld : 1, in_rows ? 1 : X->ld};
        HY_TRY(r->source->ops->fill(r->source, &rect, &to));
        HY_TRY(hy_progress_check(&r->source->ctx->progress));
    }
    return HYBRID_OK;
}

hybrid_status hy_x_read_whole(const hy_source *source, hy_reused *own, hybrid_dense *out,
                              hybrid_report *report)
{
    hybrid_dense X      = *source->dense;
    const int64_t size  = (int64_t)hy_value_size(X.type);
    const int64_t start = hy_now_ns();

    X.ld = X.order == HYBRID_ROW_MAJOR ? X.cols : X.rows;
    HY_TRY(hy_array_reuse(source->ctx, own, X.rows * X.cols * size, "rows of X"));
    X.data = own->array;
    *out   = X;
    if (X.rows == 0 || X.cols == 0)
        return HYBRID_OK;
    const int64_t piece = 1 + PIECE_BYTES / (X.cols * size);
    const int64_t grain =
        X.order == HYBRID_ROW_MAJOR ? piece : hy_max(piece, COLUMN_ROWS);
    HY_TRY(hy_pool_for(source->ctx->pool, HY_PACK, 0, X.rows, grain, load,
                       &(reading){source, out}));
    report->prepare_s += (double)(hy_now_ns() - start) * 1e-9;
    report->host_bytes += X.rows * X.cols * size;
    return HYBRID_OK;
}
