/* pipeline/load.c - B or X to the device, piece by piece, ahead of the chunks. */
#include "pipeline/load.h"

#include <string.h>

#include "base/csr.h"
#include "partition/pack.h"
#include "partition/x_window.h"
#include "pipeline/run.h"

enum { PIECE_BYTES = 8 << 20, FILL_BYTES = 64 << 10 };

/* ---- open and close ------------------------------------------------------------ */

static void load(hy_slot *go);

hybrid_status hy_loader_open(hy_pipeline *p, size_t shared_bytes)
{
    const hy_backend_ops *ops = p->backend->ops;
    hy_loader *loader         = &p->loader;
    const size_t share        = hy_align(shared_bytes / HY_LOAD_PIECES + 1);

    pthread_mutex_init(&loader->lock, NULL);
    pthread_cond_init(&loader->changed, NULL);
    loader->piece_bytes = share < PIECE_BYTES ? share : PIECE_BYTES;
    HY_TRY(ops->alloc(p->backend, HY_PINNED, HY_LOAD_PIECES * loader->piece_bytes,
                      &loader->ring));
    for (int i = 0; i < HY_LOAD_PIECES; i++) {
        HY_TRY(hy_gear_mark(p->gear, &loader->pieces[i].begin));
        HY_TRY(hy_gear_mark(p->gear, &loader->pieces[i].end));
    }
    return hy_gear_loader(p->gear, load);
}

void hy_loader_close(hy_pipeline *p)
{
    hy_loader *loader = &p->loader;

    if (loader->piece_bytes == 0)
        return;
    p->backend->ops->free(p->backend, &loader->ring);
    pthread_cond_destroy(&loader->changed);
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

hybrid_status hy_load_take(hy_pipeline *p, hy_load_piece **out)
{
    hy_loader *loader = &p->loader;

    *out         = &loader->pieces[loader->next];
    loader->next = (loader->next + 1) % HY_LOAD_PIECES;
    return retire(p, *out);
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

/* Bytes [at, at + bytes) of the image, no more than a piece, to `to` on the device: from
   where they lie, if the caller pinned them, or through the ring. */
static hybrid_status load_piece(hy_pipeline *p, size_t at, size_t bytes, char *to)
{
    const hy_backend_ops *ops = p->backend->ops;
    hy_loader *loader         = &p->loader;
    hy_lane *lane             = p->gear->lanes[HY_ON_IN];
    const void *source        = hy_shared_source(p->problem, at, bytes);
    const int direct          = source && hy_pinned(p->ctx, source, bytes);
    hy_load_piece *piece;

    HY_TRY(hy_load_take(p, &piece));
    char *room =
        (char *)loader->ring.ptr + (size_t)(piece - loader->pieces) * loader->piece_bytes;
    if (!direct)
        HY_TRY(fill_piece(p, at, bytes, room));
    HY_TRY(ops->mark_set(lane, piece->begin));
    HY_TRY(direct ? hy_pinned_copy(lane, to, source, bytes, source)
                  : ops->copy(lane, to, room, bytes));
    HY_TRY(ops->mark_set(lane, piece->end));
    piece->bytes = (int64_t)bytes;
    return HYBRID_OK;
}

static hybrid_status load_bytes(hy_pipeline *p, size_t at, size_t bytes, char *to)
{
    const size_t most = p->loader.piece_bytes;

    for (size_t done = 0; done < bytes; done += most)
        HY_TRY(load_piece(p, at + done, bytes - done < most ? bytes - done : most,
                          to + done));
    return HYBRID_OK;
}

/* ---- rows -------------------------------------------------------------------------- */

/* Entries [begin, end) of B: columns, then values. */
static hybrid_status load_entries(hy_pipeline *p, int64_t begin, int64_t end)
{
    const hy_shared_layout at = hy_shared_layout_of(p->problem);
    const size_t size         = hy_value_size(p->problem->A->type);
    const size_t from = (size_t)begin, count = (size_t)(end - begin);
    char *to = p->shared.ptr;

    HY_TRY(load_bytes(p, at.col + from * 4, count * 4, to + at.col + from * 4));
    return load_bytes(p, at.val + from * size, count * size, to + at.val + from * size);
}

/* Elements [begin, end) of the image of X, in one panel. */
static hybrid_status load_image(hy_pipeline *p, const hy_x_panel *x, int64_t begin,
                                int64_t end)
{
    const size_t size  = hy_value_size(p->problem->A->type);
    const int64_t ring = hy_window_elements(p->problem);
    const int64_t at   = ring > 0 ? begin % ring : begin - x->first;
    char *to           = (char *)p->shared.ptr + x->at + (size_t)at * size;

    return load_bytes(p, (size_t)begin * size, (size_t)(end - begin) * size, to);
}

/* Elements of a row of X in a panel, wherever they lie. */
static int64_t row_elements(const hy_x_panel *x)
{
    return x->ld + x->rest_ld;
}

/* They are loaded in whole rows: a part of each may lie behind the others, and rows of a
   panel may come from where they are pinned. */
static int in_whole_rows(const hy_pipeline *p, const hy_x_panel *x)
{
    return x->rest > 0 || p->problem->panels.cols > 0;
}

/* So many elements of X from one panel, counted row by row. */
static hybrid_status load_elements(hy_pipeline *p, const hy_x_panel *x, int64_t begin,
                                   int64_t end)
{
    if (!in_whole_rows(p, x))
        return load_image(p, x, begin, end);
    const int64_t rest  = x->first + p->problem->X->rows * x->ld;
    const int64_t first = (begin - x->first) / row_elements(x);
    const int64_t last  = (end - x->first) / row_elements(x);
    int direct;

    HY_TRY(hy_load_rows(p, x, first, last - first, &direct));
    if (direct)
        return HYBRID_OK;
    HY_TRY(load_image(p, x, x->first + first * x->ld, x->first + last * x->ld));
    return load_image(p, x, rest + first * x->rest_ld, rest + last * x->rest_ld);
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
static int64_t slab_end(const hybrid_dense *X, int64_t row)
{
    row = (row + HY_X_SLAB - 1) / HY_X_SLAB * HY_X_SLAB;
    return (row < X->rows ? row : X->rows) * X->cols;
}

/* Entries of the image up to the last that a chunk touches. */
static int64_t entries_for(const hy_problem *problem, const hy_chunk *chunk)
{
    if (problem->op == HY_SPGEMM)
        return hy_offset(problem->B, chunk->needs);
    if (problem->in_cols)
        return slab_end(problem->X, chunk->needs);
    const hy_x_panel x =
        hy_shared_panel(problem, hy_shared_panel_of(problem, chunk->col_begin));
    return x.first + chunk->needs * row_elements(&x);
}

/* Until so many panels or rows are free. 0: nobody needs what would take their place. */
static int await_free(hy_pipeline *p, int64_t least)
{
    hy_loader *loader = &p->loader;

    pthread_mutex_lock(&loader->lock);
    while (!loader->stop && loader->free < least)
        pthread_cond_wait(&loader->changed, &loader->lock);
    const int goes_on = !loader->stop;
    pthread_mutex_unlock(&loader->lock);
    return goes_on;
}

/* Until the place of the panel is free. */
static int await_place(hy_pipeline *p, int64_t panel)
{
    const hy_panels *panels = &p->problem->panels;
    return await_free(p, panels->cols > 0 ? panel - panels->room + 1 : 0);
}

/* Until the places of all rows before element `end` of a window are free. */
static int await_rows(hy_pipeline *p, const hy_x_panel *x, int64_t end)
{
    return await_free(p, (end + x->ld - 1) / x->ld - p->problem->window);
}

/* How many are loaded before others hear of it. */
static int64_t load_step(const hy_pipeline *p, const hy_x_panel *x)
{
    const int64_t piece =
        (int64_t)(p->loader.piece_bytes / hy_value_size(p->problem->A->type));

    if (!x || !in_whole_rows(p, x))
        return piece;
    const int64_t row = row_elements(x);
    return piece > row ? piece / row * row : row;
}

/* Elements of a panel of X, or entries of B, on to `end`. 0: nobody needs more. */
static int load_all(hy_pipeline *p, const hy_x_panel *x, int64_t done, int64_t end)
{
    const int64_t step = load_step(p, x);

    while (done < end) {
        const int64_t next = end - done < step ? end : done + step;
        const int64_t stop = hy_window_piece(p->problem, done, next);
        if (p->problem->window > 0 && !await_rows(p, x, stop))
            return 0;
        const hybrid_status status =
            x ? load_elements(p, x, done, stop) : load_entries(p, done, stop);
        if (!advance_to(p, stop, status))
            return 0;
        done = stop;
    }
    return 1;
}

static void load_b(hy_pipeline *p)
{
    const size_t offsets = hy_shared_layout_of(p->problem).col;

    if (advance_to(p, 0, load_bytes(p, 0, offsets, p->shared.ptr)))
        load_all(p, NULL, 0, p->problem->B->nnz);
}

static void load_x(hy_pipeline *p)
{
    const hy_problem *problem = p->problem;
    const int64_t panels      = problem->in_cols ? 1 : hy_shared_panels(problem);
    int goes_on               = advance_to(p, 0, HYBRID_OK);

    for (int64_t k = 0; k < panels && goes_on && await_place(p, k); k++) {
        hy_x_panel x = hy_shared_panel(problem, k);
        if (problem->in_cols)
            x.end = problem->X->rows * problem->X->cols;
        goes_on = load_all(p, &x, x.first, x.end);
    }
}

static void load(hy_slot *go)
{
    hy_pipeline *p    = go->pipeline;
    hy_loader *loader = &p->loader;

    (p->problem->op == HY_SPGEMM ? load_b : load_x)(p);
    pthread_mutex_lock(&loader->lock);
    loader->loading = 0;
    pthread_cond_signal(&loader->changed);
    pthread_mutex_unlock(&loader->lock);
}

/* ---- what the driver calls -------------------------------------------------------- */

/* The first chunk that is not finished. */
static int64_t first_left(const hy_pipeline *p)
{
    int64_t first = p->next;

    for (int i = 0; i < p->depth; i++)
        if (p->slots[i].busy && p->slots[i].index < first)
            first = p->slots[i].index;
    return first;
}

/* Panels, or rows of a window, that no chunk needs any more. */
static int64_t not_needed(const hy_pipeline *p)
{
    const int64_t first = first_left(p);

    if (p->problem->window == 0)
        return first / p->ranges;
    return first < p->count ? p->chunks[first].first : p->problem->X->rows;
}

void hy_loader_start(hy_pipeline *p)
{
    hy_loader *loader = &p->loader;

    loader->next     = 0;
    loader->begin_ns = loader->end_ns = loader->busy_ns = loader->bytes = 0;
    loader->free                                                        = not_needed(p);
    loader->entries = -1; /* not even row offsets */
    loader->wanted  = -1;
    loader->stop = loader->ticking = 0;
    loader->status                 = HYBRID_OK;
    for (int i = 0; i < HY_LOAD_PIECES; i++)
        loader->pieces[i].bytes = 0;
    loader->loading     = 1;
    loader->go.pipeline = p;
    hy_slot_push(&p->gear->loader.queue, &loader->go);
}

int hy_loader_reached(hy_pipeline *p, const hy_chunk *chunk)
{
    hy_loader *loader  = &p->loader;
    const int64_t need = entries_for(p->problem, chunk);

    pthread_mutex_lock(&loader->lock);
    const int reached = loader->entries >= need;
    loader->wanted    = reached ? -1 : need;
    if (!reached && loader->status != HYBRID_OK) /* it has stopped already */
        tick(p);
    pthread_mutex_unlock(&loader->lock);
    return reached;
}

void hy_loader_free(hy_pipeline *p)
{
    hy_loader *loader  = &p->loader;
    const int64_t free = not_needed(p);

    pthread_mutex_lock(&loader->lock);
    if (free > loader->free)
        pthread_cond_signal(&loader->changed);
    loader->free = free;
    pthread_mutex_unlock(&loader->lock);
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
    pthread_cond_signal(&loader->changed);
    while (loader->loading)
        pthread_cond_wait(&loader->changed, &loader->lock);
    pthread_mutex_unlock(&loader->lock);
    hybrid_status status = loader->status;
    for (int i = 0; i < HY_LOAD_PIECES && status == HYBRID_OK; i++)
        status = retire(p, &loader->pieces[(loader->next + i) % HY_LOAD_PIECES]);
    if (status == HYBRID_OK)
        hy_trace_load(&p->tracer, p);
    return status;
}
