/* pipeline/load_rows.c - rows of a panel of X, from where the caller pinned them. */
#include "base/csr.h"
#include "pipeline/run.h"

hybrid_status hy_load_rows(hy_pipeline *p, const hy_x_panel *x, int64_t first,
                           int64_t rows, int *direct)
{
    const hy_backend_ops *ops = p->backend->ops;
    hy_lane *lane             = p->gear->lanes[HY_ON_IN];
    hy_load_piece *piece;
    hy_row_copy copies[2];
    const int count =
        ops->copy_rows ? hy_shared_rows(p->problem, x, first, rows, copies) : 0;
    const size_t row = (size_t)x->cols * hy_value_size(p->problem->X->type);

    *direct = count > 0 && hy_pinned(p->ctx, copies[0].src,
                                     (size_t)(rows - 1) * copies[0].src_pitch + row);
    if (!*direct)
        return HYBRID_OK;
    HY_TRY(hy_load_take(p, &piece));
    HY_TRY(ops->mark_set(lane, piece->begin));
    for (int i = 0; i < count; i++)
        HY_TRY(hy_pinned_copy_rows(lane, &copies[i], copies[i].src));
    HY_TRY(ops->mark_set(lane, piece->end));
    piece->bytes = rows * (int64_t)row;
    return HYBRID_OK;
}
