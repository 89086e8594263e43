/* pipeline/load/load_follow.c - devices that copy B from the device to which it is sent
   while the product is planned.

   The loader of that device, the leader, began before the others and sends all of B. Each
   other loader copies what the leader has enqueued so far, and waits for more. */
#include "base/data/min_max.h"
#include "pipeline/load/load.h"

void hy_relay_tell(hy_relay *relay)
{
    pthread_mutex_lock(&relay->lock);
    pthread_cond_broadcast(&relay->changed);
    pthread_mutex_unlock(&relay->lock);
}

/* Sets *entries to the number of leading entries of B that the leader has enqueued; -1:
   not even the offsets. Returns the status of its loading. */
static hybrid_status enqueued(hy_loader *leader, int64_t *entries)
{
    hy_load_progress *p = &leader->progress;

    pthread_mutex_lock(&p->lock);
    *entries                   = p->elements;
    const hybrid_status status = p->status;
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* Waits until the leader has enqueued more than `done` entries, and sets *entries to
   their number. *goes_on is 0 if the relay has been stopped. Fails if another loader has
   failed, because the driver may wait for this loader only. */
static hybrid_status await_more(const hy_loader *loader, int64_t done, int64_t *entries,
                                int *goes_on)
{
    hy_relay *relay      = loader->relay;
    hybrid_status status = HYBRID_OK;

    pthread_mutex_lock(&relay->lock);
    while (!relay->stopped && (status = enqueued(relay->leader, entries)) == HYBRID_OK &&
           *entries <= done)
        pthread_cond_wait(&relay->changed, &relay->lock);
    *goes_on                = !relay->stopped;
    const hy_loader *failed = status == HYBRID_OK ? relay->failed : relay->leader;
    pthread_mutex_unlock(&relay->lock);
    return failed ? hy_relay_fail_as(loader, failed) : HYBRID_OK;
}

/* Enqueues the copies of entries [begin, end) of B; if `begin` is -1, of entries [0, end)
   and of all offsets. */
static hybrid_status copy_entries(hy_loader *loader, int64_t begin, int64_t end)
{
    const hy_loader *leader = loader->relay->leader;
    const hy_region offsets = hy_image_region(&loader->image, HY_CSR_OFFSETS);
    const hy_region cols    = hy_image_region(&loader->image, HY_CSR_COLS);
    const hy_region values  = hy_image_region(&loader->image, HY_CSR_VALUES);
    const int64_t first     = hy_max(begin, 0);

    if (begin < 0)
        HY_TRY(hy_relay_copy(loader, leader, &offsets, 0, offsets.elements));
    HY_TRY(hy_relay_copy(loader, leader, &cols, first, end));
    return hy_relay_copy(loader, leader, &values, first, end);
}

/* Enqueues the copies of copy_entries() behind those that the leader has enqueued so
   far. */
static hybrid_status copy_behind(hy_loader *loader, int64_t begin, int64_t end)
{
    const hy_backend_ops *ops = loader->backend->ops;
    const hy_loader *leader   = loader->relay->leader;
    const hy_relay_part *part = &loader->relayed;
    hy_lane *lane             = loader->lane_set->peer;

    HY_TRY(hy_mark_untimed(leader->lane_set->lanes[HY_ON_IN], part->led));
    HY_TRY(ops->lane_wait(lane, part->led));
    if (part->bytes == 0)
        HY_TRY(ops->mark_set(lane, part->begin));
    HY_TRY(copy_entries(loader, begin, end));
    HY_TRY(ops->mark_set(lane, part->end));
    return ops->lane_wait(loader->lane_set->lanes[HY_ON_IN], part->end);
}

hybrid_status hy_relay_follow(hy_loader *loader)
{
    int64_t done = -1, now = -1;
    int goes_on = 1;

    while (done < loader->image.nnz) {
        HY_TRY(await_more(loader, done, &now, &goes_on));
        if (!goes_on)
            return HYBRID_OK;
        HY_TRY(copy_behind(loader, done, now));
        if (!hy_load_tell(loader, now, HYBRID_OK))
            return HYBRID_OK;
        done = now;
    }
    return HYBRID_OK;
}
