/* pipeline/load_pieces.c - bytes of B or X to the device, through the pinned ring or from
   where they are. */
#include "base/clock.h"
#include "base/pool.h"
#include "pipeline/load.h"

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

    (void)part;
    hy_shared_fill(piece->problem, piece->at + (size_t)begin, (size_t)(end - begin),
                   piece->room + begin);
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

static hybrid_status enqueue(hy_loader *loader, hy_load_piece *piece, const void *direct)
{
    const hy_backend_ops *ops = loader->backend->ops;
    hy_lane *lane             = loader->gear->lanes[HY_ON_IN];
    const size_t bytes        = (size_t)piece->bytes;

    piece->follows = direct && !loader->paused && is_under_way(loader, piece);
    loader->paused = 0;
    if (!piece->follows)
        HY_TRY(ops->mark_set(lane, piece->begin));
    HY_TRY(direct ? hy_pinned_copy(lane, piece->to, direct, bytes, direct)
                  : ops->copy(lane, piece->to, piece->room, bytes));
    piece->untimed = direct && !loader->timed;
    return piece->untimed ? hy_mark_untimed(lane, piece->end)
                          : ops->mark_set(lane, piece->end);
}

/* From where the bytes lie, or from the ring. Nobody asks when a piece was there that was
   not sent. */
static hybrid_status send(hy_loader *loader, hy_load_piece *piece, const void *direct)
{
    const hybrid_status status = enqueue(loader, piece, direct);

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
    HY_TRY(send(loader, piece, NULL));
    if (piece->reached >= 0)
        hy_load_tell(loader, piece->reached, HYBRID_OK);
    return HYBRID_OK;
}

/* Workers begin with this piece before the one before is waited for. */
static hybrid_status load_piece(hy_loader *loader, size_t at, size_t bytes, char *to,
                                const void *direct)
{
    hy_load_piece *piece;

    HY_TRY(hy_load_take(loader, &piece));
    const size_t index = (size_t)(piece - loader->pieces);
    piece->problem     = &loader->problem;
    piece->at          = at;
    piece->room        = (char *)loader->ring.ptr + index * loader->piece_bytes;
    piece->to          = to;
    piece->reached     = -1;
    if (!direct)
        hy_pool_begin(&piece->filling, loader->backend->ctx->pool, urgency(loader), 0,
                      (int64_t)bytes, FILL_BYTES, fill, piece);
    const hybrid_status status = hy_load_flush(loader);
    if (!direct)
        loader->filled = piece; /* workers fill it, whatever befell the one before */
    if (!direct || status == HYBRID_OK)
        piece->bytes = (int64_t)bytes;
    HY_TRY(status);
    return direct ? send(loader, piece, direct) : HYBRID_OK;
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

    for (size_t done = 0; done < bytes; done += most)
        HY_TRY(load_piece(loader, at + done, bytes - done < most ? bytes - done : most,
                          to + done, direct ? direct + done : NULL));
    return HYBRID_OK;
}
