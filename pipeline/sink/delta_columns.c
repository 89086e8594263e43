/* pipeline/sink/delta_columns.c - delta-coded columns of C, decoded by workers. */
#include "pipeline/sink/delta_columns.h"

#include "partition/move/deltas.h"
#include "pipeline/site/site.h"

enum {
    LEAST_ENTRIES = 1 << 14, /* a chunk whose upper bound of entries is smaller is not
                                coded: the coding kernel would cost as much as it saves */
    LEAST_BYTES = 1 << 20, /* minimum bytes of a slot's pinned buffer for coded columns */
    MOST_BYTES  = 32 << 20 /* maximum bytes of a slot's pinned buffer for coded columns */
};

/* Bytes of decoded columns per second of one worker. If all workers together decode
   slower than the bus copies, columns are not delta-coded. */
#define DECODE_BPS 7e9

/* Returns 1 if the chunk's columns can be delta-coded and this can be faster: device,
   sink and workers support it, and the chunk is large enough and fits its scratch
   memory. */
static int may_pay(const hy_slot *slot)
{
    const hy_site *site     = slot->site;
    const hy_features *f    = &slot->job.chunk->features;
    const double workers_do = hy_pool_threads(site->ctx->pool) * DECODE_BPS;

    return site->backend->ops->code_deltas && hy_sink_accepts_deltas(slot->sink) &&
           workers_do >= site->rates.d2h_Bps && f->out_bound >= LEAST_ENTRIES &&
           hy_deltas_bound(hy_out_room(f)) <= slot->job.work.bytes;
}

hybrid_status hy_delta_columns_make(hy_slot *slot, hy_lane *lane)
{
    hy_job *job        = &slot->job;
    const int64_t most = hy_out_room(&job->chunk->features);

    if (!may_pay(slot))
        return HYBRID_OK;
    job->deltas = job->work.ptr;
    return lane->backend->ops->code_deltas(lane, job->out.col,
                                           job->out.row_ptr + hy_job_rows(job), most,
                                           job->deltas, job->units);
}

static size_t coded_bytes(const hy_job *job)
{
    return hy_deltas_bytes(job->nnz, *job->units);
}

/* Allocates pinned memory without an error sentence. Returns 0 if memory is short. The
   run's message stays as it is. */
static int alloc_quietly(hy_backend *backend, size_t bytes, hy_buffer *out)
{
    hy_message dropped;

    hy_message_hush(&dropped);
    const hybrid_status status =
        backend->ops->alloc(backend, HY_PINNED, bytes, "delta-coded columns of C", out);
    hy_message_heed(&dropped);
    return status == HYBRID_OK;
}

/* Makes pinned memory for the coded columns in slot->coded. Returns 0 if memory is short
   or the columns are too large. Sizes are powers of two, so that later calls find a block
   of this size in the backend's pool. */
static int get_room(hy_slot *slot)
{
    hy_backend *backend = slot->site->backend;
    const size_t needed = coded_bytes(&slot->job) + HY_DELTA_BEHIND;
    size_t bytes        = LEAST_BYTES;

    if (needed <= slot->coded.bytes)
        return 1;
    if (needed > MOST_BYTES)
        return 0;
    while (bytes < needed)
        bytes *= 2;
    backend->ops->free(backend, &slot->coded);
    return alloc_quietly(backend, bytes, &slot->coded);
}

/* Returns 1 if more than one chunk with delta-coded columns waits to be stored. */
static int workers_lag(const hy_site *site)
{
    int waiting = 0;

    for (int i = 0; i < site->depth; i++)
        waiting +=
            site->slots[i].busy && site->slots[i].placing && site->slots[i].job.decodes;
    return waiting > 1;
}

int hy_delta_columns_pay(hy_slot *slot)
{
    const hy_job *job = &slot->job;

    return job->deltas && coded_bytes(job) <= (size_t)job->nnz * 3 &&
           !workers_lag(slot->site) && get_room(slot);
}

hybrid_status hy_delta_columns_copy(const hy_slot *slot, hy_lane *lane)
{
    const hy_backend_ops *ops = lane->backend->ops;
    const hy_job *job         = &slot->job;

    HY_TRY(ops->copy(lane, slot->coded.ptr, job->deltas, coded_bytes(job)));
    return hy_mark_untimed(lane, slot->columns);
}

hybrid_status hy_delta_columns_store(const hy_slot *slot, const hy_part *part)
{
    HY_TRY(slot->sink->ops->store_deltas(slot->sink, part, slot->coded.ptr));
    return slot->site->backend->ops->host_wait(slot->passage[HY_STEP_D2H].end);
}

int64_t hy_delta_columns_saved(const hy_slot *slot)
{
    const hy_job *job = &slot->job;
    return job->decodes ? job->nnz * 4 - (int64_t)coded_bytes(job) : 0;
}
