/* partition/move/source_subset.c - source of listed rows of X, for a reduced A
   (hypersparse.h).

   Workers gather the rows, even if X is pinned and a copy engine could read it. */
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/memory.h"
#include "partition/move/sources.h"
#include "partition/move/transpose.h"

/* cache prefetch: number of rows in advance, and maximum bytes of each row */
enum { DISTANCE = 4, EXPECTED = 512 };

/* Starts fetching a row into the CPU's caches, because the processor cannot predict which
   row is next. */
static void expect(const char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes && at < EXPECTED; at += HY_LINE)
        __builtin_prefetch(from + at);
}

/* Copies the listed rows of a row-major X to rows of `to`, or to parts of them. */
static void copy_rows(const hybrid_dense *X, const int32_t *listed, const hy_rect *rect,
                      const hy_grid *to)
{
    const size_t size = hy_value_size(X->type), bytes = (size_t)rect->cols * size;

    for (int64_t i = 0; i < rect->rows; i++) {
        if (i + DISTANCE < rect->rows)
            expect(hy_dense_at(X, listed[i + DISTANCE] * X->ld + rect->col), bytes);
        memcpy(to->at + (size_t)(i * to->row) * size,
               hy_dense_at(X, listed[i] * X->ld + rect->col), bytes);
    }
}

static hybrid_status fill(const hy_source *self, const hy_rect *rect, const hy_grid *to)
{
    const hybrid_dense *X = self->dense;
    const int32_t *listed = self->listed + rect->row;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const int64_t step    = in_rows ? 1 : X->ld; /* distance in elements of X from column
                                                    to column */

    if (!X->data)
        return self->all->ops->gather(self->all, listed, rect->rows, rect->col,
                                      rect->cols, to);
    const hy_grid from = {hy_dense_at(X, rect->col * step), in_rows ? X->ld : 1, step};
    if (in_rows && to->col == 1)
        copy_rows(X, listed, rect, to);
    else
        hy_copy_listed(to, &from, listed, rect->rows, rect->cols, hy_value_size(X->type));
    return HYBRID_OK;
}

/* Gathers rows of X' (the rows of X that a reduced A needs) with numbers `listed`. Their
   numbers in the caller's X are looked up piece by piece. */
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
