/* pipeline/load/load_pieces.c - parts of an image pass through the pinned ring, as
   elements in order or as rows with their tail columns, or are copied directly from the
   operand.

   Workers fill pieces. The lane copies pieces in the order in which the loader took them.
   A piece is reused when its copy has ended. */
#include "base/data/csr.h"
#include "base/memory/pinned.h"
#include "base/threads/clock.h"
#include "base/threads/pool.h"
#include "partition/move/fill.h"
#include "pipeline/load/load.h"

enum { FILL_BYTES = 64 << 10 };

/* ---- the ring -------------------------------------------------------------------- */

/* Waits for the piece's copy, if there is one, and adds its time and bytes to those of
   the loader (hy_load_times). */
static hybrid_status retire(hy_loader *loader, hy_load_piece *piece)
{
    const hy_backend_ops *ops = loader->backend->ops;
    hy_load_times *times      = &loader->times;
    const int64_t bytes       = piece->bytes;

    piece->bytes = 0;
    if (bytes == 0)
        return HYBRID_OK;
    HY_TRY(ops->host_wait(piece->end));
    const int64_t begin = piece->follows ? times->end_ns : ops->mark_ns(piece->begin);
    times->begin_ns     = times->bytes == 0 ? begin : times->begin_ns;
    times->end_ns       = piece->untimed ? hy_now_ns() : ops->mark_ns(piece->end);
    times->busy_ns += times->end_ns - begin;
    times->bytes += bytes;
    times->ring_bytes += piece->part.direct_count > 0 ? 0 : bytes;
    return HYBRID_OK;
}

/* Takes the next piece of the ring after its copy has ended. */
static hybrid_status take(hy_loader *loader, hy_load_piece **out)
{
    hy_load_ring *ring = &loader->ring;

    *out       = &ring->pieces[ring->next];
    ring->next = (ring->next + 1) % HY_LOAD_PIECES;
    HY_TRY(retire(loader, *out));
    (*out)->follows = (*out)->untimed = 0;
    return HYBRID_OK;
}

hybrid_status hy_load_retire(hy_loader *loader)
{
    hy_load_piece *piece;

    for (int i = 0; i < HY_LOAD_PIECES; i++)
        HY_TRY(take(loader, &piece));
    return HYBRID_OK;
}

/* Returns the urgency of filling a piece. During a run chunks wait for the pieces. During
   planning, filling and planning take turns, because the first chunk needs both the plan
   and its rows of B. If loader->first is 1, filling comes first. */
static hy_urgency urgency(hy_loader *loader)
{
    pthread_mutex_lock(&loader->progress.lock);
    const int runs = loader->progress.inbox != NULL;
    pthread_mutex_unlock(&loader->progress.lock);
    return runs || loader->first ? HY_PACK : HY_COMPUTE;
}

/* Returns 1 if the copy of the piece before `piece` may still be under way. `piece` then
   needs no mark at its beginning: a timed mark between two copies delays the second by
   about 5 us. */
static int is_under_way(const hy_load_ring *ring, const hy_load_piece *piece)
{
    const size_t index = (size_t)(piece - ring->pieces);
    return ring->pieces[(index + HY_LOAD_PIECES - 1) % HY_LOAD_PIECES].bytes > 0;
}

static hybrid_status enqueue(hy_loader *loader, hy_load_piece *piece)
{
    const hy_backend_ops *ops = loader->backend->ops;
    hy_load_ring *ring        = &loader->ring;
    hy_lane *lane             = loader->lane_set->lanes[HY_ON_IN];
    const int direct          = piece->part.direct_count > 0;

    piece->follows = direct && !ring->paused && is_under_way(ring, piece);
    ring->paused   = 0;
    if (!piece->follows)
        HY_TRY(ops->mark_set(lane, piece->begin));
    HY_TRY(piece->part.way->copy(loader, lane, piece));
    piece->untimed = direct && !ring->timed;
    return piece->untimed ? hy_mark_untimed(lane, piece->end)
                          : ops->mark_set(lane, piece->end);
}

/* Enqueues the piece's copy. After an error the piece counts as empty, because no mark
   will be set. */
static hybrid_status send(hy_loader *loader, hy_load_piece *piece)
{
    const hybrid_status status = enqueue(loader, piece);

    if (status != HYBRID_OK)
        piece->bytes = 0;
    return status;
}

hybrid_status hy_load_flush(hy_loader *loader)
{
    hy_load_piece *piece = loader->ring.filled;

    if (!piece)
        return HYBRID_OK;
    loader->ring.filled        = NULL;
    const hybrid_status status = hy_pool_end(&piece->filling);
    if (status != HYBRID_OK) {
        piece->bytes = 0;
        return status;
    }
    HY_TRY(send(loader, piece));
    if (piece->reached >= 0)
        hy_load_tell(loader, piece->reached, HYBRID_OK);
    return HYBRID_OK;
}

/* Lets workers begin to fill the piece. */
static void begin_fill(hy_loader *loader, hy_load_piece *piece)
{
    const hy_load_part *part = &piece->part;
    const int64_t grain      = 1 + (int64_t)((FILL_BYTES - 1) / part->unit_bytes);

    hy_pool_begin(&piece->filling, loader->backend->ctx->pool, urgency(loader), 0,
                  part->units, grain, part->way->fill, piece);
}

/* Lets workers begin to fill a piece of this part, then waits for the piece before it and
   sends that one. A part that is copied directly is sent behind it at once. */
hybrid_status hy_load_part_of(hy_loader *loader, const hy_load_part *part)
{
    hy_load_ring *ring = &loader->ring;
    const int direct   = part->direct_count > 0;
    hy_load_piece *piece;

    HY_TRY(hy_progress_check(&loader->backend->ctx->progress));
    HY_TRY(take(loader, &piece));
    const size_t index = (size_t)(piece - ring->pieces);
    piece->image       = &loader->image;
    piece->source      = &loader->source;
    piece->part        = *part;
    piece->room        = (char *)ring->buffer.ptr + index * ring->piece_bytes;
    piece->reached     = -1;
    if (!direct)
        begin_fill(loader, piece);
    const hybrid_status status = hy_load_flush(loader);
    if (!direct)
        ring->filled = piece; /* is set after an error, too, because workers already fill
                                 the piece */
    if (!direct || status == HYBRID_OK)
        piece->bytes = (int64_t)part->bytes;
    HY_TRY(status);
    return direct ? send(loader, piece) : HYBRID_OK;
}

/* ---- direct copies --------------------------------------------------------------- */

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

/* Fills a piece of an array of B, which lies in the image as in its source. */
static hybrid_status fill_array(void *arg, int worker, int64_t begin, int64_t end)
{
    const hy_load_piece *piece = arg;
    const hy_load_part *part   = &piece->part;
    const hy_rect rect = {part->begin + begin, end - begin, part->region.begin, 1};
    const hy_grid to   = {piece->room + (size_t)begin * part->unit_bytes, 1, 1};

    (void)worker;
    return piece->source->ops->fill(piece->source, &rect, &to);
}

static const hy_load_way elements = {fill_elements, copy_elements};
static const hy_load_way array    = {fill_array, copy_elements};

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
    const size_t size      = region->size;
    const char *direct     = find_run(loader, region, begin, end);
    const hy_load_way *way = loader->image.form == HY_FORM_CSR ? &array : &elements;
    const int64_t most =
        (int64_t)((direct ? loader->ring.direct_bytes : loader->ring.piece_bytes) / size);

    for (int64_t at = begin; at < end; at += most) {
        const int64_t stop = end - at < most ? end : at + most;
        const size_t bytes = (size_t)(stop - at) * size;
        hy_load_part part  = {.way          = way,
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
