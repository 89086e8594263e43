/* pipeline/load.c - B or X to the device, piece by piece, ahead of the chunks. */
#include "pipeline/load.h"

#include <string.h>

#include "base/csr.h"
#include "partition/x_window.h"

/* What is copied from where it is pinned comes in smaller pieces, so that chunks do not
   wait behind many bytes that they do not need; workers fill large ones faster. */
enum { PIECE_BYTES = 8 << 20 };
enum { DIRECT_LEAST = 2 << 20, DIRECT_MOST = 4 << 20, DIRECT_PIECES = 32 };

/* ---- rows -------------------------------------------------------------------------- */

/* Entries [begin, end) of B: columns, then values. */
static hybrid_status load_entries(hy_loader *loader, int64_t begin, int64_t end)
{
    const hy_shared_layout at = hy_shared_layout_of(&loader->problem);
    const size_t size         = hy_value_size(loader->problem.A->type);
    const size_t from = (size_t)begin, count = (size_t)(end - begin);
    char *to = loader->shared.ptr;

    HY_TRY(hy_load_bytes(loader, at.col + from * 4, count * 4, to + at.col + from * 4));
    return hy_load_bytes(loader, at.val + from * size, count * size,
                         to + at.val + from * size);
}

/* Elements [begin, end) of the image of X, in one panel. */
static hybrid_status load_image(hy_loader *loader, const hy_x_panel *x, int64_t begin,
                                int64_t end)
{
    const size_t size  = hy_value_size(loader->problem.A->type);
    const int64_t ring = hy_window_elements(&loader->problem);
    const int64_t at   = ring > 0 ? begin % ring : begin - x->first;
    char *to           = (char *)loader->shared.ptr + x->at + (size_t)at * size;

    return hy_load_bytes(loader, (size_t)begin * size, (size_t)(end - begin) * size, to);
}

/* Elements of a row of X in a panel, wherever they lie. */
static int64_t row_elements(const hy_x_panel *x)
{
    return x->ld + x->rest_ld;
}

/* They are loaded in whole rows: a part of each may lie behind the others, rows of a
   panel may come from where they are pinned, and columns become rows. */
static int in_whole_rows(const hy_loader *loader, const hy_x_panel *x)
{
    return x->rest > 0 || loader->problem.panels.cols > 0 || loader->turns > 0;
}

/* So many elements of X from one panel, counted row by row. */
static hybrid_status load_elements(hy_loader *loader, const hy_x_panel *x, int64_t begin,
                                   int64_t end)
{
    if (!in_whole_rows(loader, x))
        return load_image(loader, x, begin, end);
    const int64_t rest  = x->first + loader->problem.X->rows * x->ld;
    const int64_t first = (begin - x->first) / row_elements(x);
    const int64_t last  = (end - x->first) / row_elements(x);
    int done;

    HY_TRY(hy_load_rows(loader, x, first, last - first, &done));
    if (done)
        return HYBRID_OK;
    HY_TRY(load_image(loader, x, x->first + first * x->ld, x->first + last * x->ld));
    return load_image(loader, x, rest + first * x->rest_ld, rest + last * x->rest_ld);
}

/* With the lock held. */
static void tick(hy_loader *loader)
{
    loader->wanted = -1;
    if (!loader->ticking)
        hy_inbox_push(loader->inbox, &loader->tick);
    loader->ticking = 1;
}

int hy_load_tell(hy_loader *loader, int64_t entries, hybrid_status status)
{
    pthread_mutex_lock(&loader->lock);
    if (loader->status == HYBRID_OK)
        loader->status = status;
    if (loader->status == HYBRID_OK) /* chunks must not touch what never came */
        loader->entries = entries;
    if (loader->wanted >= 0 && (entries >= loader->wanted || status != HYBRID_OK))
        tick(loader);
    const int goes_on = !loader->stop && status == HYBRID_OK;
    pthread_mutex_unlock(&loader->lock);
    return goes_on;
}

/* It got so far, or will have when the piece that is filled now is sent. */
static int reach(hy_loader *loader, int64_t entries, hybrid_status status)
{
    if (status != HYBRID_OK || !loader->filled)
        return hy_load_tell(loader, entries, status);
    loader->filled->reached = entries;
    pthread_mutex_lock(&loader->lock);
    const int goes_on = !loader->stop;
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

/* 0: they are, or nobody needs what would take their place. */
static int must_wait(hy_loader *loader, int64_t least)
{
    pthread_mutex_lock(&loader->lock);
    const int waits = !loader->stop && loader->free < least;
    pthread_mutex_unlock(&loader->lock);
    return waits;
}

/* Until so many panels or rows are free. A chunk that frees them may wait for the piece
   that is filled now. 0: nobody needs more. */
static int await_free(hy_loader *loader, int64_t least)
{
    if (must_wait(loader, least)) {
        loader->paused             = 1;
        const hybrid_status status = hy_load_flush(loader);
        if (status != HYBRID_OK)
            return hy_load_tell(loader, 0, status);
    }
    pthread_mutex_lock(&loader->lock);
    while (!loader->stop && loader->free < least)
        pthread_cond_wait(&loader->changed, &loader->lock);
    const int goes_on = !loader->stop;
    pthread_mutex_unlock(&loader->lock);
    return goes_on;
}

/* Until the place of the panel is free. */
static int await_place(hy_loader *loader, int64_t panel)
{
    const hy_panels *panels = &loader->problem.panels;
    return await_free(loader, panels->cols > 0 ? panel - panels->room + 1 : 0);
}

/* Until the places of all rows before element `end` of a window are free. */
static int await_rows(hy_loader *loader, const hy_x_panel *x, int64_t end)
{
    return await_free(loader, (end + x->ld - 1) / x->ld - loader->problem.window);
}

/* How many are loaded before others hear of it. */
static int64_t load_step(const hy_loader *loader, const hy_x_panel *x, int64_t done,
                         int64_t end)
{
    const size_t size   = hy_value_size(loader->problem.A->type);
    const size_t most   = loader->turns > 0 ? loader->turns : loader->piece_bytes;
    const int64_t piece = (int64_t)(most / size);

    if (!x)
        return piece;
    if (!in_whole_rows(loader, x))
        return (int64_t)(hy_load_most(loader, (size_t)done * size,
                                      (size_t)(end - done) * size) /
                         size);
    const int64_t row = row_elements(x);
    return piece > row ? piece / row * row : row;
}

/* Elements of a panel of X, or entries of B, on to `end`. 0: nobody needs more. */
static int load_all(hy_loader *loader, const hy_x_panel *x, int64_t done, int64_t end)
{
    while (done < end) {
        const int64_t step = load_step(loader, x, done, end);
        const int64_t next = end - done < step ? end : done + step;
        const int64_t stop = hy_window_piece(&loader->problem, done, next);
        if (loader->problem.window > 0 && !await_rows(loader, x, stop))
            return 0;
        const hybrid_status status =
            x ? load_elements(loader, x, done, stop) : load_entries(loader, done, stop);
        if (!reach(loader, stop, status))
            return 0;
        done = stop;
    }
    return 1;
}

static void load_b(hy_loader *loader)
{
    const size_t offsets = hy_shared_layout_of(&loader->problem).col;

    if (reach(loader, 0, hy_load_bytes(loader, 0, offsets, loader->shared.ptr)))
        load_all(loader, NULL, 0, loader->problem.B->nnz);
}

static void load_x(hy_loader *loader)
{
    const hy_problem *problem = &loader->problem;
    const int64_t panels      = problem->in_cols ? 1 : hy_shared_panels(problem);
    int goes_on               = hy_load_tell(loader, 0, HYBRID_OK);

    for (int64_t k = 0; k < panels && goes_on && await_place(loader, k); k++) {
        hy_x_panel x = hy_shared_panel(problem, k);
        if (problem->in_cols)
            x.end = problem->X->rows * problem->X->cols;
        goes_on = load_all(loader, &x, x.first, x.end);
    }
}

/* A plan that is made meanwhile shall not hear what goes wrong here. */
static void load(hy_task *go, int worker)
{
    hy_loader *loader = (hy_loader *)go;

    (void)worker;
    hy_message_aside(&loader->said);
    (loader->problem.op == HY_SPGEMM ? load_b : load_x)(loader);
    hybrid_status status = hy_load_flush(loader);
    if (status == HYBRID_OK && !loader->timed) /* to see them end when they do */
        status = hy_load_retire(loader);
    if (status != HYBRID_OK)
        hy_load_tell(loader, 0, status);
    hy_message_aside(NULL);
    pthread_mutex_lock(&loader->lock);
    loader->loading = 0;
    pthread_cond_signal(&loader->changed);
    pthread_mutex_unlock(&loader->lock);
}

/* ---- open and close ------------------------------------------------------------ */

static hybrid_status open_parts(hy_loader *loader, size_t shared_bytes)
{
    hy_backend *backend       = loader->backend;
    const hy_backend_ops *ops = backend->ops;
    const size_t share        = hy_align(shared_bytes / HY_LOAD_PIECES + 1);
    const size_t direct       = hy_align(shared_bytes / DIRECT_PIECES + 1);

    loader->piece_bytes  = hy_smaller(share, PIECE_BYTES);
    loader->direct_bytes = hy_smaller(hy_smaller(loader->piece_bytes, DIRECT_MOST),
                                      hy_larger(direct, DIRECT_LEAST));
    HY_TRY(ops->alloc(backend, HY_DEVICE, shared_bytes, &loader->shared));
    HY_TRY(ops->alloc(backend, HY_PINNED, HY_LOAD_PIECES * loader->piece_bytes,
                      &loader->ring));
    for (int i = 0; i < HY_LOAD_PIECES; i++) {
        HY_TRY(hy_lane_set_mark(loader->lane_set, &loader->pieces[i].begin));
        HY_TRY(hy_lane_set_mark(loader->lane_set, &loader->pieces[i].end));
    }
    loader->go.run = load;
    return hy_lane_set_loader(loader->lane_set);
}

hybrid_status hy_loader_open(hy_lane_set *lane_set, size_t shared_bytes, hy_loader **out)
{
    void *memory;

    HY_TRY(hy_array(lane_set->backend->ctx, 1, sizeof(hy_loader), "loader", &memory));
    hy_loader *loader = memory;
    memset(loader, 0, sizeof *loader);
    loader->backend  = lane_set->backend;
    loader->lane_set = lane_set;
    pthread_mutex_init(&loader->lock, NULL);
    pthread_cond_init(&loader->changed, NULL);
    hy_message_init(&loader->said);
    const hybrid_status status = open_parts(loader, shared_bytes);
    if (status == HYBRID_OK)
        *out = loader;
    else
        hy_loader_close(loader);
    return status;
}

void hy_loader_close(hy_loader *loader)
{
    if (!loader)
        return;
    hy_backend *backend = loader->backend;
    backend->ops->free(backend, &loader->turned);
    backend->ops->free(backend, &loader->ring);
    backend->ops->free(backend, &loader->shared);
    hy_message_destroy(&loader->said);
    pthread_cond_destroy(&loader->changed);
    pthread_mutex_destroy(&loader->lock);
    hy_array_free(backend->ctx, loader);
}

/* ---- what the driver calls -------------------------------------------------------- */

/* The thread is not at it. */
static void begin(hy_loader *loader, const hy_problem *problem, int64_t free,
                  hy_inbox *inbox)
{
    hy_message_clear(&loader->said);
    loader->problem        = *problem;
    loader->problem.shared = loader->shared;
    loader->begun          = 1;
    loader->next           = 0;
    loader->filled         = NULL;
    loader->begin_ns = loader->end_ns = loader->busy_ns = 0;
    loader->bytes = loader->ring_bytes = 0;
    loader->inbox                      = inbox;
    loader->free                       = free;
    loader->entries                    = -1; /* not even row offsets */
    loader->wanted                     = -1;
    loader->stop = loader->ticking = 0;
    loader->status                 = HYBRID_OK;
    for (int i = 0; i < HY_LOAD_PIECES; i++)
        loader->pieces[i].bytes = 0;
    loader->loading = 1;
    hy_inbox_push(&loader->lane_set->loader.inbox, &loader->go);
}

void hy_loader_begin(hy_loader *loader, const hy_problem *problem, int first)
{
    loader->first = first;
    loader->timed = 1;
    begin(loader, problem, 0, NULL);
}

void hy_loader_start(hy_loader *loader, const hy_problem *problem, int64_t free,
                     hy_inbox *inbox, int timed)
{
    if (!loader->begun) {
        loader->timed = timed;
        begin(loader, problem, free, inbox);
        return;
    }
    pthread_mutex_lock(&loader->lock);
    loader->inbox = inbox;
    pthread_mutex_unlock(&loader->lock);
}

int hy_loader_reached(hy_loader *loader, const hy_chunk *chunk)
{
    const int64_t need = entries_for(&loader->problem, chunk);

    pthread_mutex_lock(&loader->lock);
    const int reached = loader->entries >= need;
    loader->wanted    = reached ? -1 : need;
    if (!reached && loader->status != HYBRID_OK) /* it has stopped already */
        tick(loader);
    pthread_mutex_unlock(&loader->lock);
    return reached;
}

void hy_loader_free(hy_loader *loader, int64_t free)
{
    pthread_mutex_lock(&loader->lock);
    if (free > loader->free)
        pthread_cond_signal(&loader->changed);
    loader->free = free;
    pthread_mutex_unlock(&loader->lock);
}

/* Now it may be heard. */
static hybrid_status tell(const hy_loader *loader, hybrid_status status)
{
    if (status == HYBRID_OK || loader->said.text[0] == '\0')
        return status;
    return hy_fail(loader->backend->ctx, status, "%s", loader->said.text);
}

hybrid_status hy_loader_ticked(hy_loader *loader)
{
    pthread_mutex_lock(&loader->lock);
    loader->ticking            = 0;
    const hybrid_status status = loader->status;
    pthread_mutex_unlock(&loader->lock);
    return tell(loader, status);
}

hybrid_status hy_loader_finish(hy_loader *loader)
{
    if (!loader->begun)
        return HYBRID_OK;
    pthread_mutex_lock(&loader->lock);
    loader->stop   = 1;
    loader->wanted = -1;
    pthread_cond_signal(&loader->changed);
    while (loader->loading)
        pthread_cond_wait(&loader->changed, &loader->lock);
    pthread_mutex_unlock(&loader->lock);
    loader->begun              = 0;
    const hybrid_status status = tell(loader, loader->status);
    return status == HYBRID_OK ? hy_load_retire(loader) : status;
}
