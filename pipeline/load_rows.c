/* pipeline/load_rows.c - rows of a panel of X that are more than bytes of its image. */
#include "base/csr.h"
#include "pipeline/turned.h"

char *hy_load_lines(const hy_loader *loader, const hy_x_panel *x, int64_t place)
{
    return (char *)loader->shared.ptr + x->at +
           (size_t)(place * x->ld) * hy_value_size(loader->problem.X->type);
}

char *hy_load_rest(const hy_loader *loader, const hy_x_panel *x, int64_t place)
{
    return hy_load_lines(loader, x, loader->problem.X->rows) +
           (size_t)(place * x->rest_ld) * hy_value_size(loader->problem.X->type);
}

/* From where the caller pinned them. */
static hybrid_status copy_rows(hy_loader *loader, const hy_row_copy *copies, int count,
                               size_t bytes)
{
    const hy_backend_ops *ops = loader->backend->ops;
    hy_lane *lane             = loader->lane_set->lanes[HY_ON_IN];
    hy_load_piece *piece;

    HY_TRY(hy_load_flush(loader));
    HY_TRY(hy_load_take(loader, &piece));
    HY_TRY(ops->mark_set(lane, piece->begin));
    for (int i = 0; i < count; i++)
        HY_TRY(hy_pinned_copy_rows(lane, &copies[i], copies[i].src));
    HY_TRY(ops->mark_set(lane, piece->end));
    piece->part  = (hy_load_part){.bytes = bytes, .direct = copies->src};
    piece->bytes = (int64_t)bytes;
    return HYBRID_OK;
}

/* To lines and to what lies apart of them, through the ring. */
static hybrid_status load_both(hy_loader *loader, const hy_x_panel *x, int64_t first,
                               int64_t rows)
{
    const size_t size       = hy_value_size(loader->problem.X->type);
    const hy_load_part part = {.bytes = (size_t)(rows * (x->ld + x->rest_ld)) * size,
                               .row   = first,
                               .rows  = rows,
                               .place = first,
                               .x     = *x};

    return hy_load_part_of(loader, &part);
}

hybrid_status hy_load_rows(hy_loader *loader, const hy_x_panel *x, int64_t first,
                           int64_t rows, int *done)
{
    hy_row_copy copies[HY_ROW_COPIES];
    const size_t row = (size_t)x->cols * hy_value_size(loader->problem.X->type);

    *done = 1;
    if (loader->turns > 0)
        return hy_turned_load(loader, x, first, rows);
    const int count = loader->backend->ops->copy_rows
                          ? hy_shared_rows(&loader->problem, x, first, rows, copies)
                          : 0;
    if (count > 0 && hy_pinned_rows(loader->backend->ctx, copies, count, 0))
        return copy_rows(loader, copies, count, (size_t)rows * row);
    if (x->wrapped > 0) /* panels wrap where all of X is pinned */
        return hy_fail(loader->backend->ctx, HYBRID_BAD_STATE,
                       "X was unpinned while it was multiplied");
    if (x->rest > 0 && rows * (x->ld + x->rest_ld) * (int64_t)(row / (size_t)x->cols) <=
                           (int64_t)loader->piece_bytes)
        return load_both(loader, x, first, rows);
    *done = 0;
    return HYBRID_OK;
}
