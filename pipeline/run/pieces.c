/* pipeline/run/pieces.c - computes a chunk in pieces if its result does not fit its
   slot. */
#include "pipeline/run/pieces.h"

#include "base/data/min_max.h"

/* Share of the room that a piece should fill by estimate, so that most pieces fit. */
static const double FILLED = 0.9;

static int64_t chunk_rows(const hy_slot *slot)
{
    return slot->claim.chunk.row_end - slot->claim.chunk.row_begin;
}

int hy_piece_overflows(const hy_slot *slot)
{
    const hy_job *job = &slot->job;

    return job->chunk->features.out_room > 0 &&
           *job->out_nnz > job->chunk->features.out_room;
}

/* Returns how many of `left` rows probably fit, at least 1: they are expected to have as
   many entries each as the rows that the job has computed. */
static int64_t fitting(const hy_slot *slot, int64_t left)
{
    const double each = (double)*slot->job.out_nnz / (double)hy_job_rows(&slot->job);
    const double most = FILLED * (double)hy_out_room(&slot->job.chunk->features);

    return each * (double)left <= most ? left : hy_max((int64_t)(most / each), 1);
}

/* Lets the job compute `rows` rows of the chunk, from row number `before` of it on. */
static void compute(hy_slot *slot, int64_t before, int64_t rows)
{
    hy_job *job   = &slot->job;
    hy_chunk *own = &slot->piece;

    job->rows_before = before;
    job->rows_after  = chunk_rows(slot) - before - rows;
    job->deltas      = NULL;
    job->direct = job->stored = job->decodes = 0;
    own->row_begin                           = slot->claim.chunk.row_begin + before;
    own->row_end                             = own->row_begin + rows;
    own->features.rows                       = rows;
    slot->placing                            = 0;
}

hybrid_status hy_piece_shrink(hy_slot *slot)
{
    const hy_job *job  = &slot->job;
    const int64_t rows = hy_job_rows(job);

    if (rows == 1)
        return hy_fail(job->problem->ctx, HYBRID_BAD_STATE,
                       "the pattern of A or B changed after the plan was made: row %lld "
                       "of C has %lld entries, and the plan has room for %lld; make a "
                       "new plan",
                       (long long)slot->piece.row_begin, (long long)*job->out_nnz,
                       (long long)hy_out_room(&job->chunk->features));
    compute(slot, job->rows_before, hy_min(fitting(slot, rows), rows - 1));
    return HYBRID_OK;
}

int hy_piece_next(hy_slot *slot)
{
    const hy_job *job  = &slot->job;
    const int64_t left = job->rows_after;

    if (left == 0)
        return 0;
    compute(slot, chunk_rows(slot) - left, fitting(slot, left));
    return 1;
}
