/* partition/pattern/chunks.c - cuts a product into chunks that fit the device. */
#include "partition/pattern/chunks.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/parts/passes.h"
#include "partition/pattern/gathered.h"

enum {
    GALLOP = 32 /* the number of rows that is tried first for a chunk is that of the chunk
                   before it; the second try differs by 1/GALLOP */
};

/* State while a product is cut into chunks. */
typedef struct cutter {
    const hy_cut *cut;
    hy_context *ctx;
    int64_t width; /* columns of the widest column block */
    int64_t rows;  /* rows of the chunk cut last; 1 before the first */
    hy_chunk_array chunks;
} cutter;

/* Returns 1 if X is on the device in column blocks. */
static int in_blocks(const hy_cut *cut)
{
    return cut->image.axis == HY_AXIS_COLS;
}

/* Returns the features of one row with `cols` columns. If the image is gathered, upper
   bounds are assumed: the row touches as many rows of B or X as it has entries, and as
   many entries of B as it has scalar products. */
static hy_features row_features(const hy_cut *cut, int64_t row, int64_t cols)
{
    hy_features f = hy_profile_range(cut->profile, row, row + 1, cols);

    if (hy_image_is_gathered(&cut->image)) {
        f.gather_rows = f.nnz;
        f.gather_nnz  = cut->B ? f.products : 0;
    }
    return f;
}

/* ---- width of a column block -------------------------------------------------- */

/* Returns the greatest number of columns, at most `width`, with which row `row` fits a
   slot; 0 if not even one column fits. */
static int64_t widest(const hy_cut *cut, int64_t row, int64_t width)
{
    int64_t low = 0, high = width;

    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        const hy_features f  = row_features(cut, row, middle);
        if (hy_cut_bytes(cut, &f) <= cut->slot_bytes)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Returns 1 if a row with the maxima of all rows (entries, scalar products) fits a slot.
   If so, every row fits; if not, rows must be tried one by one. */
static int every_row_fits(const hy_cut *cut, int64_t cols)
{
    const hy_features *all = &cut->profile->features;
    hy_features f          = *all;

    f.rows         = 1;
    f.nnz          = all->row_max;
    f.out_cols     = cols;
    f.products_max = cut->B ? all->products_max : all->row_max * cols;
    f.products     = f.products_max;
    f.out_bound    = cut->B && f.products < cols ? f.products : cols;
    if (hy_image_is_gathered(&cut->image)) {
        f.gather_rows = f.nnz;
        f.gather_nnz  = cut->B ? f.products : 0;
    }
    return hy_cut_bytes(cut, &f) <= cut->slot_bytes;
}

/* Sets *out to the greatest number of columns with which every row fits a slot. Only a
   gathered X may get fewer than all columns; column blocks of an image have a fixed
   width. Fails with NO_DEVICE_MEMORY if a row does not fit. */
static hybrid_status find_width(cutter *c, int64_t *out)
{
    const hy_cut *cut  = c->cut;
    const int64_t cols = in_blocks(cut) ? cut->image.last : cut->profile->out_cols;
    const int can_cut  = hy_image_is_gathered(&cut->image) && !cut->B;

    *out = cols;
    if (every_row_fits(cut, cols))
        return HYBRID_OK;
    for (int64_t row = cut->profile->begin; row < cut->profile->end; row++) {
        HY_TRY(hy_progress_check(&c->ctx->progress));
        hy_features f = row_features(cut, row, *out);
        if (hy_cut_bytes(cut, &f) <= cut->slot_bytes)
            continue;
        *out = can_cut ? widest(cut, row, *out) : 0;
        if (*out > 0)
            continue;
        f = row_features(cut, row, can_cut && cols > 0 ? 1 : cols);
        return hy_cut_refuse(c->ctx, cut, row, &f);
    }
    return HYBRID_OK;
}

/* Sets c->width so that the column blocks of a gathered X are as few and as equal as
   possible. If X has an image of column blocks, c->width is the width of these. */
static hybrid_status choose_width(cutter *c)
{
    const int64_t cols = c->cut->profile->out_cols;
    int64_t width;

    HY_TRY(find_width(c, &width));
    const int64_t blocks = width > 0 ? (cols + width - 1) / width : 1;
    c->width             = in_blocks(c->cut) ? width : (cols + blocks - 1) / blocks;
    return HYBRID_OK;
}

/* ---- rows of a chunk --------------------------------------------------------- */

static int fits_to(const cutter *c, int64_t begin, int64_t end)
{
    const hy_features f = hy_profile_range(c->cut->profile, begin, end, c->width);

    return hy_cut_fits(c->cut, &f);
}

/* Returns the features of the longest chunk that begins at `begin`, for an image that is
   not gathered. The end of the chunk is the last row, or is found by steps of doubling
   length from the length of the chunk before, and by bisection. */
static hy_features resident_chunk(const cutter *c, int64_t begin)
{
    const hy_profile *p = c->cut->profile;
    int64_t low = begin + 1, high = p->end + 1; /* rows [begin, low) fit a slot; rows
                                                   [begin, high) do not, or `high` is past
                                                   the end */
    int64_t step = c->rows / GALLOP + 1;

    if (begin == p->begin && fits_to(c, begin, p->end))
        low = p->end;
    for (int64_t at = hy_min(begin + c->rows, p->end); high - low > 1; step *= 2) {
        if (fits_to(c, begin, at)) {
            low = at;
            at  = hy_min(at + step, p->end);
        } else {
            high = at;
            at   = hy_max(at - step, begin + 1);
        }
        if (at <= low || at >= high)
            break;
    }
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (fits_to(c, begin, middle))
            low = middle;
        else
            high = middle;
    }
    return hy_profile_range(p, begin, low, c->width);
}

/* ---- the array ---------------------------------------------------------------- */

/* Cuts all rows into chunks, for an image that is not gathered. */
static hybrid_status cut_resident(cutter *c)
{
    const hy_cut *cut = c->cut;

    for (int64_t row = cut->profile->begin; row < cut->profile->end;) {
        const hy_features f = resident_chunk(c, row);
        HY_TRY(hy_chunk_array_add(c->ctx, &c->chunks, cut, c->width, row, &f));
        HY_TRY(hy_progress_check(&c->ctx->progress));
        row += f.rows;
        c->rows = f.rows;
    }
    return HYBRID_OK;
}

/* Cuts all rows into the chunks of the first column block. */
static hybrid_status cut_rows(cutter *c)
{
    return hy_image_is_gathered(&c->cut->image)
               ? hy_cut_gathered(c->ctx, c->cut, c->width, &c->chunks)
               : cut_resident(c);
}

hy_chunk_list hy_chunks_of(const hy_chunk *cut, int64_t count)
{
    return (hy_chunk_list){
        .cut = cut, .ranges = hy_chunk_ranges(cut, count), .count = count};
}

hy_chunk_list hy_chunks_in(const hy_chunk_list *list, const hy_image *image)
{
    hy_chunk_list other = *list;

    other.image = *image;
    other.count = list->ranges * hy_image_col_blocks(image);
    return other;
}

hy_chunk hy_chunk_at(const hy_chunk_list *list, int64_t i)
{
    const hy_image *image = &list->image;

    if (image->axis != HY_AXIS_COLS)
        return list->cut[i];
    hy_chunk chunk          = list->cut[i % list->ranges];
    chunk.id                = i;
    chunk.col_begin         = hy_image_begin(image, i / list->ranges);
    chunk.col_end           = chunk.col_begin + hy_image_width(image, i / list->ranges);
    chunk.features.products = chunk.features.nnz * (chunk.col_end - chunk.col_begin);
    return chunk;
}

static hybrid_status repeat_resident(cutter *c)
{
    const int64_t ranges      = c->chunks.count;
    const hy_chunk_list first = {.cut = c->chunks.of, .ranges = ranges, .count = ranges};
    hy_chunk_list list        = hy_chunks_in(&first, &c->cut->image);

    HY_TRY(hy_chunk_array_reserve(c->ctx, &c->chunks, list.count));
    list.cut = c->chunks.of;
    for (int64_t i = list.count - 1; i >= 0; i--) /* goes backwards, because element i is
                                                     made from one of the first `ranges`
                                                     elements, and these must be
                                                     overwritten last */
        c->chunks.of[i] = hy_chunk_at(&list, i);
    c->chunks.count = list.count;
    return HYBRID_OK;
}

/* Appends the chunks of the other column blocks: the same rows, other columns. */
static hybrid_status repeat_blocks(cutter *c)
{
    const hy_profile *p  = c->cut->profile;
    const int64_t ranges = c->chunks.count;
    const int64_t blocks = c->width > 0 ? (p->out_cols + c->width - 1) / c->width : 1;

    HY_TRY(hy_chunk_array_reserve(c->ctx, &c->chunks, ranges * blocks));
    for (; c->chunks.count < ranges * blocks; c->chunks.count++) {
        const hy_chunk *first = &c->chunks.of[c->chunks.count % ranges];
        const int64_t begin   = c->chunks.count / ranges * c->width;
        hy_chunk *chunk       = &c->chunks.of[c->chunks.count];

        *chunk           = *first;
        chunk->id        = c->chunks.count;
        chunk->col_begin = begin;
        chunk->col_end  = begin + c->width < p->out_cols ? begin + c->width : p->out_cols;
        chunk->features = hy_profile_range(p, first->row_begin, first->row_end,
                                           chunk->col_end - chunk->col_begin);
        chunk->features.gather_rows = first->features.gather_rows;
    }
    return HYBRID_OK;
}

int64_t hy_chunk_ranges(const hy_chunk *chunks, int64_t count)
{
    int64_t k = 0;

    while (k < count && chunks[k].col_begin == chunks[0].col_begin)
        k++;
    return k;
}

static hybrid_status cut_rectangles(cutter *c)
{
    HY_TRY(choose_width(c));
    HY_TRY(cut_rows(c));
    return in_blocks(c->cut) ? repeat_resident(c) : repeat_blocks(c);
}

hybrid_status hy_cut_chunks(hy_context *ctx, const hy_cut *cut, hy_chunk **chunks,
                            int64_t *count)
{
    cutter c                   = {.cut = cut, .ctx = ctx, .rows = 1};
    const hybrid_status status = hy_image_in_passes(&cut->image)
                                     ? hy_cut_passes(ctx, cut, &c.chunks)
                                     : cut_rectangles(&c);

    if (status != HYBRID_OK) {
        hy_array_free(ctx, c.chunks.of);
        return status;
    }
    *chunks = c.chunks.of;
    *count  = c.chunks.count;
    return HYBRID_OK;
}
