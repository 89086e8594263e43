/* pipeline/load/load_pieces.c - the pinned ring.

   Workers fill pieces. The lane copies pieces in the order in which the loader took them.
   A piece is reused when its copy has ended. */
#include "base/threads/clock.h"
#include "base/threads/pool.h"
#include "pipeline/load/load.h"

enum { FILL_BYTES = 64 << 10 };

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
