/* partition/move/source_columns.c - source of a column-major X in memory. */
#include <string.h>

#include "base/data/csr.h"
#include "base/memory/pinned.h"
#include "partition/move/sources.h"
#include "partition/move/transpose.h"

static hybrid_status fill(const hy_source *self, const hy_rect *rect, const hy_grid *to)
{
    const hybrid_dense *X = self->dense;
    const size_t size = hy_value_size(X->type), bytes = (size_t)rect->rows * size;
    const char *from = hy_dense_at(X, rect->row + rect->col * X->ld);

    if (to->row != 1)
        hy_transpose(from, X->ld, rect->rows, rect->cols, size, to->at, to->row);
    else if (X->ld == rect->rows && to->col == rect->rows)
        memcpy(to->at, from, (size_t)rect->cols * bytes);
    else
        for (int64_t j = 0; j < rect->cols; j++)
            memcpy(to->at + (size_t)(j * to->col) * size,
                   from + (size_t)(j * X->ld) * size, bytes);
    return HYBRID_OK;
}

/* Offers the rectangle for a copy only if all of X is pinned, because its columns are far
   apart. */
static int lines(const hy_source *self, const hy_rect *rect, char *to, hy_row_copy *copy)
{
    const hybrid_dense *X = self->dense;
    const size_t size = hy_value_size(X->type), bytes = (size_t)rect->rows * size;
    const int64_t all = (X->cols - 1) * X->ld + X->rows;

    *copy = (hy_row_copy){.dst       = to,
                          .src       = hy_dense_at(X, rect->row + rect->col * X->ld),
                          .dst_pitch = bytes,
                          .src_pitch = (size_t)X->ld * size,
                          .bytes     = bytes,
                          .rows      = rect->cols};
    return copy->src_pitch <= HY_MOST_PITCH &&
           hy_pinned(self->ctx, X->data, (size_t)all * size);
}

const hy_source_ops hy_source_columns = {
    .fill = fill, .gather = hy_dense_gather, .run = hy_dense_run, .lines = lines};
