/* pipeline/load_pieces.c - bytes of B or X to the device, through the pinned ring or from
   where they are. */
#include "base/clock.h"
#include "base/csr.h"
#include "base/pool.h"
#include "pipeline/turned.h"

enum { FILL_BYTES = 64 << 10 };

/* The piece's copy is over, if there was one. */
static hybrid_status retire(hy_loader *loader, hy_load_piece *piece)
{
    const hy_backend_ops *ops = loader->backend->ops;
    const int64_t bytes       = piece->bytes;

    piece->bytes = 0;
    if (bytes == 0)
        return HYBRID_OK;
    HY_TRY(ops->host_wait(piece->end));
    const int64_t begin = piece->follows ? loader->end_ns : ops->mark_ns(piece->begin);
    loader->begin_ns    = loader->bytes == 0 ? begin : loader->begin_ns;
    loader->end_ns      = piece->untimed ? hy_now_ns() : ops->mark_ns(piece->end);
    loader->busy_ns += loader->end_ns - begin;
    loader->bytes += bytes;
    loader->ring_bytes += piece->part.direct ? 0 : bytes;
    return HYBRID_OK;
}

hybrid_status hy_load_take(hy_loader *loader, hy_load_piece **out)
{
    *out         = &loader->pieces[loader->next];
    loader->next = (loader->next + 1) % HY_LOAD_PIECES;
    HY_TRY(retire(loader, *out));
    (*out)->follows = (*out)->untimed = 0;
    return HYBRID_OK;
}

hybrid_status hy_load_retire(hy_loader *loader)
{
    hy_load_piece *piece;

    for (int i = 0; i < HY_LOAD_PIECES; i++)
        HY_TRY(hy_load_take(loader, &piece));
    return HYBRID_OK;
}

static hybrid_status fill(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_load_piece *piece = arg;
    const hy_load_part *what   = &piece->part;
    const size_t bytes         = (size_t)(end - begin);

    (void)part;
    if (what->turned)
        hy_shared_fill_columns(piece->problem, &what->x, what->row, what->rows,
                               (size_t)begin, bytes, piece->room + begin);
    else
        hy_shared_fill(piece->problem, what->at + (size_t)begin, bytes,
                       piece->room + begin);
    return HYBRID_OK;
}

/* Bytes of a row in lines of the panel, and apart of them. */
static size_t line_bytes(const hy_load_piece *piece)
{
    return (size_t)piece->part.x.ld * hy_value_size(piece->problem->X->type);
}

static size_t rest_bytes(const hy_load_piece *piece)
{
    return (size_t)piece->part.x.rest_ld * hy_value_size(piece->problem->X->type);
}

/* Rows [begin, end) of the part: what lies apart is read while it is in the caches. */
static hybrid_status fill_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_load_piece *piece = arg;
    const hy_load_part *what   = &piece->part;
    char *rest                 = piece->room + (size_t)what->rows * line_bytes(piece);

    (void)part;
    hy_shared_fill_rows(piece->problem, &what->x, what->row + begin, end - begin,
                        piece->room + (size_t)begin * line_bytes(piece),
                        rest + (size_t)begin * rest_bytes(piece));
    return HYBRID_OK;
}

/* Chunks wait for it in a run. While they are planned, both take turns: the first chunk
   needs the plan and its rows of B; unless these are all of them. */
static hy_urgency urgency(hy_loader *loader)
{
    pthread_mutex_lock(&loader->lock);
    const int runs = loader->inbox != NULL;
    pthread_mutex_unlock(&loader->lock);
    return runs || loader->first ? HY_PACK : HY_COMPUTE;
}

/* What is enqueued behind a piece that may still be under way needs no mark of its own to
   begin with: times between copies cost the bus some 5 us each. */
static int is_under_way(const hy_loader *loader, const hy_load_piece *piece)
{
    const size_t index = (size_t)(piece - loader->pieces);
    return loader->pieces[(index + HY_LOAD_PIECES - 1) % HY_LOAD_PIECES].bytes > 0;
}

static hybrid_status copy_rows(const hy_loader *loader, hy_lane *lane,
                               const hy_load_piece *piece)
{
    const hy_backend_ops *ops = lane->backend->ops;
    const hy_load_part *part  = &piece->part;
    const size_t lines        = (size_t)part->rows * line_bytes(piece);

    HY_TRY(ops->copy(lane, hy_load_lines(loader, &part->x, part->place), piece->room,
                     lines));
    return ops->copy(lane, hy_load_rest(loader, &part->x, part->place),
                     piece->room + lines, (size_t)part->rows * rest_bytes(piece));
}

/* From where the bytes lie, or from the ring. */
static hybrid_status copy_part(const hy_loader *loader, hy_lane *lane,
                               const hy_load_piece *piece)
{
    const hy_load_part *part = &piece->part;

    if (part->turned)
        return hy_turned_copy(loader, lane, piece);
    if (part->rows > 0)
        return copy_rows(loader, lane, piece);
    return part->direct
               ? hy_pinned_copy(lane, part->to, part->direct, part->bytes, part->direct)
               : lane->backend->ops->copy(lane, part->to, piece->room, part->bytes);
}

static hybrid_status enqueue(hy_loader *loader, hy_load_piece *piece)
{
    const hy_backend_ops *ops = loader->backend->ops;
    hy_lane *lane             = loader->lane_set->lanes[HY_ON_IN];
    const int direct          = piece->part.direct != NULL;

    piece->follows = direct && !loader->paused && is_under_way(loader, piece);
    loader->paused = 0;
    if (!piece->follows)
        HY_TRY(ops->mark_set(lane, piece->begin));
    HY_TRY(copy_part(loader, lane, piece));
    piece->untimed = direct && !loader->timed;
    return piece->untimed ? hy_mark_untimed(lane, piece->end)
                          : ops->mark_set(lane, piece->end);
}

/* Nobody asks when a piece was there that was not sent. */
static hybrid_status send(hy_loader *loader, hy_load_piece *piece)
{
    const hybrid_status status = enqueue(loader, piece);

    if (status != HYBRID_OK)
        piece->bytes = 0;
    return status;
}

hybrid_status hy_load_flush(hy_loader *loader)
{
    hy_load_piece *piece = loader->filled;

    if (!piece)
        return HYBRID_OK;
    loader->filled             = NULL;
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

/* Workers begin to fill it. */
static void begin_fill(hy_loader *loader, hy_load_piece *piece)
{
    const hy_load_part *part = &piece->part;
    const int in_rows        = part->rows > 0 && !part->turned;
    const size_t row         = in_rows ? part->bytes / (size_t)part->rows : 1;

    hy_pool_begin(&piece->filling, loader->backend->ctx->pool, urgency(loader), 0,
                  (int64_t)(part->bytes / row), 1 + (int64_t)((FILL_BYTES - 1) / row),
                  in_rows ? fill_rows : fill, piece);
}

/* Workers begin with this piece before the one before is waited for. */
hybrid_status hy_load_part_of(hy_loader *loader, const hy_load_part *part)
{
    const int direct = part->direct != NULL;
    hy_load_piece *piece;

    HY_TRY(hy_load_take(loader, &piece));
    const size_t index = (size_t)(piece - loader->pieces);
    piece->problem     = &loader->problem;
    piece->part        = *part;
    piece->room        = (char *)loader->ring.ptr + index * loader->piece_bytes;
    piece->reached     = -1;
    if (!direct)
        begin_fill(loader, piece);
    const hybrid_status status = hy_load_flush(loader);
    if (!direct)
        loader->filled = piece; /* workers fill it, whatever befell the one before */
    if (!direct || status == HYBRID_OK)
        piece->bytes = (int64_t)part->bytes;
    HY_TRY(status);
    return direct ? send(loader, piece) : HYBRID_OK;
}

/* Where the bytes lie, if the caller pinned them; NULL else. */
static const void *pinned_source(const hy_loader *loader, size_t at, size_t bytes)
{
    const void *source = hy_shared_source(&loader->problem, at, bytes);
    return source && hy_pinned(loader->backend->ctx, source, bytes) ? source : NULL;
}

size_t hy_load_most(const hy_loader *loader, size_t at, size_t bytes)
{
    return pinned_source(loader, at, hy_smaller(bytes, loader->direct_bytes))
               ? loader->direct_bytes
               : loader->piece_bytes;
}

hybrid_status hy_load_bytes(hy_loader *loader, size_t at, size_t bytes, char *to)
{
    const char *direct = pinned_source(loader, at, bytes);
    const size_t most  = direct ? loader->direct_bytes : loader->piece_bytes;

    for (size_t done = 0; done < bytes; done += most) {
        const hy_load_part part = {.at     = at + done,
                                   .bytes  = hy_smaller(bytes - done, most),
                                   .to     = to + done,
                                   .direct = direct ? direct + done : NULL};
        HY_TRY(hy_load_part_of(loader, &part));
    }
    return HYBRID_OK;
}
