/* pipeline/load_pieces.c - bytes of B or X to the device, through the pinned ring or from
   where they are. */
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
    const int64_t begin = ops->mark_ns(piece->begin);
    loader->begin_ns    = loader->bytes == 0 ? begin : loader->begin_ns;
    loader->end_ns      = ops->mark_ns(piece->end);
    loader->busy_ns += loader->end_ns - begin;
    loader->bytes += bytes;
    return HYBRID_OK;
}

hybrid_status hy_load_take(hy_loader *loader, hy_load_piece **out)
{
    *out         = &loader->pieces[loader->next];
    loader->next = (loader->next + 1) % HY_LOAD_PIECES;
    return retire(loader, *out);
}

typedef struct filling {
    const hy_problem *problem;
    char *to;
    size_t at; /* in the operand's image */
} filling;

static hybrid_status fill(void *arg, int part, int64_t begin, int64_t end)
{
    const filling *f = arg;

    (void)part;
    hy_shared_fill(f->problem, f->at + (size_t)begin, (size_t)(end - begin),
                   f->to + begin);
    return HYBRID_OK;
}

/* Chunks wait for it in a run. While they are planned, planning comes first: workers turn
   to it within a share of a piece, and fill the ring where it leaves them idle. */
static hy_urgency urgency(hy_loader *loader)
{
    pthread_mutex_lock(&loader->lock);
    const int runs = loader->inbox != NULL;
    pthread_mutex_unlock(&loader->lock);
    return runs ? HY_PACK : HY_IDLE;
}

static hybrid_status fill_piece(hy_loader *loader, size_t at, size_t bytes, char *to)
{
    filling f = {&loader->problem, to, at};
    return hy_pool_for(loader->backend->ctx->pool, urgency(loader), 0, (int64_t)bytes,
                       FILL_BYTES, fill, &f);
}

/* No more than a piece: from where the bytes lie, if the caller pinned them, or through
   the ring. */
static hybrid_status load_piece(hy_loader *loader, size_t at, size_t bytes, char *to)
{
    const hy_backend_ops *ops = loader->backend->ops;
    hy_lane *lane             = loader->gear->lanes[HY_ON_IN];
    const void *source        = hy_shared_source(&loader->problem, at, bytes);
    const int direct          = source && hy_pinned(loader->backend->ctx, source, bytes);
    hy_load_piece *piece;

    HY_TRY(hy_load_take(loader, &piece));
    char *room =
        (char *)loader->ring.ptr + (size_t)(piece - loader->pieces) * loader->piece_bytes;
    if (!direct)
        HY_TRY(fill_piece(loader, at, bytes, room));
    HY_TRY(ops->mark_set(lane, piece->begin));
    HY_TRY(direct ? hy_pinned_copy(lane, to, source, bytes, source)
                  : ops->copy(lane, to, room, bytes));
    HY_TRY(ops->mark_set(lane, piece->end));
    piece->bytes = (int64_t)bytes;
    return HYBRID_OK;
}

hybrid_status hy_load_bytes(hy_loader *loader, size_t at, size_t bytes, char *to)
{
    const size_t most = loader->piece_bytes;

    for (size_t done = 0; done < bytes; done += most)
        HY_TRY(load_piece(loader, at + done, bytes - done < most ? bytes - done : most,
                          to + done));
    return HYBRID_OK;
}
