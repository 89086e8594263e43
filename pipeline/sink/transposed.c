/* pipeline/sink/transposed.c - stores a column-major Y that the device transposes. */
#include "pipeline/sink/transposed.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/pinned.h"
#include "pipeline/site/tenant.h"

hybrid_status hy_transposed_begin(hy_site *site, const hy_problem *problem,
                                  const hy_sink *sink)
{
    site->transposed.active = site->transposed.room > 0 && !sink->ops->land &&
                              sink->order == HYBRID_COL_MAJOR &&
                              hy_form_order(problem->image.form) != sink->order &&
                              problem->A->rows > 0;
    return site->transposed.active
               ? hy_tenants_alloc(site->backend, site->transposed.room, "columns of Y",
                                  &site->transposed.buffer)
               : HYBRID_OK;
}

/* Returns 1 if the device transposes the chunk's result. A chunk with too many rows is
   left to the workers, because a two-dimensional copy limits the distance between two
   columns. */
int hy_transposed_is(const hy_slot *slot)
{
    const hy_chunk *chunk = slot->job.chunk;
    const int64_t rows    = chunk->row_end - chunk->row_begin;

    return slot->site->transposed.active && rows <= HY_MAX_PITCH / 8;
}

/* Returns where the chunk's columns are copied to: Y, if it can be written directly, else
   the slot's pinned memory. Sets job.direct and job.stored accordingly. */
static hy_row_copy home_of(hy_slot *slot)
{
    hy_job *job           = &slot->job;
    const hy_chunk *chunk = job->chunk;
    const size_t size     = hy_value_size(job->problem->A->type);
    const size_t bytes    = (size_t)(chunk->row_end - chunk->row_begin) * size;
    hy_row_copy home      = {.dst       = job->back.val,
                             .dst_pitch = bytes,
                             .bytes     = bytes,
                             .rows      = chunk->col_end - chunk->col_begin};

    job->transposed    = 1;
    const hy_part part = hy_slot_part(slot, &job->out);
    const hy_direct to = slot->sink->ops->direct(slot->sink, &part);

    job->direct = job->stored = to.count > 0;
    if (!job->direct)
        return home;
    home.dst = to.to->rows.dst;
    if (to.to->rows.rows > 1) /* with a single row of the chunk, the columns are
                                 contiguous in Y as well */
        home.dst_pitch = to.to->rows.dst_pitch;
    return home;
}

hybrid_status hy_transposed_back(hy_slot *slot, hy_lane *lane)
{
    const hy_backend_ops *ops = lane->backend->ops;
    hy_job *job               = &slot->job;
    const hy_row_copy home    = home_of(slot);
    const size_t size         = hy_value_size(job->problem->A->type);
    const int64_t rows = (int64_t)(home.bytes / size), width = home.rows;
    char *room         = slot->site->transposed.buffer.ptr;
    const int64_t most = (int64_t)(slot->site->transposed.buffer.bytes / size) / width;

    for (int64_t row = 0; row < rows; row += most) {
        const int64_t count                  = hy_min(most, rows - row);
        const size_t at                      = (size_t)row * size;
        const hy_transposition transposition = {.to   = room,
                                                .from = (const char *)job->out.val +
                                                        at * (size_t)width,
                                                .to_ld   = count,
                                                .from_ld = width,
                                                .lines   = width,
                                                .length  = count,
                                                .filled  = count,
                                                .size    = size};
        const hy_row_copy part               = {.dst       = (char *)home.dst + at,
                                                .src       = room,
                                                .dst_pitch = home.dst_pitch,
                                                .src_pitch = (size_t)count * size,
                                                .bytes     = (size_t)count * size,
                                                .rows      = width};
        HY_TRY(ops->transpose(lane, &transposition));
        HY_TRY(job->direct ? hy_pinned_copy_rows(lane, &part, part.dst)
                           : ops->copy_rows(lane, &part));
    }
    return HYBRID_OK;
}
