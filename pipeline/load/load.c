/* pipeline/load/load.c - copies B or X to the device ahead of the chunks. */
#include "pipeline/load/load.h"

#include <string.h>

#include "base/data/csr.h"
#include "pipeline/site/tenant.h"

/* Maximum bytes of a piece: PIECE_BYTES through the ring. A piece that is copied directly
   from pinned memory has 1 / DIRECT_PIECES of the operand's bytes, but at least
   DIRECT_LEAST, at most DIRECT_MOST, and no more than a piece of the ring. Direct pieces
   are smaller, so that chunks do not wait behind bytes that they do not need. Workers
   fill large pieces faster. */
enum { PIECE_BYTES = 8 << 20 };
enum { DIRECT_LEAST = 2 << 20, DIRECT_MOST = 4 << 20, DIRECT_PIECES = 32 };

/* ---- progress -------------------------------------------------------------------- */

/* Wakes the driver: puts the tick, a task, into its inbox. The caller holds the lock of
   `progress`. */
static void tick(hy_load_progress *progress)
{
    progress->wanted = -1;
    if (!progress->ticking)
        hy_inbox_push(progress->inbox, &progress->tick);
    progress->ticking = 1;
}

int hy_load_tell(hy_loader *loader, int64_t elements, hybrid_status status)
{
    hy_load_progress *p = &loader->progress;

    pthread_mutex_lock(&p->lock);
    if (p->status == HYBRID_OK)
        p->status = status;
    if (p->status == HYBRID_OK) /* after an error `elements` no longer grows, so that no
                                   chunk reads rows that never arrived */
        p->elements = elements;
    if (p->wanted >= 0 && (elements >= p->wanted || status != HYBRID_OK))
        tick(p);
    const int goes_on = !p->stop && status == HYBRID_OK;
    hy_relay *led     = loader->led;
    pthread_mutex_unlock(&p->lock);
    if (led)
        hy_relay_tell(led);
    return goes_on;
}

/* Returns how many leading elements of X, or entries of B, must be sent before the chunk
   can begin. */
static int64_t elements_for(const hy_loader *loader, const hy_chunk *chunk)
{
    return loader->image.form == HY_FORM_CSR
               ? hy_offset(loader->source.csr, chunk->x_end)
               : hy_image_elements_for(&loader->image, chunk->x_end, chunk->col_begin);
}

/* Loads the operand on the loader's thread. Its error sentences go to loader->said,
   because a plan may be made on another thread at the same time. */
static void load(hy_task *go, int worker)
{
    hy_loader *loader = (hy_loader *)go;

    (void)worker;
    hy_message_aside(&loader->said);
    const hybrid_status status = hy_load_all(loader);
    if (status != HYBRID_OK)
        hy_load_tell(loader, 0, status);
    hy_message_aside(NULL);
    pthread_mutex_lock(&loader->progress.lock);
    loader->progress.loading = 0;
    pthread_cond_signal(&loader->progress.changed);
    pthread_mutex_unlock(&loader->progress.lock);
}

/* ---- open and close ------------------------------------------------------------ */

static hybrid_status open_ring(hy_loader *loader, size_t image_room)
{
    hy_load_ring *ring  = &loader->ring;
    const size_t share  = hy_align(image_room / HY_LOAD_PIECES + 1);
    const size_t direct = hy_align(image_room / DIRECT_PIECES + 1);

    ring->piece_bytes  = hy_smaller(share, PIECE_BYTES);
    ring->direct_bytes = hy_smaller(hy_smaller(ring->piece_bytes, DIRECT_MOST),
                                    hy_larger(direct, DIRECT_LEAST));
    for (int i = 0; i < HY_LOAD_PIECES; i++) {
        HY_TRY(hy_lane_set_mark(loader->lane_set, &ring->pieces[i].begin));
        HY_TRY(hy_lane_set_mark(loader->lane_set, &ring->pieces[i].end));
    }
    return HYBRID_OK;
}

hybrid_status hy_loader_pin(hy_loader *loader)
{
    hy_load_ring *ring  = &loader->ring;
    hy_backend *backend = loader->backend;

    return ring->buffer.ptr
               ? HYBRID_OK
               : backend->ops->alloc(backend, HY_PINNED,
                                     HY_LOAD_PIECES * ring->piece_bytes,
                                     "pieces on their way to the device", &ring->buffer);
}

static const char *name_of(const hy_loader *loader)
{
    return loader->image.form == HY_FORM_CSR ? "B or a part of it" : "X or a part of it";
}

hybrid_status hy_loader_return(hy_loader *loader)
{
    return hy_tenants_alloc(loader->backend, loader->image_room, name_of(loader),
                            &loader->image_memory);
}

void hy_loader_leave(hy_loader *loader)
{
    hy_backend *backend = loader->backend;

    backend->ops->free(backend, &loader->columns.room);
    backend->ops->free(backend, &loader->image_memory);
}

static hybrid_status open_parts(hy_loader *loader, size_t image_room)
{
    loader->image_room = image_room;
    HY_TRY(hy_loader_return(loader));
    HY_TRY(open_ring(loader, image_room));
    loader->go.run = load;
    return hy_lane_set_loader(loader->lane_set);
}

hybrid_status hy_loader_open(hy_lane_set *lane_set, size_t image_room, hy_loader **out)
{
    void *memory;

    HY_TRY(hy_array(lane_set->backend->ctx, 1, sizeof(hy_loader), "a loader", &memory));
    hy_loader *loader = memory;
    memset(loader, 0, sizeof *loader);
    loader->backend  = lane_set->backend;
    loader->lane_set = lane_set;
    pthread_mutex_init(&loader->progress.lock, NULL);
    hy_progress_cond_init(&loader->progress.changed);
    hy_message_init(&loader->said);
    const hybrid_status status = open_parts(loader, image_room);
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
    hy_loader_leave(loader);
    backend->ops->free(backend, &loader->ring.buffer);
    hy_message_destroy(&loader->said);
    pthread_cond_destroy(&loader->progress.changed);
    pthread_mutex_destroy(&loader->progress.lock);
    hy_array_free(backend->ctx, loader->relayed.sent);
    hy_array_free(backend->ctx, loader);
}

/* ---- functions for the driver ---------------------------------------------------- */

static void reset_ring(hy_load_ring *ring, int timed)
{
    ring->next   = 0;
    ring->filled = NULL;
    ring->timed  = timed;
    for (int i = 0; i < HY_LOAD_PIECES; i++)
        ring->pieces[i].bytes = 0;
}

/* Starts to load on the loader's thread, which must be idle. */
static void begin(hy_loader *loader, int64_t free, hy_inbox *inbox, int timed)
{
    hy_load_progress *p = &loader->progress;

    hy_message_clear(&loader->said);
    loader->begun = 1;
    loader->times = (hy_load_times){.bytes = 0};
    reset_ring(&loader->ring, timed);
    p->inbox    = inbox;
    p->free     = free;
    p->elements = -1; /* nothing is sent yet, not even the row offsets of B */
    p->wanted   = -1;
    p->stop = p->ticking = 0;
    p->status            = HYBRID_OK;
    p->loading           = 1;
    hy_inbox_push(&loader->lane_set->loader.inbox, &loader->go);
}

void hy_loader_begin(hy_loader *loader, const hy_source *source, const hy_image *image,
                     int first)
{
    loader->source = *source;
    loader->image  = *image;
    loader->first  = first;
    begin(loader, 0, NULL, 1);
}

hybrid_status hy_loader_start(hy_loader *loader, const hy_problem *problem, int64_t free,
                              hy_inbox *inbox, int timed, size_t room)
{
    if (!loader->begun) {
        loader->source = problem->source;
        loader->image  = problem->image;
        HY_TRY(hy_load_columns_begin(loader, room));
        begin(loader, free, inbox, timed);
        return HYBRID_OK;
    }
    pthread_mutex_lock(&loader->progress.lock);
    loader->progress.inbox = inbox;
    pthread_mutex_unlock(&loader->progress.lock);
    return HYBRID_OK;
}

int hy_loader_reached(hy_loader *loader, const hy_chunk *chunk)
{
    const int64_t need  = elements_for(loader, chunk);
    hy_load_progress *p = &loader->progress;

    pthread_mutex_lock(&p->lock);
    const int reached = p->elements >= need;
    p->wanted         = reached ? -1 : need;
    if (!reached && p->status != HYBRID_OK) /* loading has failed already, so the driver
                                               is woken at once */
        tick(p);
    pthread_mutex_unlock(&p->lock);
    return reached;
}

void hy_loader_free(hy_loader *loader, int64_t free)
{
    hy_load_progress *p = &loader->progress;

    pthread_mutex_lock(&p->lock);
    if (free > p->free)
        pthread_cond_signal(&p->changed);
    p->free = free;
    pthread_mutex_unlock(&p->lock);
}

/* Passes the error sentence of the loader's thread on to the context. Returns
   `status`. */
static hybrid_status tell(const hy_loader *loader, hybrid_status status)
{
    if (status == HYBRID_OK || loader->said.text[0] == '\0')
        return status;
    return hy_fail(loader->backend->ctx, status, "%s", loader->said.text);
}

hybrid_status hy_loader_ticked(hy_loader *loader)
{
    hy_load_progress *p = &loader->progress;

    pthread_mutex_lock(&p->lock);
    p->ticking                 = 0;
    const hybrid_status status = p->status;
    pthread_mutex_unlock(&p->lock);
    return tell(loader, status);
}

hybrid_status hy_loader_finish(hy_loader *loader)
{
    hy_load_progress *p = &loader->progress;

    if (!loader->begun)
        return HYBRID_OK;
    pthread_mutex_lock(&p->lock);
    p->stop   = 1;
    p->wanted = -1;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (loader->relay)
        hy_relay_stop(loader->relay);
    pthread_mutex_lock(&p->lock);
    while (p->loading)
        hy_progress_wait(&loader->backend->ctx->progress, &p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    loader->begun = 0;
    HY_TRY(tell(loader, p->status));
    HY_TRY(hy_load_retire(loader));
    return hy_relay_retire(loader);
}
