/* pipeline/load.c - B or X to the device, once for all chunks. */
#include "pipeline/load.h"

#include "base/clock.h"
#include "partition/pack.h"

enum { PIECE_BYTES = 16 << 20, FILL_BYTES = 256 << 10 };

typedef struct piece {
    const hy_problem *problem;
    char *ring;
    size_t at; /* in the operand's image */
} piece;

static hybrid_status fill(void *arg, int part, int64_t begin, int64_t end)
{
    const piece *p = arg;

    (void)part;
    hy_shared_fill(p->problem, p->at + (size_t)begin, (size_t)(end - begin),
                   p->ring + begin);
    return HYBRID_OK;
}

/* Piece k through slot k modulo depth; its earlier copy must be over. */
static hybrid_status load_piece(hy_pipeline *p, hy_slot *slot, size_t at, size_t bytes)
{
    const hy_backend_ops *ops = p->backend->ops;
    hy_lane *lane             = p->lanes[HY_ON_IN];
    hy_mark *mark             = slot->passage[HY_STEP_H2D].end;
    piece next                = {p->problem, slot->pinned.ptr, at};

    if (slot->unseen)
        HY_TRY(ops->host_wait(mark));
    HY_TRY(
        hy_pool_for(p->ctx->pool, HY_PACK, 0, (int64_t)bytes, FILL_BYTES, fill, &next));
    HY_TRY(ops->copy(lane, (char *)p->shared.ptr + at, next.ring, bytes));
    HY_TRY(ops->mark_set(lane, mark));
    slot->unseen = mark;
    return HYBRID_OK;
}

hybrid_status hy_load_shared(hy_pipeline *p)
{
    const size_t total   = hy_shared_bytes(p->problem);
    const int64_t start  = hy_now_ns();
    hybrid_status status = HYBRID_OK;
    size_t step          = PIECE_BYTES;

    if (step > p->slots[0].pinned.bytes)
        step = p->slots[0].pinned.bytes;
    for (size_t at = 0, k = 0; at < total && status == HYBRID_OK; at += step, k++)
        status = load_piece(p, &p->slots[k % (size_t)p->depth], at,
                            total - at < step ? total - at : step);
    for (int i = 0; i < p->depth;
         i++) { /* also after an error: the ring is needed next */
        hy_slot *slot = &p->slots[i];
        if (slot->unseen) {
            const hybrid_status waited = p->backend->ops->host_wait(slot->unseen);
            status                     = status == HYBRID_OK ? waited : status;
        }
        slot->unseen = NULL;
    }
    if (status == HYBRID_OK)
        hy_trace_load(&p->tracer, p, start, hy_now_ns(), (int64_t)total);
    return status;
}
