/* pipeline/run/copy_in.c - brings the pack of a chunk to the device. */
#include "pipeline/run/copy_in.h"

#include "base/data/csr.h"
#include "partition/format/pack.h"
#include "partition/parts/passes.h"
#include "pipeline/site/site.h"

int64_t hy_up_bytes(const hy_job *job)
{
    const hy_pack *pack = &job->pack;

    if (hy_job_in_passes(job))
        return (int64_t)pack->at[HY_GATHER_COL] +
               hy_pass_nnz(job) * (4 + hy_job_value_bytes(job));
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

/* Puts the sums of earlier passes behind the rows of B of this pass. */
static hybrid_status carry(const hy_job *job, hy_lane *lane)
{
    const hy_backend_ops *ops = lane->backend->ops;
    const int64_t rows = job->pass.end - job->pass.begin, nnz = hy_pass_nnz(job);
    const size_t count = (size_t)job->pass.carried;
    const size_t size  = (size_t)hy_job_value_bytes(job);
    char *to           = job->in.ptr;
    int64_t *row_ptr   = (void *)(to + job->pack.at[HY_GATHER_ROW_PTR]);

    const hy_rebasing r = {.to        = row_ptr + rows,
                           .from      = job->out.row_ptr,
                           .to_type   = HYBRID_I64,
                           .from_type = HYBRID_I64,
                           .count     = job->chunk->features.rows + 1,
                           .base      = -nnz};
    HY_TRY(ops->rebase(lane, &r));
    HY_TRY(ops->copy(lane, to + job->pack.at[HY_GATHER_COL] + (size_t)nnz * 4,
                     job->out.col, count * 4));
    return ops->copy(lane, to + job->pack.at[HY_GATHER_VAL] + (size_t)nnz * size,
                     job->out.val, count * size);
}

/* Copies the pack of a pass, without the room for the sums of earlier passes, and these
   sums from the slot's result. */
static hybrid_status copy_pass(const hy_job *job, hy_lane *lane)
{
    const hy_backend_ops *ops = lane->backend->ops;
    const size_t val = job->pack.at[HY_GATHER_VAL], nnz = (size_t)hy_pass_nnz(job);
    const char *from = job->pack.mem.ptr;

    HY_TRY(ops->copy(lane, job->in.ptr, from, job->pack.at[HY_GATHER_COL] + nnz * 4));
    HY_TRY(ops->copy(lane, (char *)job->in.ptr + val, from + val,
                     nnz * (size_t)hy_job_value_bytes(job)));
    return job->pass.number > 0 ? carry(job, lane) : HYBRID_OK;
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
    if (hy_job_in_passes(job))
        return copy_pass(job, lane);
    if (!job->a_on_device)
        return ops->copy(lane, job->in.ptr, job->pack.mem.ptr, job->pack.bytes);
    HY_TRY(rebase_a(job, lane));
    return hy_up_bytes(job) == 0
               ? HYBRID_OK
               : ops->copy(lane, (char *)job->in.ptr + job->pack.rest,
                           (const char *)job->pack.mem.ptr + job->pack.rest,
                           (size_t)hy_up_bytes(job));
}
