/* partition/fill.c - parts of an image, made from the operand's source. */
#include "partition/fill.h"

#include <string.h>

#include "base/extremes.h"

/* Columns of a region that lie line after line: all but the tail columns, or these. */
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

/* Rows [row, row + rows) of a strip, elements [begin, end) of each, of which some may
   fill it up. */
static void fill_strip(const hy_source *source, const strip *s, int64_t row, int64_t rows,
                       int64_t begin, int64_t end, char *dst)
{
    const int64_t there = hy_greater(hy_lesser(end, s->cols) - begin, 0);
    const hy_rect rect  = {row, rows, s->begin + begin, there};
    const hy_grid to    = {dst, s->ld, 1};

    if (there > 0)
        source->ops->fill(source, &rect, &to);
    for (int64_t i = 0; i < rows && there < end - begin; i++)
        memset(dst + (size_t)(i * s->ld + there) * s->size, 0,
               (size_t)(end - begin - there) * s->size);
}

/* Elements [begin, end) of a strip: the end of a row, whole rows, the beginning of a row.
 */
static void fill_lines(const hy_source *source, const strip *s, int64_t begin,
                       int64_t end, char *dst)
{
    int64_t row        = begin / s->ld;
    const int64_t skip = begin % s->ld;

    if (skip > 0 && begin < end) {
        const int64_t n = hy_lesser(end - begin, s->ld - skip);
        fill_strip(source, s, row++, 1, skip, skip + n, dst);
        dst += (size_t)n * s->size;
        begin += n;
    }
    const int64_t whole = (end - begin) / s->ld;
    const int64_t rest  = (end - begin) % s->ld;
    fill_strip(source, s, row, whole, 0, s->ld, dst);
    if (rest > 0)
        fill_strip(source, s, row + whole, 1, 0, rest,
                   dst + (size_t)(whole * s->ld) * s->size);
}

void hy_fill_rows(const hy_source *source, const hy_region *region, int64_t row,
                  int64_t rows, char *lines, char *tails)
{
    const strip near = lines_of(region), tail = tails_of(region);

    fill_strip(source, &near, row, rows, 0, near.ld, lines);
    fill_strip(source, &tail, row, rows, 0, tail.ld, tails);
}

/* A region in rows: lines, and the tail columns behind all of them. */
static void fill_region(const hy_image *image, const hy_source *source,
                        const hy_region *region, int64_t begin, int64_t end, char *dst)
{
    const strip lines = lines_of(region), tails = tails_of(region);
    const int64_t behind = image->rows * region->ld;
    const int64_t middle = begin > behind ? begin : hy_lesser(end, behind);

    if (begin < middle)
        fill_lines(source, &lines, begin, middle, dst);
    if (middle < end)
        fill_lines(source, &tails, middle - behind, end - behind,
                   dst + (size_t)(middle - begin) * region->size);
}

static void fill_rect(const hy_source *source, hy_rect rect, char *dst, int64_t ld)
{
    const hy_grid to = {dst, 1, ld};

    if (rect.rows * rect.cols > 0)
        source->ops->fill(source, &rect, &to);
}

/* Elements [begin, end) of columns, of `height` rows from `row` on, first column `col`:
   the end of a column, whole columns, the beginning of a column. */
static void fill_slab(const hy_source *source, hy_rect slab, size_t size, int64_t begin,
                      int64_t end, char *dst)
{
    const int64_t height = slab.rows;
    int64_t col          = slab.col + begin / height;
    const int64_t skip   = begin % height;

    if (skip > 0 && begin < end) {
        const int64_t n = hy_lesser(end - begin, height - skip);
        fill_rect(source, (hy_rect){slab.row + skip, n, col++, 1}, dst, height);
        dst += (size_t)n * size;
        begin += n;
    }
    const int64_t whole = (end - begin) / height;
    const int64_t rest  = (end - begin) % height;
    fill_rect(source, (hy_rect){slab.row, height, col, whole}, dst, height);
    fill_rect(source, (hy_rect){slab.row, rest, col + whole, 1},
              dst + (size_t)(whole * height) * size, height);
}

void hy_fill_columns(const hy_source *source, const hy_region *region, int64_t row,
                     int64_t rows, int64_t begin, int64_t end, char *dst)
{
    const hy_rect slab = {row, rows, region->begin, region->cols};

    fill_slab(source, slab, region->size, begin, end, dst);
}

/* A region in slabs. */
static void fill_slabs(const hy_image *image, const hy_source *source,
                       const hy_region *region, int64_t begin, int64_t end, char *dst)
{
    const int64_t each = HY_X_SLAB * image->cols;

    while (begin < end) {
        const int64_t slab = begin / each, row = slab * HY_X_SLAB;
        const int64_t stop = hy_lesser(end, (slab + 1) * each);
        const hy_rect rect = {row, hy_lesser(HY_X_SLAB, image->rows - row), 0,
                              image->cols};
        fill_slab(source, rect, region->size, begin - slab * each, stop - slab * each,
                  dst);
        dst += (size_t)(stop - begin) * region->size;
        begin = stop;
    }
}

void hy_fill(const hy_image *image, const hy_source *source, const hy_region *region,
             int64_t begin, int64_t end, char *dst)
{
    const hy_rect array = {begin, end - begin, region->begin, 1};

    if (begin == end)
        return;
    if (image->form == HY_FORM_CSR)
        fill_rect(source, array, dst, 1);
    else
        (image->form == HY_FORM_SLABS ? fill_slabs : fill_region)(image, source, region,
                                                                  begin, end, dst);
}
