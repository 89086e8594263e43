/* pipeline/run/copy_in.c - brings the pack of a chunk to the device. */
#include "pipeline/run/copy_in.h"

#include "base/data/csr.h"
#include "partition/format/pack.h"
#include "pipeline/site/site.h"

int64_t hy_up_bytes(const hy_job *job)
{
    const hy_pack *pack = &job->pack;

    if (!job->a_on_device)
        return (int64_t)pack->bytes +
               job->listed.rows * (int64_t)sizeof *job->listed.from;
    return pack->rest > 0 ? (int64_t)(pack->bytes - pack->rest) : 0;
}

/* Makes the offsets of the pack from those of A on the device: subtracts the first, so
   that they begin at 0. */
static hybrid_status rebase_a(const hy_job *job, hy_lane *lane)
{
    const hybrid_csr *A     = job->problem->a_source.on_device.csr;
    const int64_t first     = job->chunk->row_begin;
    const hybrid_index type = A ? A->offset_type : HYBRID_I64;
    const void *offsets     = A ? A->row_ptr : hy_packed_b(job).row_ptr;

    const hy_rebasing r = {.to   = job->in.ptr,
                           .from = (const char *)offsets +
                                   (size_t)first * hy_index_size(type),
                           .to_type   = HYBRID_I64,
                           .from_type = type,
                           .count     = job->chunk->row_end - job->chunk->row_begin + 1,
                           .base      = hy_offset(job->problem->A, first)};

    return lane->backend->ops->rebase(lane, &r);
}

/* Copies the pack without the rows of B, which the device then reads itself. */
static hybrid_status collect(const hy_job *job, hy_lane *lane)
{
    const hy_backend_ops *ops = lane->backend->ops;
    const hybrid_csr *B       = job->problem->B;
    char *to                  = job->in.ptr;

    const hy_collecting c = {.rows    = job->listed.rows,
                             .entries = job->listed.entries,
                             .row_ptr = (void *)(to + job->pack.at[HY_GATHER_ROW_PTR]),
                             .from    = job->listed.from,
                             .col     = hy_cols(B),
                             .val     = B->val,
                             .to_col  = (void *)(to + job->pack.at[HY_GATHER_COL]),
                             .to_val  = to + job->pack.at[HY_GATHER_VAL],
                             .size    = (size_t)hy_job_value_bytes(job)};
    HY_TRY(ops->copy(lane, job->in.ptr, job->pack.mem.ptr, job->pack.at[HY_GATHER_COL]));
    return ops->collect(lane, &c);
}

hybrid_status hy_copy_in(hy_slot *slot, hy_lane *lane)
{
    hy_job *job               = &slot->job;
    const hy_backend_ops *ops = lane->backend->ops;
    hy_pack *cached =
        hy_pack_cache_record(&slot->site->cache, job->chunk, slot->claim.index);

    if (job->reused) { /* the pack is cached, so nothing is copied. The caller still sets
                          the stage's marks: X is loaded on the same lane, and later
                          stages wait for these marks. */
        job->pack = *cached;
        return HYBRID_OK;
    }
    if (cached)
        *cached = job->pack;
    if (job->listed.from)
        return collect(job, lane);
    if (!job->a_on_device)
        return ops->copy(lane, job->in.ptr, job->pack.mem.ptr, job->pack.bytes);
    HY_TRY(rebase_a(job, lane));
    return hy_up_bytes(job) == 0
               ? HYBRID_OK
               : ops->copy(lane, (char *)job->in.ptr + job->pack.rest,
                           (const char *)job->pack.mem.ptr + job->pack.rest,
                           (size_t)hy_up_bytes(job));
}
