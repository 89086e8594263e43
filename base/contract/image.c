/* base/contract/image.c - computes where the elements of an operand lie on a device. */
#include "base/contract/image.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"

enum {
    GROUP  = 64, /* rows of X that are sent or left out together */
    CHUNKS = 8   /* the rows that a ring of X holds are divided among at least this many
                    chunks */
};

/* ---- what it is -------------------------------------------------------------------- */

hy_image hy_image_of_csr(int64_t rows, int64_t cols, int64_t nnz, hybrid_type type)
{
    return (hy_image){
        .form = HY_FORM_CSR, .type = type, .rows = rows, .cols = cols, .nnz = nnz};
}

hy_image hy_image_of_dense(hy_form form, int64_t rows, int64_t cols, hybrid_type type,
                           int tail_lines)
{
    return (hy_image){
        .form = form, .type = type, .rows = rows, .cols = cols, .tail_lines = tail_lines};
}

void hy_image_limit(hy_image *image, int64_t begin, int64_t end)
{
    if (image->form != HY_FORM_ROWS)
        return;
    image->before = begin / GROUP * GROUP;
    image->after  = hy_max(0, image->rows - (end + GROUP - 1) / GROUP * GROUP);
}

hy_image hy_image_row_ring(const hy_image *whole, int64_t rows)
{
    hy_image ring = *whole;

    ring.before = ring.after = 0;
    ring.tail_lines          = 0;
    ring.axis                = HY_AXIS_ROWS;
    ring.block               = 1;
    ring.held                = rows;
    return ring;
}

hy_image hy_image_gathered(const hy_image *image)
{
    hy_image gathered = *image;

    gathered.axis  = HY_AXIS_GATHERED;
    gathered.block = gathered.held = gathered.span = 0;
    gathered.last = gathered.pitch = gathered.back = 0;
    return gathered;
}

hy_image hy_image_entry_ring(const hy_image *whole, int64_t held, int64_t span)
{
    hy_image ring = *whole;

    ring.axis  = HY_AXIS_ENTRIES;
    ring.block = 1;
    ring.held  = held;
    ring.span  = span;
    return ring;
}

int64_t hy_ring_max_span(int64_t rows)
{
    return rows - rows / HY_RING_PIECES - 2;
}

int64_t hy_ring_chunks(int64_t ring, int64_t rows)
{
    return ring > 0 ? CHUNKS * (rows / ring + 1) : 1;
}

/* ---- rows -------------------------------------------------------------------------- */

static int64_t filled(int64_t cols, hybrid_type type)
{
    const int64_t each = 16 / (int64_t)hy_value_size(type);

    return cols <= each / 2 ? cols : (cols + each - 1) / each * each;
}

int64_t hy_tail_cols(int tail_lines, hybrid_type type, int64_t cols)
{
    const int64_t size = (int64_t)hy_value_size(type), line = HY_X_LINE / size;
    const int64_t tail = cols % line;

    return tail_lines > 0 && cols / line >= tail_lines && tail * size <= HY_X_TAIL ? tail
                                                                                   : 0;
}

/* Returns the number of elements that all rows take if each has `cols` columns; padding
   counts. */
static int64_t elements_of(const hy_image *image, int64_t cols)
{
    const int64_t tail = hy_tail_cols(image->tail_lines, image->type, cols);

    return image->rows * (filled(cols - tail, image->type) + filled(tail, image->type));
}

/* Returns the bytes of one place of a ring of column blocks, with room for `cols`
   columns; a multiple of 256. */
static size_t place_bytes(const hy_image *image, int64_t cols)
{
    return hy_align((size_t)elements_of(image, cols) * hy_value_size(image->type));
}

int64_t hy_image_rows_held(const hy_image *image)
{
    return image->axis == HY_AXIS_ROWS ? image->block * image->held : image->rows;
}

/* ---- blocks ------------------------------------------------------------------------ */

int64_t hy_image_col_blocks(const hy_image *image)
{
    const int64_t rest = image->cols + image->back - image->last;

    if (image->axis != HY_AXIS_COLS || rest <= 0)
        return 1;
    return 1 + (rest + image->block - 1) / image->block;
}

int64_t hy_image_blocks(const hy_image *image)
{
    if (image->axis == HY_AXIS_ENTRIES)
        return image->nnz;
    return image->axis == HY_AXIS_ROWS ? (image->rows + image->block - 1) / image->block
                                       : hy_image_col_blocks(image);
}

int64_t hy_image_block_of(const hy_image *image, int64_t row, int64_t col)
{
    if (image->axis == HY_AXIS_ROWS)
        return row / image->block;
    if (image->axis != HY_AXIS_COLS)
        return 0;
    return hy_min((col + image->back) / image->block, hy_image_col_blocks(image) - 1);
}

int64_t hy_image_begin(const hy_image *image, int64_t k)
{
    if (k == 0)
        return 0;
    return k < hy_image_col_blocks(image) ? k * image->block - image->back : image->cols;
}

int64_t hy_image_width(const hy_image *image, int64_t k)
{
    return hy_image_begin(image, k + 1) - hy_image_begin(image, k);
}

/* ---- regions ----------------------------------------------------------------------- */

/* Returns the number of entries of B for which the device has room. */
static int64_t room_entries(const hy_image *image)
{
    return image->axis == HY_AXIS_ENTRIES ? image->held + image->span : image->nnz;
}

static hy_region array_of_b(const hy_image *image, int64_t k)
{
    const size_t size = hy_value_size(image->type);
    const size_t col  = hy_align(((size_t)image->rows + 1) * 8);
    const size_t val  = col + hy_align((size_t)room_entries(image) * 4);

    if (k == HY_CSR_OFFSETS)
        return (hy_region){.cols = 1, .ld = 1, .elements = image->rows + 1, .size = 8};
    return (hy_region){.begin    = k,
                       .cols     = 1,
                       .ld       = 1,
                       .elements = image->nnz,
                       .size     = k == HY_CSR_COLS ? 4 : size,
                       .at       = k == HY_CSR_COLS ? col : val};
}

static hy_region slabs(const hy_image *image)
{
    return (hy_region){.cols     = image->cols,
                       .elements = image->rows * image->cols,
                       .size     = hy_value_size(image->type)};
}

static hy_region columns(const hy_image *image, int64_t k)
{
    hy_region r = {.begin = hy_image_begin(image, k),
                   .cols  = hy_image_width(image, k),
                   .size  = hy_value_size(image->type)};

    if (k > 0) {
        r.before = elements_of(image, hy_image_width(image, 0)) +
                   (k - 1) * elements_of(image, image->block);
        r.at = (size_t)(k % image->held) * place_bytes(image, image->pitch);
    }
    r.tail     = hy_tail_cols(image->tail_lines, image->type, r.cols);
    r.ld       = filled(r.cols - r.tail, image->type);
    r.tail_ld  = filled(r.tail, image->type);
    r.elements = image->rows * hy_region_row(&r);
    return r;
}

hy_region hy_image_region(const hy_image *image, int64_t k)
{
    if (image->form == HY_FORM_CSR)
        return array_of_b(image, k);
    return image->form == HY_FORM_SLABS ? slabs(image) : columns(image, k);
}

hy_region hy_image_region_of(const hy_image *image, int64_t col)
{
    return hy_image_region(image, hy_image_block_of(image, 0, col));
}

size_t hy_image_at(const hy_image *image, const hy_region *region, int64_t element)
{
    const int64_t ring = hy_image_rows_held(image) * region->ld;
    const int entries  = image->axis == HY_AXIS_ENTRIES && region->begin > HY_CSR_OFFSETS;
    const int64_t at   = image->axis == HY_AXIS_ROWS ? element % ring
                         : entries                   ? element % image->held
                                                     : element;

    return region->at + (size_t)at * region->size;
}

size_t hy_image_row_at(const hy_image *image, const hy_region *region, int64_t row)
{
    return hy_image_at(image, region, row * region->ld);
}

size_t hy_image_tail_at(const hy_image *image, const hy_region *region, int64_t row)
{
    return hy_image_at(image, region, image->rows * region->ld + row * region->tail_ld);
}

int hy_image_is_flat(const hy_image *image, hybrid_order *order)
{
    const hy_region all = hy_image_region(image, 0);

    *order = image->form == HY_FORM_ROWS ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR;
    if (image->form == HY_FORM_SLABS)
        return image->rows <= HY_X_SLAB || image->cols == 1;
    return image->form == HY_FORM_ROWS && image->axis != HY_AXIS_COLS &&
           all.ld == image->cols;
}

/* ---- bytes ------------------------------------------------------------------------- */

/* Returns the bytes of B that are sent through a ring of entries. Every turn of the ring
   but the first sends `span` entries again. */
static size_t entry_ring_bytes(const hy_image *image)
{
    const int64_t turns = image->nnz > 0 ? (image->nnz - 1) / image->held : 0;
    const size_t sent   = (size_t)(image->nnz + turns * image->span);

    return ((size_t)image->rows + 1) * 8 + sent * (4 + hy_value_size(image->type));
}

size_t hy_image_bytes(const hy_image *image)
{
    if (image->form == HY_FORM_NONE)
        return 0;
    if (image->axis == HY_AXIS_ENTRIES)
        return entry_ring_bytes(image);
    if (image->form == HY_FORM_CSR) {
        const hy_region val = array_of_b(image, HY_CSR_VALUES);
        return val.at + (size_t)val.elements * val.size;
    }
    const hy_region last = hy_image_region(image, hy_image_col_blocks(image) - 1);
    const int64_t all    = last.before + last.elements;
    const int64_t unsent = image->before + image->after; /* rows of equal size */
    return (size_t)(unsent > 0 ? all / image->rows * (image->rows - unsent) : all) *
           last.size;
}

size_t hy_image_room(const hy_image *image)
{
    if (image->axis == HY_AXIS_NONE) {
        hy_image all = *image;
        all.before = all.after = 0;
        return hy_image_bytes(&all);
    }
    if (hy_image_is_gathered(image))
        return 0;
    if (image->axis == HY_AXIS_ENTRIES) {
        const hy_region val = array_of_b(image, HY_CSR_VALUES);
        return val.at + (size_t)room_entries(image) * val.size;
    }
    if (image->axis == HY_AXIS_COLS)
        return (size_t)(image->held - 1) * place_bytes(image, image->pitch) +
               place_bytes(image, image->last);
    const hy_region all = hy_image_region(image, 0);
    return (size_t)hy_image_rows_held(image) * (size_t)all.ld * all.size;
}

/* Returns 1 if rows have the same tail columns in all blocks of both images, which have
   equal blocks. */
static int has_same_tails(const hy_image *a, const hy_image *b)
{
    int same = 1;

    for (int64_t k = 0; k < hy_image_col_blocks(a) && same; k++)
        same = hy_image_region(a, k).tail == hy_image_region(b, k).tail;
    return same;
}

int hy_image_is_same(const hy_image *a, const hy_image *b)
{
    return a->form == b->form && a->type == b->type && a->rows == b->rows &&
           a->cols == b->cols && a->nnz == b->nnz && a->axis == b->axis &&
           a->block == b->block && a->last == b->last && a->pitch == b->pitch &&
           a->back == b->back && has_same_tails(a, b);
}

/* ---- a ring while it is filled ----------------------------------------------------- */

int64_t hy_image_piece(const hy_image *image, const hy_region *region, int64_t begin,
                       int64_t end)
{
    if (image->axis == HY_AXIS_ENTRIES)
        return hy_min(end, begin + hy_min((image->held - 1) / HY_RING_PIECES + 1,
                                          image->held - begin % image->held));
    if (image->axis != HY_AXIS_ROWS)
        return end;
    const int64_t ring = hy_image_rows_held(image);
    const int64_t most = ring * region->ld - begin % (ring * region->ld);
    const int64_t rows = (ring + HY_RING_PIECES - 1) / HY_RING_PIECES;

    return hy_min(end, begin + hy_min(rows * region->ld, most));
}

int64_t hy_image_displaced(const hy_image *image, int64_t k, int64_t end)
{
    if (image->axis == HY_AXIS_COLS && end > 0)
        return k + 1 - image->held;
    if (image->axis == HY_AXIS_ENTRIES)
        return hy_max(0, end - image->held);
    if (image->axis != HY_AXIS_ROWS || end == 0)
        return 0;
    const int64_t block = image->block * columns(image, 0).ld;
    return (end - 1) / block + 1 - image->held;
}

/* Returns the end of the slab that contains row `row` - 1. A slab is sent as a whole. */
static int64_t slab_end(const hy_image *image, int64_t row)
{
    return hy_min((row + HY_X_SLAB - 1) / HY_X_SLAB * HY_X_SLAB, image->rows);
}

int64_t hy_image_elements_for(const hy_image *image, int64_t row, int64_t col)
{
    if (image->form == HY_FORM_SLABS)
        return slab_end(image, row) * image->cols;
    const hy_region region = hy_image_region_of(image, col);
    return region.before +
           hy_min(row, image->rows - image->after) * hy_region_row(&region);
}

/* ---- column blocks of a run -------------------------------------------------------- */

/* Returns the number of values in a cache line of the host. */
static int64_t in_line(const hy_image *image)
{
    return HY_LINE / (int64_t)hy_value_size(image->type);
}

int64_t hy_image_max_back(const hy_image *image)
{
    return image->block % in_line(image) == 0 ? in_line(image) - 1 : 0;
}

void hy_image_move(hy_image *image, const hybrid_dense *Y)
{
    const uintptr_t size = hy_value_size(Y->type), start = (uintptr_t)Y->data;
    const int can = Y->order == HYBRID_ROW_MAJOR && Y->ld % in_line(image) == 0 &&
                    start % size == 0 && hy_image_max_back(image) > 0;

    image->back = can ? (int64_t)(start % HY_LINE / size) : 0;
}
