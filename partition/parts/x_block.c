/* partition/parts/x_block.c - column blocks of an X, and reading them from a file. */
#include "partition/parts/x_block.h"

#include "base/threads/clock.h"
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum {
    PIECE_BYTES = 1 << 20, /* target for the bytes of X that a worker reads at a time,
                              rounded up to whole rows */
    COLUMN_ROWS = 1 << 16, /* minimum rows of a column-major X that a worker reads at a
                              time */
    PART_BYTES = 4 << 20   /* target for the bytes of X that a worker reads between two
                              reports of progress */
};

void hy_x_block_open(const hy_source *source, int64_t bytes, hy_x_block *out)
{
    *out = (hy_x_block){.source = source, .bytes = bytes, .X = *source->dense};
}

void hy_x_block_close(hy_x_block *block)
{
    hy_array_free_reused(block->source->ctx, &block->own);
}

int hy_x_is_at_hand(const hy_source *source)
{
    hybrid_report nothing = HYBRID_REPORT_INIT;
    hy_x_block all;

    if (!source->ops->next_block)
        return 0;
    hy_x_block_open(source, 0, &all);
    return hy_x_block_next(&all, &nothing) == HYBRID_OK && all.end == source->cols;
}

/* ---- reading ---------------------------------------------------------------------- */

/* Moves the block to the columns after its end, as many as fit into block->bytes, and
   allocates memory for them. Reads nothing. */
static hybrid_status advance(hy_x_block *block)
{
    const hy_source *source = block->source;
    hybrid_dense *X         = &block->X;
    const int64_t column    = X->rows * (int64_t)hy_value_size(X->type);
    const int64_t fit       = column > 0 ? block->bytes / column : source->cols;

    block->begin = block->end;
    block->end += hy_min(fit, source->cols - block->begin);
    X->cols = block->end - block->begin;
    X->ld   = X->order == HYBRID_ROW_MAJOR ? X->cols : X->rows;
    HY_TRY(hy_array_reuse(source->ctx, &block->own, X->cols * column,
                          "a column block of X"));
    X->data = block->own.array;
    return HYBRID_OK;
}

/* Reads rows [begin, end) of the column block `arg`, which advance() has placed, from the
   file. */
static hybrid_status load(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_x_block *p   = arg;
    const hybrid_dense *X = &p->X;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const int64_t bytes   = (end - begin) * (int64_t)hy_value_size(X->type);
    const int64_t step    = PART_BYTES / bytes + 1;

    (void)part;
    for (int64_t j = 0; j < X->cols; j += step) {
        const hy_rect rect = {begin, end - begin, p->begin + j,
                              hy_min(step, X->cols - j)};
        const hy_grid to   = {hy_dense_at(X, in_rows ? begin * X->ld : begin + j * X->ld),
                            in_rows ? X->ld : 1, in_rows ? 1 : X->ld};
        HY_TRY(p->source->ops->fill(p->source, &rect, &to));
        HY_TRY(hy_progress_check(&p->source->ctx->progress));
    }
    return HYBRID_OK;
}

hybrid_status hy_x_block_read(hy_x_block *block, hybrid_report *report)
{
    const hybrid_dense *X = &block->X;
    const int64_t size    = (int64_t)hy_value_size(X->type);
    const int64_t start   = hy_now_ns();

    HY_TRY(advance(block));
    if (X->rows == 0 || X->cols == 0)
        return HYBRID_OK;
    const int64_t piece = 1 + PIECE_BYTES / (X->cols * size);
    const int64_t grain =
        X->order == HYBRID_ROW_MAJOR ? piece : hy_max(piece, COLUMN_ROWS);
    HY_TRY(
        hy_pool_for(block->source->ctx->pool, HY_PACK, 0, X->rows, grain, load, block));
    report->prepare_s += (double)(hy_now_ns() - start) * 1e-9;
    report->host_bytes += X->rows * X->cols * size;
    return HYBRID_OK;
}

/* ---- what belongs to a block ------------------------------------------------------ */

hybrid_dense hy_x_block_of_y(const hy_x_block *block, const hybrid_dense *Y)
{
    hybrid_dense part = *Y;

    part.cols = block->X.cols;
    part.data = hy_dense_at(Y, block->begin * (Y->order == HYBRID_ROW_MAJOR ? 1 : Y->ld));
    return part;
}

hy_image hy_x_block_image(const hy_x_block *block)
{
    const hybrid_dense *X = &block->X;
    hy_image image        = {.form  = HY_FORM_NONE,
                             .type  = X->type,
                             .rows  = X->rows,
                             .cols  = X->cols,
                             .axis  = HY_AXIS_COLS,
                             .block = X->cols,
                             .held  = 1,
                             .last  = X->cols,
                             .pitch = X->cols};

    return image;
}
