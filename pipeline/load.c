/* pipeline/load.c - B or X to the device, piece by piece, ahead of the chunks. */
#include "pipeline/load.h"

#include <string.h>

#include "base/csr.h"
#include "partition/pack.h"
#include "pipeline/run.h"

enum { PIECE_BYTES = 8 << 20, FILL_BYTES = 64 << 10 };

/* ---- open and close ------------------------------------------------------------ */

hybrid_status hy_loader_open(hy_pipeline *p, size_t shared_bytes)
{
    const hy_backend_ops *ops = p->backend->ops;
    hy_loader *loader         = &p->loader;
    const size_t share        = hy_align(shared_bytes / HY_LOAD_PIECES + 1);

    pthread_mutex_init(&loader->lock, NULL);
    loader->piece_bytes = share < PIECE_BYTES ? share : PIECE_BYTES;
    HY_TRY(ops->alloc(p->backend, HY_PINNED, HY_LOAD_PIECES * loader->piece_bytes,
                      &loader->ring));
    for (int i = 0; i < HY_LOAD_PIECES; i++) {
        HY_TRY(ops->mark_new(p->backend, &loader->pieces[i].begin));
        HY_TRY(ops->mark_new(p->backend, &loader->pieces[i].end));
    }
    return HYBRID_OK;
}

void hy_loader_close(hy_pipeline *p)
{
    hy_loader *loader = &p->loader;

    if (loader->piece_bytes == 0)
        return;
    for (int i = 0; i < HY_LOAD_PIECES; i++) {
        p->backend->ops->mark_free(loader->pieces[i].begin);
        p->backend->ops->mark_free(loader->pieces[i].end);
    }
    p->backend->ops->free(p->backend, &loader->ring);
    pthread_mutex_destroy(&loader->lock);
    memset(loader, 0, sizeof *loader);
}

/* ---- one piece ------------------------------------------------------------------- */

/* The piece's copy is over, if there was one. */
static hybrid_status retire(hy_pipeline *p, hy_load_piece *piece)
{
    const hy_backend_ops *ops = p->backend->ops;
    hy_loader *loader         = &p->loader;
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

static hybrid_status fill_piece(hy_pipeline *p, size_t at, size_t bytes, char *to)
{
    filling f = {p->problem, to, at};
    return hy_pool_for(p->ctx->pool, HY_PACK, 0, (int64_t)bytes, FILL_BYTES, fill, &f);
}

/* Bytes [at, at + bytes) of the image, no more than a piece: from where they lie, if the
   caller pinned them, or through the ring. */
static hybrid_status load_piece(hy_pipeline *p, size_t at, size_t bytes)
{
    const hy_backend_ops *ops = p->backend->ops;
    hy_loader *loader         = &p->loader;
    hy_lane *lane             = p->lanes[HY_ON_IN];
    hy_load_piece *piece      = &loader->pieces[loader->next];
    char *room = (char *)loader->ring.ptr + (size_t)loader->next * loader->piece_bytes;
    char *to   = (char *)p->shared.ptr + at;
    const void *source = hy_shared_source(p->problem, at, bytes);
    const int direct   = source && hy_pinned(p->ctx, source, bytes);

    loader->next = (loader->next + 1) % HY_LOAD_PIECES;
    HY_TRY(retire(p, piece));
    if (!direct)
        HY_TRY(fill_piece(p, at, bytes, room));
    HY_TRY(ops->mark_set(lane, piece->begin));
    HY_TRY(direct ? hy_pinned_copy(lane, to, source, bytes, source)
                  : ops->copy(lane, to, room, bytes));
    HY_TRY(ops->mark_set(lane, piece->end));
    piece->bytes = (int64_t)bytes;
    return HYBRID_OK;
}

static hybrid_status load_bytes(hy_pipeline *p, size_t at, size_t bytes)
{
    const size_t most = p->loader.piece_bytes;

    for (size_t done = 0; done < bytes; done += most)
        HY_TRY(load_piece(p, at + done, bytes - done < most ? bytes - done : most));
    return HYBRID_OK;
}

/* ---- rows -------------------------------------------------------------------------- */

/* Entries [begin, end) of B: columns, then values; or elements of X. */
static hybrid_status load_entries(hy_pipeline *p, const hy_shared_layout *at,
                                  int64_t begin, int64_t end)
{
    const size_t size = hy_value_size(p->problem->A->type);
    const size_t from = (size_t)begin, count = (size_t)(end - begin);

    if (p->problem->op == HY_SPGEMM)
        HY_TRY(load_bytes(p, at->col + from * 4, count * 4));
    return load_bytes(p, at->val + from * size, count * size);
}

/* With the lock held. */
static void tick(hy_pipeline *p)
{
    p->loader.wanted = -1;
    if (!p->loader.ticking)
        hy_slot_push(&p->inbox, &p->loader.tick);
    p->loader.ticking = 1;
}

/* Tell how far it got, if it got so far. 0: nobody needs more. */
static int advance_to(hy_pipeline *p, int64_t entries, hybrid_status status)
{
    hy_loader *loader = &p->loader;

    pthread_mutex_lock(&loader->lock);
    if (status == HYBRID_OK) /* chunks must not touch what never came */
        loader->entries = entries;
    loader->status = status;
    if (loader->wanted >= 0 && (entries >= loader->wanted || status != HYBRID_OK))
        tick(p);
    const int goes_on = !loader->stop && status == HYBRID_OK;
    pthread_mutex_unlock(&loader->lock);
    return goes_on;
}

/* Of X in columns the slab that the row before is in comes whole. */
static int64_t entries_before(const hy_problem *problem, int64_t row)
{
    if (problem->op == HY_SPGEMM)
        return hy_offset(problem->B, row);
    if (problem->in_cols) {
        row = (row + HY_X_SLAB - 1) / HY_X_SLAB * HY_X_SLAB;
        row = row < problem->X->rows ? row : problem->X->rows;
    }
    return row * (problem->in_cols ? problem->X->cols : hy_shared_ld(problem->X));
}

static void *load(void *arg)
{
    hy_pipeline *p            = arg;
    const hy_problem *problem = p->problem;
    const hy_shared_layout at = hy_shared_layout_of(problem);
    const int64_t all         = entries_before(problem, problem->A->cols);
    const int64_t step =
        (int64_t)(p->loader.piece_bytes / hy_value_size(problem->A->type));

    hybrid_status status = load_bytes(p, 0, at.col); /* row offsets of B, whole */
    int64_t done         = 0;
    while (advance_to(p, done, status) && done < all) {
        const int64_t end = all - done < step ? all : done + step;
        status            = load_entries(p, &at, done, end);
        done              = end;
    }
    return NULL;
}

/* ---- what the driver calls
 * ------------------------------------------------------------- */

hybrid_status hy_loader_start(hy_pipeline *p)
{
    hy_loader *loader = &p->loader;

    loader->next     = 0;
    loader->begin_ns = loader->end_ns = loader->busy_ns = loader->bytes = 0;
    loader->entries = -1; /* not even row offsets */
    loader->wanted  = -1;
    loader->stop = loader->ticking = 0;
    loader->status                 = HYBRID_OK;
    for (int i = 0; i < HY_LOAD_PIECES; i++)
        loader->pieces[i].bytes = 0;
    if (pthread_create(&loader->thread, NULL, load, p) != 0)
        return hy_fail(p->ctx, HYBRID_NO_MEMORY, "no thread for loading an operand");
    return HYBRID_OK;
}

int hy_loader_reached(hy_pipeline *p, int64_t rows)
{
    hy_loader *loader  = &p->loader;
    const int64_t need = entries_before(p->problem, rows);

    pthread_mutex_lock(&loader->lock);
    const int reached = loader->entries >= need;
    loader->wanted    = reached ? -1 : need;
    if (!reached && loader->status != HYBRID_OK) /* it has stopped already */
        tick(p);
    pthread_mutex_unlock(&loader->lock);
    return reached;
}

hybrid_status hy_loader_ticked(hy_pipeline *p)
{
    pthread_mutex_lock(&p->loader.lock);
    p->loader.ticking          = 0;
    const hybrid_status status = p->loader.status;
    pthread_mutex_unlock(&p->loader.lock);
    return status;
}

hybrid_status hy_loader_finish(hy_pipeline *p)
{
    hy_loader *loader = &p->loader;

    pthread_mutex_lock(&loader->lock);
    loader->stop   = 1;
    loader->wanted = -1;
    pthread_mutex_unlock(&loader->lock);
    pthread_join(loader->thread, NULL);
    hybrid_status status = loader->status;
    for (int i = 0; i < HY_LOAD_PIECES && status == HYBRID_OK; i++)
        status = retire(p, &loader->pieces[(loader->next + i) % HY_LOAD_PIECES]);
    if (status == HYBRID_OK)
        hy_trace_load(&p->tracer, p);
    return status;
}
