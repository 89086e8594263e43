/* partition/move/source_subset.c - source of listed rows of X, for a reduced A
   (hypersparse.h).

   Workers gather the rows, even if X is pinned and a copy engine could read it. The
   source of all rows of X, in memory or in a file, finds them. */
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/move/sources.h"

static hybrid_status fill(const hy_source *self, const hy_rect *rect, const hy_grid *to)
{
    return self->all->ops->gather(self->all, self->listed + rect->row, rect->rows,
                                  rect->col, rect->cols, to);
}

/* Gathers rows of the reduced X. Their indices in the caller's X are looked up piece by
   piece. */
static hybrid_status gather(const hy_source *self, const int32_t *listed, int64_t count,
                            int64_t col, int64_t cols, const hy_grid *to)
{
    enum { PIECE = 1 << 10 };
    const size_t size = hy_value_size(self->dense->type);
    int32_t rows[PIECE];

    for (int64_t i = 0; i < count; i += PIECE) {
        const int64_t n    = hy_min(PIECE, count - i);
        const hy_grid part = {to->at + (size_t)(i * to->row) * size, to->row, to->col};
        for (int64_t k = 0; k < n; k++)
            rows[k] = self->listed[listed[i + k]];
        HY_TRY(self->all->ops->gather(self->all, rows, n, col, cols, &part));
    }
    return HYBRID_OK;
}

static const hy_source_ops ops = {.fill = fill, .gather = gather};

hy_source hy_source_subset(const hy_source *all, const int32_t *listed, int64_t rows)
{
    return (hy_source){.ops    = &ops,
                       .ctx    = all->ctx,
                       .order  = all->order,
                       .rows   = rows,
                       .cols   = all->cols,
                       .dense  = all->dense,
                       .listed = listed,
                       .all    = all};
}
