/* pipeline/load_count.c - the device has B, which is A too, before workers could count
   what rows of the product take: so it counts. */
#include "pipeline/load.h"

/* The thread has sent all of it. 0: something failed. */
static int await_sent(hy_loader *loader)
{
    pthread_mutex_lock(&loader->lock);
    while (loader->loading)
        pthread_cond_wait(&loader->changed, &loader->lock);
    const int sent =
        loader->status == HYBRID_OK && loader->entries == loader->problem.B->nnz;
    pthread_mutex_unlock(&loader->lock);
    return sent;
}

/* Behind the copies to the device, which read the ring that counts are written to. */
static hybrid_status count(hy_loader *loader, hy_mark *counted)
{
    const hy_backend_ops *ops = loader->backend->ops;
    hy_lane *lane             = loader->lane_set->lanes[HY_ON_IN];
    const hy_csr_view b       = hy_shared_b(&loader->problem);

    HY_TRY(ops->products(lane, b.rows, b.row_ptr, b.col, b.row_ptr, loader->ring.ptr));
    HY_TRY(ops->mark_set(lane, counted));
    return ops->host_wait(counted);
}

/* The lane may be in any state, so whoever ends the load is to hear of it. */
static void note(hy_loader *loader, hybrid_status status)
{
    pthread_mutex_lock(&loader->lock);
    loader->status = status;
    pthread_mutex_unlock(&loader->lock);
}

hybrid_status hy_loader_count(hy_loader *loader, const uint32_t **products)
{
    const hy_backend_ops *ops = loader->backend->ops;
    const size_t bytes        = (size_t)loader->problem.B->rows * sizeof **products;
    hy_mark *counted;

    *products = NULL;
    if (!ops->products || bytes > loader->ring.bytes || !await_sent(loader))
        return HYBRID_OK;
    HY_TRY(hy_lane_set_mark(loader->lane_set, &counted));
    const hybrid_status status = count(loader, counted);
    if (status != HYBRID_OK)
        note(loader, status);
    else
        *products = loader->ring.ptr;
    return status;
}
