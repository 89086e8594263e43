/* pipeline/load_rows.c - rows of a panel of X, from where the caller pinned them. */
#include "base/csr.h"
#include "pipeline/load.h"

hybrid_status hy_load_rows(hy_loader *loader, const hy_x_panel *x, int64_t first,
                           int64_t rows, int *direct)
{
    const hy_backend_ops *ops = loader->backend->ops;
    hy_lane *lane             = loader->gear->lanes[HY_ON_IN];
    hy_load_piece *piece;
    hy_row_copy copies[HY_ROW_COPIES];
    const int count =
        ops->copy_rows ? hy_shared_rows(&loader->problem, x, first, rows, copies) : 0;
    const size_t row = (size_t)x->cols * hy_value_size(loader->problem.X->type);

    *direct = count > 0 && hy_pinned_rows(loader->backend->ctx, copies, count, 0);
    if (!*direct && x->wrapped > 0) /* panels wrap where all of X is pinned */
        return hy_fail(loader->backend->ctx, HYBRID_BAD_STATE,
                       "X was unpinned while it was multiplied");
    if (!*direct)
        return HYBRID_OK;
    HY_TRY(hy_load_flush(loader));
    HY_TRY(hy_load_take(loader, &piece));
    HY_TRY(ops->mark_set(lane, piece->begin));
    for (int i = 0; i < count; i++)
        HY_TRY(hy_pinned_copy_rows(lane, &copies[i], copies[i].src));
    HY_TRY(ops->mark_set(lane, piece->end));
    piece->bytes = rows * (int64_t)row;
    return HYBRID_OK;
}
