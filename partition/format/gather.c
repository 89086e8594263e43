/* partition/format/gather.c - checks that the packers of A share, and their sentences. */
#include "partition/format/gather.h"

#include "base/data/csr.h"
#include "partition/format/pack.h"

/* Return the first and the last row of the chunk, numbered as in the caller's A, for
   messages. */
static long long first_row(const hy_job *job)
{
    return (long long)hy_row_of(job->problem, job->chunk->row_begin);
}

static long long last_row(const hy_job *job)
{
    return (long long)hy_row_of(job->problem, job->chunk->row_end - 1);
}

hybrid_status hy_pack_changed(const hy_job *job, const char *verb, int64_t count,
                              const char *what, int64_t planned)
{
    return hy_fail(job->problem->ctx, HYBRID_BAD_STATE,
                   "the pattern of A or B changed after the plan was made: rows %lld to "
                   "%lld of A %s %lld %s, and %lld when they were planned; make a new "
                   "plan",
                   first_row(job), last_row(job), verb, (long long)count, what,
                   (long long)planned);
}

hybrid_status hy_pack_check_room(const hy_job *job, size_t bytes, size_t room)
{
    return bytes <= room
               ? HYBRID_OK
               : hy_fail(job->problem->ctx, HYBRID_BAD_STATE,
                         "internal error, please report it: packed rows of A take %zu "
                         "bytes, and %zu were reserved",
                         bytes, room);
}

hybrid_status hy_pack_too_many(const hy_job *job, int64_t most)
{
    const hy_features *f = &job->chunk->features;

    return hy_fail(
        job->problem->ctx, HYBRID_UNSUPPORTED,
        "rows %lld to %lld of C, which are computed together, need %lld "
        "entries of A and %lld multiplications, and %lld is the limit of each; "
        "set a smaller chunk_rows (--chunk-rows)",
        first_row(job), last_row(job), (long long)f->nnz, (long long)f->products,
        (long long)most);
}

hybrid_status hy_pack_check(const hy_job *job, size_t bytes)
{
    const hy_chunk *chunk = job->chunk;
    const hybrid_csr *A   = job->problem->A;
    const int64_t nnz     = hy_offset(A, chunk->row_end) - hy_offset(A, chunk->row_begin);

    if (nnz != chunk->features.nnz)
        return hy_pack_changed(job, "have", nnz, "entries", chunk->features.nnz);
    return hy_pack_check_room(job, bytes, job->pack.mem.bytes);
}

int hy_pack_as_planned(const hy_job *job, int64_t count, int64_t planned)
{
    return job->chunk->fewer ? count <= planned : count == planned;
}

hybrid_status hy_pack_outside(const hy_job *job)
{
    const hy_chunk *chunk = job->chunk;

    return hy_fail(job->problem->ctx, HYBRID_BAD_STATE,
                   "the pattern of A or B changed after the plan was made: rows %lld to "
                   "%lld of A have columns outside %lld to %lld, their range when they "
                   "were planned; make a new plan",
                   first_row(job), last_row(job), (long long)chunk->x_begin,
                   (long long)chunk->x_end - 1);
}

hybrid_status hy_pack_touched(const hy_job *job, hy_touched *out)
{
    const hy_chunk *chunk = job->chunk;
    hy_context *ctx       = job->problem->ctx;

    HY_TRY(hy_touched_find(ctx, job->problem->A, chunk->row_begin, chunk->row_end, out));
    if (!hy_pack_as_planned(job, out->count, chunk->features.gather_rows))
        return hy_pack_changed(job, "touch", out->count, "columns",
                               chunk->features.gather_rows);
    return HYBRID_OK;
}
