/* partition/move/fill.c - fills parts of an image of X from the source of X.

   A region is a column block of X; slabs are pieces of a column-major X
   (base/contract/image.h). Elements of a strip, a region or a slab are numbered in the
   order in which the image stores them. */
#include "partition/move/fill.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"

/* The part of a region that is stored row after row: all columns except the tail columns,
   or the tail columns. */
typedef struct strip {
    int64_t begin, cols, ld;
    size_t size;
} strip;

static strip lines_of(const hy_region *r)
{
    return (strip){r->begin, r->cols - r->tail, r->ld, r->size};
}

static strip tails_of(const hy_region *r)
{
    return (strip){r->begin + r->cols - r->tail, r->tail, r->tail_ld, r->size};
}

/* Fills elements [begin, end) of each of the rows [row, row + rows) of a strip. Elements
   behind the columns of the strip are padding and become 0. */
static hybrid_status fill_strip(const hy_source *source, const strip *s, int64_t row,
                                int64_t rows, int64_t begin, int64_t end, char *dst)
{
    const int64_t present = hy_max(hy_min(end, s->cols) - begin, 0);
    const hy_rect rect    = {row, rows, s->begin + begin, present};
    const hy_grid to      = {dst, s->ld, 1};

    if (present > 0)
        HY_TRY(source->ops->fill(source, &rect, &to));
    for (int64_t i = 0; i < rows && present < end - begin; i++)
        memset(dst + (size_t)(i * s->ld + present) * s->size, 0,
               (size_t)(end - begin - present) * s->size);
    return HYBRID_OK;
}

/* Fills elements [begin, end) of a strip, counted row after row. The range consists of
   the end of a row, whole rows, and the beginning of a row. */
static hybrid_status fill_lines(const hy_source *source, const strip *s, int64_t begin,
                                int64_t end, char *dst)
{
    int64_t row        = begin / s->ld;
    const int64_t skip = begin % s->ld;

    if (skip > 0 && begin < end) {
        const int64_t n = hy_min(end - begin, s->ld - skip);
        HY_TRY(fill_strip(source, s, row++, 1, skip, skip + n, dst));
        dst += (size_t)n * s->size;
        begin += n;
    }
    const int64_t whole = (end - begin) / s->ld;
    const int64_t rest  = (end - begin) % s->ld;
    HY_TRY(fill_strip(source, s, row, whole, 0, s->ld, dst));
    if (rest == 0)
        return HYBRID_OK;
    return fill_strip(source, s, row + whole, 1, 0, rest,
                      dst + (size_t)(whole * s->ld) * s->size);
}

hybrid_status hy_fill_rows(const hy_source *source, const hy_region *region, int64_t row,
                           int64_t rows, char *lines, char *tails)
{
    const strip near = lines_of(region), tail = tails_of(region);

    HY_TRY(fill_strip(source, &near, row, rows, 0, near.ld, lines));
    return fill_strip(source, &tail, row, rows, 0, tail.ld, tails);
}

/* Fills elements [begin, end) of a row-major region. All tail columns are stored behind
   the last row. */
static hybrid_status fill_region(const hy_image *image, const hy_source *source,
                                 const hy_region *region, int64_t begin, int64_t end,
                                 char *dst)
{
    const strip lines = lines_of(region), tails = tails_of(region);
    const int64_t behind = image->rows * region->ld;
    const int64_t middle = begin > behind ? begin : hy_min(end, behind);

    if (begin < middle)
        HY_TRY(fill_lines(source, &lines, begin, middle, dst));
    if (middle == end)
        return HYBRID_OK;
    return fill_lines(source, &tails, middle - behind, end - behind,
                      dst + (size_t)(middle - begin) * region->size);
}

static hybrid_status fill_rect(const hy_source *source, hy_rect rect, char *dst,
                               int64_t ld)
{
    const hy_grid to = {dst, 1, ld};

    return rect.rows * rect.cols > 0 ? source->ops->fill(source, &rect, &to) : HYBRID_OK;
}

/* Fills elements [begin, end) of a column-major slab (base/contract/image.h), counted
   column after column. The range consists of the end of a column, whole columns, and the
   beginning of a column. */
static hybrid_status fill_slab(const hy_source *source, hy_rect slab, size_t size,
                               int64_t begin, int64_t end, char *dst)
{
    const int64_t height = slab.rows;
    int64_t col          = slab.col + begin / height;
    const int64_t skip   = begin % height;

    if (skip > 0 && begin < end) {
        const int64_t n = hy_min(end - begin, height - skip);
        HY_TRY(fill_rect(source, (hy_rect){slab.row + skip, n, col++, 1}, dst, height));
        dst += (size_t)n * size;
        begin += n;
    }
    const int64_t whole = (end - begin) / height;
    const int64_t rest  = (end - begin) % height;
    HY_TRY(fill_rect(source, (hy_rect){slab.row, height, col, whole}, dst, height));
    return fill_rect(source, (hy_rect){slab.row, rest, col + whole, 1},
                     dst + (size_t)(whole * height) * size, height);
}

hybrid_status hy_fill_columns(const hy_source *source, const hy_region *region,
                              int64_t row, int64_t rows, int64_t begin, int64_t end,
                              char *dst)
{
    const hy_rect slab = {row, rows, region->begin, region->cols};

    return fill_slab(source, slab, region->size, begin, end, dst);
}

/* Fills elements [begin, end) of a region that consists of slabs. */
static hybrid_status fill_slabs(const hy_image *image, const hy_source *source,
                                const hy_region *region, int64_t begin, int64_t end,
                                char *dst)
{
    const int64_t each = HY_X_SLAB * image->cols;

    while (begin < end) {
        const int64_t slab = begin / each, row = slab * HY_X_SLAB;
        const int64_t stop = hy_min(end, (slab + 1) * each);
        const hy_rect rect = {row, hy_min(HY_X_SLAB, image->rows - row), 0, image->cols};
        HY_TRY(fill_slab(source, rect, region->size, begin - slab * each,
                         stop - slab * each, dst));
        dst += (size_t)(stop - begin) * region->size;
        begin = stop;
    }
    return HYBRID_OK;
}

hybrid_status hy_fill(const hy_image *image, const hy_source *source,
                      const hy_region *region, int64_t begin, int64_t end, char *dst)
{
    if (begin == end)
        return HYBRID_OK;
    return (image->form == HY_FORM_SLABS ? fill_slabs : fill_region)(
        image, source, region, begin, end, dst);
}
