/* pipeline/load/load_ways.c - how parts of an image are copied: elements in order, rows
   with their tail columns, or directly from the operand. */
#include "base/data/csr.h"
#include "base/memory/pinned.h"
#include "partition/move/fill.h"
#include "pipeline/load/load.h"

static char *on_device(const hy_loader *loader, size_t at)
{
    return (char *)loader->image_memory.ptr + at;
}

static hybrid_status copy_direct(hy_lane *lane, const hy_load_part *part)
{
    for (int i = 0; i < part->direct_count; i++)
        HY_TRY(hy_pinned_copy_rows(lane, &part->direct[i], part->direct[i].src));
    return HYBRID_OK;
}

/* ---- elements -------------------------------------------------------------------- */

static hybrid_status fill_elements(void *arg, int worker, int64_t begin, int64_t end)
{
    const hy_load_piece *piece = arg;
    const hy_load_part *part   = &piece->part;

    (void)worker;
    return hy_fill(piece->image, piece->source, &part->region, part->begin + begin,
                   part->begin + end, piece->room + (size_t)begin * part->unit_bytes);
}

static hybrid_status copy_elements(const hy_loader *loader, hy_lane *lane,
                                   const hy_load_piece *piece)
{
    const hy_load_part *part = &piece->part;
    char *to = on_device(loader, hy_image_at(&loader->image, &part->region, part->begin));

    return part->direct_count > 0
               ? copy_direct(lane, part)
               : lane->backend->ops->copy(lane, to, piece->room, part->bytes);
}

static const hy_load_way elements = {fill_elements, copy_elements};

/* Returns the place in the operand's memory of elements [begin, end) of the region if the
   device can read them from there directly, else NULL. */
static const char *find_run(const hy_loader *loader, const hy_region *region,
                            int64_t begin, int64_t end)
{
    const hy_source *source = &loader->source;
    hybrid_order order      = HYBRID_ROW_MAJOR;

    if (!source->ops->run ||
        (loader->image.form != HY_FORM_CSR && !hy_image_is_flat(&loader->image, &order)))
        return NULL;
    return source->ops->run(source, order, (int)region->begin, begin, end);
}

size_t hy_load_max_bytes(const hy_loader *loader, const hy_region *region, int64_t begin,
                         int64_t end)
{
    const hy_load_ring *ring = &loader->ring;
    const int64_t most       = (int64_t)(ring->direct_bytes / region->size);
    const int64_t stop       = end - begin < most ? end : begin + most;

    return find_run(loader, region, begin, stop) ? ring->direct_bytes : ring->piece_bytes;
}

hybrid_status hy_load_elements(hy_loader *loader, const hy_region *region, int64_t begin,
                               int64_t end)
{
    const size_t size  = region->size;
    const char *direct = find_run(loader, region, begin, end);
    const int64_t most =
        (int64_t)((direct ? loader->ring.direct_bytes : loader->ring.piece_bytes) / size);

    for (int64_t at = begin; at < end; at += most) {
        const int64_t stop = end - at < most ? end : at + most;
        const size_t bytes = (size_t)(stop - at) * size;
        hy_load_part part  = {.way          = &elements,
                              .region       = *region,
                              .begin        = at,
                              .end          = stop,
                              .bytes        = bytes,
                              .units        = stop - at,
                              .unit_bytes   = size,
                              .direct_count = direct != NULL};
        if (direct)
            part.direct[0] = (hy_row_copy){
                .dst       = on_device(loader, hy_image_at(&loader->image, region, at)),
                .src       = direct + (size_t)(at - begin) * size,
                .dst_pitch = bytes,
                .src_pitch = bytes,
                .bytes     = bytes,
                .rows      = 1};
        HY_TRY(hy_load_part_of(loader, &part));
    }
    return HYBRID_OK;
}

/* ---- rows ------------------------------------------------------------------------ */

/* Fills rows and their tail columns (hy_image.tail_lines) together, while both are in the
   caches. */
static hybrid_status fill_rows(void *arg, int worker, int64_t begin, int64_t end)
{
    const hy_load_piece *piece = arg;
    const hy_load_part *part   = &piece->part;
    const hy_region *r         = &part->region;
    const size_t line          = (size_t)r->ld * r->size;
    char *tails                = piece->room + (size_t)(part->end - part->begin) * line;

    (void)worker;
    return hy_fill_rows(piece->source, r, part->begin + begin, end - begin,
                        piece->room + (size_t)begin * line,
                        tails + (size_t)(begin * r->tail_ld) * r->size);
}

static hybrid_status copy_rows(const hy_loader *loader, hy_lane *lane,
                               const hy_load_piece *piece)
{
    const hy_backend_ops *ops = lane->backend->ops;
    const hy_load_part *part  = &piece->part;
    const hy_region *r        = &part->region;
    const size_t rows         = (size_t)(part->end - part->begin);
    const size_t lines = rows * (size_t)r->ld * r->size, tails = part->bytes - lines;

    if (part->direct_count > 0)
        return copy_direct(lane, part);
    HY_TRY(ops->copy(lane,
                     on_device(loader, hy_image_row_at(&loader->image, r, part->begin)),
                     piece->room, lines));
    return ops->copy(lane,
                     on_device(loader, hy_image_tail_at(&loader->image, r, part->begin)),
                     piece->room + lines, tails);
}

static const hy_load_way whole_rows = {fill_rows, copy_rows};

/* Sets `copies` to direct copies, from the operand's memory, of these rows of a column
   block and of their tail columns. Returns the number of copies; 0 if direct copies are
   impossible or rows must be padded with zeros. */
static int find_rows(const hy_loader *loader, const hy_region *r, int64_t row,
                     int64_t rows, hy_row_copy copies[HY_LOAD_COPIES])
{
    const hy_source *source = &loader->source;
    const int64_t near      = r->cols - r->tail;
    const hy_rect lines     = {row, rows, r->begin, near};
    const hy_rect tails     = {row, rows, r->begin + near, r->tail};
    char *to                = on_device(loader, hy_image_row_at(&loader->image, r, row));
    char *to_tail           = on_device(loader, hy_image_tail_at(&loader->image, r, row));

    if (!loader->backend->ops->copy_rows || loader->image.axis != HY_AXIS_COLS ||
        source->order != HYBRID_ROW_MAJOR || !source->ops->lines ||
        hy_region_row(r) != r->cols)
        return 0;
    if (!source->ops->lines(source, &lines, to, copies))
        return 0;
    if (r->tail == 0)
        return 1;
    return source->ops->lines(source, &tails, to_tail, copies + 1) ? 2 : 0;
}

/* Loads the rows, and then their tail columns, as two parts. */
static hybrid_status load_separately(hy_loader *loader, const hy_region *r, int64_t row,
                                     int64_t rows)
{
    const int64_t tails = loader->image.rows * r->ld;

    HY_TRY(hy_load_elements(loader, r, row * r->ld, (row + rows) * r->ld));
    return hy_load_elements(loader, r, tails + row * r->tail_ld,
                            tails + (row + rows) * r->tail_ld);
}

hybrid_status hy_load_rows(hy_loader *loader, const hy_region *r, int64_t row,
                           int64_t rows)
{
    const size_t row_bytes = (size_t)hy_region_row(r) * r->size;
    hy_load_part part      = {.way        = &whole_rows,
                              .region     = *r,
                              .begin      = row,
                              .end        = row + rows,
                              .bytes      = (size_t)rows * row_bytes,
                              .units      = rows,
                              .unit_bytes = row_bytes};

    if (loader->columns.bytes > 0)
        return hy_load_transposed(loader, r, row, rows);
    part.direct_count = find_rows(loader, r, row, rows, part.direct);
    if (part.direct_count > 0 || (r->tail > 0 && part.bytes <= loader->ring.piece_bytes))
        return hy_load_part_of(loader, &part);
    return load_separately(loader, r, row, rows);
}
