/* pipeline/load/load_columns.c - loads a column-major X, which the device transposes.

   Kernels read rows. A core copies much faster than it transposes, and most products wait
   for the workers' copies. So workers copy parts of columns, some thousand elements each,
   and the device transposes them at the speed of its memory. The columns of rows [r, r +
   n) arrive one after the other in the loader's device memory, and the device transposes
   them to their place in the image. Pinned columns are copied directly. The lane
   transposes a part before it copies the next; transposing takes 2 % of the time of the
   copy over PCIe. */
#include "base/data/csr.h"
#include "base/memory/pinned.h"
#include "partition/move/fill.h"
#include "pipeline/load/load.h"
#include "pipeline/site/tenant.h"

enum {
    DIRECT_LEAST = 4 << 20, /* minimum bytes of a directly copied part of X, if the
                               loader's memory holds as many */
    DIRECT_PARTS = 32       /* target for the number of direct copies of X, fewer if they
                               would be smaller than DIRECT_LEAST */
};

/* Sets *copy to the direct copy of these rows and columns of X to the device memory in
   which they are transposed. Returns 0 if they must go through the pinned ring. */
static int find_columns(const hy_loader *loader, const hy_rect *rect, hy_row_copy *copy)
{
    const hy_source *source = &loader->source;

    return source->ops->lines &&
           source->ops->lines(source, rect, loader->columns.room.ptr, copy);
}

/* Returns the bytes of a part of X, some of its rows, that the device transposes at once:
   at most `room` and, through the ring, at most a piece, which must hold a row. Returns 0
   if the device does not transpose X. */
static size_t part_bytes(const hy_loader *loader, size_t room)
{
    const hy_image *image = &loader->image;
    const hy_rect all     = {0, image->rows, 0, image->cols};
    const size_t row      = (size_t)image->cols * hy_value_size(image->type);
    hy_row_copy copy;

    if (room == 0 || image->form != HY_FORM_ROWS || image->rows == 0 ||
        loader->source.order != HYBRID_COL_MAJOR)
        return 0;
    if (find_columns(loader, &all, &copy)) /* parts of a directly copied X are small,
                                              because a chunk may wait for HY_LOAD_PIECES
                                              of them */
        return hy_smaller(
            room, hy_larger(DIRECT_LEAST, (size_t)image->rows * row / DIRECT_PARTS));
    return loader->ring.piece_bytes < row ? 0
                                          : hy_smaller(room, loader->ring.piece_bytes);
}

hybrid_status hy_load_columns_begin(hy_loader *loader, size_t room)
{
    loader->columns.bytes = part_bytes(loader, room);
    return loader->columns.bytes > 0
               ? hy_tenants_alloc(loader->backend, room, "columns of X",
                                  &loader->columns.room)
               : HYBRID_OK;
}

static hybrid_status fill(void *arg, int worker, int64_t begin, int64_t end)
{
    const hy_load_piece *piece = arg;
    const hy_load_part *part   = &piece->part;

    (void)worker;
    return hy_fill_columns(piece->source, &part->region, part->begin,
                           part->end - part->begin, begin, end,
                           piece->room + (size_t)begin * part->unit_bytes);
}

/* Enqueues the transposition of `cols` columns of a part, which begin at column `col` of
   the loader's device memory, to rows of `ld` elements that begin `at` bytes from the
   start of the image. */
static hybrid_status transpose(const hy_loader *loader, hy_lane *lane,
                               const hy_load_part *part, int64_t col, int64_t cols,
                               size_t at, int64_t ld)
{
    const int64_t rows                   = part->end - part->begin;
    const size_t size                    = part->region.size;
    const hy_transposition transposition = {.to   = (char *)loader->image_memory.ptr + at,
                                            .from = (char *)loader->columns.room.ptr +
                                                    (size_t)(col * rows) * size,
                                            .to_ld   = ld,
                                            .from_ld = rows,
                                            .lines   = rows,
                                            .length  = cols,
                                            .filled  = ld,
                                            .size    = size};

    return lane->backend->ops->transpose(lane, &transposition);
}

static hybrid_status copy(const hy_loader *loader, hy_lane *lane,
                          const hy_load_piece *piece)
{
    const hy_load_part *part = &piece->part;
    const hy_region *r       = &part->region;
    const hy_image *image    = &loader->image;
    const int64_t near       = r->cols - r->tail;

    HY_TRY(part->direct_count > 0
               ? hy_pinned_copy_rows(lane, part->direct, part->direct->src)
               : lane->backend->ops->copy(lane, loader->columns.room.ptr, piece->room,
                                          part->bytes));
    HY_TRY(transpose(loader, lane, part, 0, near, hy_image_row_at(image, r, part->begin),
                     r->ld));
    if (r->tail == 0)
        return HYBRID_OK;
    return transpose(loader, lane, part, near, r->tail,
                     hy_image_tail_at(image, r, part->begin), r->tail_ld);
}

static const hy_load_way columns = {fill, copy};

hybrid_status hy_load_transposed(hy_loader *loader, const hy_region *region, int64_t row,
                                 int64_t rows)
{
    const hy_rect rect = {row, rows, region->begin, region->cols};
    hy_load_part part  = {.way        = &columns,
                          .region     = *region,
                          .begin      = row,
                          .end        = row + rows,
                          .bytes      = (size_t)(rows * region->cols) * region->size,
                          .units      = rows * region->cols,
                          .unit_bytes = region->size};

    part.direct_count = find_columns(loader, &rect, part.direct);
    if (part.direct_count == 0 && part.bytes > loader->ring.piece_bytes)
        /* the source was pinned when the size of parts was chosen, so it has been
           unpinned since */
        return hy_fail(loader->backend->ctx, HYBRID_BAD_STATE,
                       "X was unpinned while it was multiplied; unpin it after the call");
    return hy_load_part_of(loader, &part);
}
