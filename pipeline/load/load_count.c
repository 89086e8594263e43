/* pipeline/load/load_count.c - counts scalar products of A*A on the device, for the plan.
   A is prefetched as the B of this product, so the device has it before workers could
   count. */
#include "partition/format/pack.h"
#include "pipeline/load/load.h"

/* Waits until the thread has sent all of B. Returns 0 if loading failed. */
static int await_sent(hy_loader *loader)
{
    hy_load_progress *p = &loader->progress;

    pthread_mutex_lock(&p->lock);
    while (p->loading)
        hy_progress_wait(&loader->backend->ctx->progress, &p->changed, &p->lock);
    const int sent = p->status == HYBRID_OK && p->elements == loader->image.nnz;
    pthread_mutex_unlock(&p->lock);
    return sent;
}

/* Enqueues the count behind all copies: its results overwrite the pinned ring, which
   these copies read. */
static hybrid_status count(hy_loader *loader, hy_mark *counted)
{
    const hy_backend_ops *ops = loader->backend->ops;
    hy_lane *lane             = loader->lane_set->lanes[HY_ON_IN];
    const hy_csr_view b       = hy_image_b(&loader->image, loader->image_memory.ptr);

    HY_TRY(ops->products(lane, b.rows, b.row_ptr, b.col, b.row_ptr,
                         loader->ring.buffer.ptr));
    HY_TRY(ops->mark_set(lane, counted));
    return ops->host_wait(counted);
}

/* Stores the error of the count as that of loading, so that hy_loader_finish() fails and
   the lane, which may be in any state, is not used again. */
static void note(hy_loader *loader, hybrid_status status)
{
    pthread_mutex_lock(&loader->progress.lock);
    loader->progress.status = status;
    pthread_mutex_unlock(&loader->progress.lock);
}

hybrid_status hy_loader_count(hy_loader *loader, const uint32_t **products)
{
    const hy_backend_ops *ops = loader->backend->ops;
    const size_t bytes        = (size_t)loader->image.rows * sizeof **products;
    hy_mark *counted;

    *products = NULL;
    if (!ops->products || bytes > loader->ring.buffer.bytes || !await_sent(loader))
        return HYBRID_OK;
    HY_TRY(hy_lane_set_mark(loader->lane_set, &counted));
    const hybrid_status status = count(loader, counted);
    if (status != HYBRID_OK)
        note(loader, status);
    else
        *products = loader->ring.buffer.ptr;
    return status;
}
