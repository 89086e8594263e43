/* pipeline/run/steps.c - the functions of stages. */
#include "pipeline/run/steps.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/pinned.h"
#include "partition/format/pack.h"
#include "pipeline/run/copy_in.h"
#include "pipeline/site/pass.h"
#include "pipeline/sink/delta_columns.h"
#include "pipeline/sink/transposed.h"

int hy_step_applies(const hy_slot *slot, hy_step step)
{
    const hy_variant *variant = slot->job.variant;
    const int copies          = !hy_site_in_place(slot->site);

    switch (step) {
    case HY_STEP_PREPARE:
        return variant->prepare != NULL && !slot->job.reused &&
               (!slot->job.a_on_device || variant->prepare != hy_pack_csr ||
                slot->job.problem->image.axis == HY_AXIS_ENTRIES);
    case HY_STEP_H2D:
        return copies && slot->job.in.bytes > 0;
    case HY_STEP_FINISH:
        return variant->finish != NULL;
    case HY_STEP_D2H:
        return copies;
    case HY_STEP_PLACE:
        return !variant->in_place && !slot->job.stored;
    case HY_STEP_MULTIPLY:
    case HY_STEP_RESERVE:
    case HY_STEPS:
        break;
    }
    return 1;
}

hy_where hy_step_where(const hy_slot *slot, const hy_stage *stage)
{
    const int by_caller = stage->step == HY_STEP_PLACE && slot->sink->ops->by_caller;
    return by_caller ? HY_ON_DRIVER : stage->where;
}

int hy_step_waits(const hy_slot *slot, hy_step step)
{
    return step != HY_STEP_RESERVE || slot->sink->counts || slot->job.deltas ||
           slot->job.chunk->features.out_room > 0 || hy_pass_is_left(&slot->job);
}

hy_mark *hy_step_mark(const hy_slot *slot, hy_step step)
{
    const int decodes = step == HY_STEP_D2H && slot->job.decodes;
    return decodes ? slot->columns : slot->passage[step].end;
}

/* Returns the bytes of a column index, or 0 for SpMM. */
static int64_t column_bytes(const hy_job *job)
{
    return job->out.col ? (int64_t)sizeof *job->out.col : 0;
}

/* Returns the bytes of the chunk's result that are copied from the device, with offsets
   unless the sink knows them. */
static int64_t out_bytes(const hy_slot *slot)
{
    const hy_job *job     = &slot->job;
    const int64_t offsets = slot->sink->counts ? hy_job_rows(job) + 1 : 0;

    return offsets * 8 + job->nnz * (column_bytes(job) + hy_job_value_bytes(job));
}

/* Returns the bytes of the chunk's result that workers store: all except those that the
   device copied straight to the result. */
static int64_t stored_bytes(const hy_slot *slot)
{
    const hy_job *job     = &slot->job;
    const hy_sink *sink   = slot->sink;
    const int64_t offsets = sink->counts ? hy_job_rows(job) : 0;
    const int64_t values  = job->direct ? 0 : hy_job_value_bytes(job);
    const int64_t columns = job->direct && !job->decodes ? 0 : (int64_t)sink->col_bytes;

    return offsets * (int64_t)sink->offset_bytes + job->nnz * (columns + values);
}

/* Enqueues the copy of a part straight to pinned memory of the result, piece by piece: no
   copy may cross the boundary between two pinned pieces. */
static hybrid_status copy_direct(hy_lane *lane, const hy_landing *landing)
{
    if (landing->piece == 0)
        return hy_pinned_copy_rows(lane, &landing->rows, landing->rows.dst);

    char *to         = landing->rows.dst;
    const char *from = landing->rows.src;
    size_t bytes     = landing->rows.bytes;

    while (bytes > 0) {
        const size_t room =
            landing->piece - (size_t)(to - landing->base) % landing->piece;
        const size_t now = bytes < room ? bytes : room;
        HY_TRY(lane->backend->ops->copy(lane, to, from, now));
        to += now;
        from += now;
        bytes -= now;
    }
    return HYBRID_OK;
}

/* Copies entries [first, first + count) of the chunk's result from the device to index
   `at` of job.back. */
static hybrid_status copy_some(const hy_slot *slot, hy_lane *lane, int64_t first,
                               int64_t count, int64_t at)
{
    const hy_backend_ops *ops = lane->backend->ops;
    const hy_job *job         = &slot->job;
    const size_t size         = (size_t)hy_job_value_bytes(job);

    if (job->out.col)
        HY_TRY(
            ops->copy(lane, job->back.col + at, job->out.col + first, (size_t)count * 4));
    return ops->copy(lane, (char *)job->back.val + (size_t)at * size,
                     (const char *)job->out.val + (size_t)first * size,
                     (size_t)count * size);
}

/* Returns 1 if the sink wants the part copied directly and the backend can make all
   copies. */
static int can_copy(const hy_lane *lane, const hy_direct *to)
{
    int can = to->count > 0;

    for (int i = 0; i < to->count; i++)
        can = can && (to->to[i].rows.rows == 1 || lane->backend->ops->copy_rows);
    return can;
}

/* Copies the entries from the device straight to the result if the sink allows it, else
   to job.back. Delta-coded columns go to slot->coded. */
static hybrid_status copy_entries(hy_slot *slot, hy_lane *lane)
{
    hy_job *job        = &slot->job;
    const hy_part part = hy_slot_part(slot, &job->out);
    const hy_direct to = slot->sink->ops->direct(slot->sink, &part);

    job->direct = can_copy(lane, &to);
    job->stored = job->direct && to.all;
    if (!job->direct)
        return copy_some(slot, lane, 0, hy_min(job->nnz, job->back_room), 0);
    job->decodes = hy_delta_columns_pay(slot);
    if (job->decodes)
        HY_TRY(hy_delta_columns_copy(slot, lane));
    for (int i = job->decodes; i < to.count; i++)
        HY_TRY(copy_direct(lane, &to.to[i]));
    return HYBRID_OK;
}

/* Lets the sink move the part to a result in the device's memory. */
static hybrid_status land(hy_slot *slot, hy_lane *lane)
{
    const hy_part part = hy_slot_part(slot, &slot->job.out);

    slot->job.stored = 1;
    return slot->sink->ops->land(slot->sink, lane, &part);
}

static hybrid_status copy_out(hy_slot *slot, hy_lane *lane)
{
    const hy_job *job = &slot->job;

    if (slot->sink->ops->land)
        return land(slot, lane);

    if (slot->sink->counts)
        HY_TRY(lane->backend->ops->copy(lane, job->back.row_ptr, job->out.row_ptr,
                                        (size_t)(hy_job_rows(job) + 1) * 8));
    if (job->nnz == 0)
        return HYBRID_OK;
    return hy_transposed_is(slot) ? hy_transposed_back(slot, lane)
                                  : copy_entries(slot, lane);
}

/* The copies of a chunk with more entries than job.back holds. Each copy fills one half
   of job.back while workers store the other half. */
typedef struct halves {
    const hy_slot *slot;
    int64_t half; /* number of entries of one copy: half of those that job.back holds */
} halves;

static int64_t half_entries(const halves *t, int64_t k)
{
    return hy_min(t->half, t->slot->job.nnz - k * t->half);
}

static hybrid_status fetch_half(const halves *t, int64_t k)
{
    const hy_slot *slot = t->slot;
    hy_lane *lane       = slot->site->lane_set->lanes[HY_ON_OUT];

    HY_TRY(copy_some(slot, lane, k * t->half, half_entries(t, k), k % 2 * t->half));
    return lane->backend->ops->mark_set(lane, slot->passage[HY_STEP_D2H].end);
}

static hybrid_status store_half(const halves *t, int64_t k, hy_part part)
{
    const int64_t at = k % 2 * t->half;

    part.first = k * t->half;
    part.count = half_entries(t, k);
    part.rows.val =
        (char *)part.rows.val + (size_t)(at * hy_job_value_bytes(&t->slot->job));
    if (part.rows.col)
        part.rows.col += at;
    return t->slot->sink->ops->store(t->slot->sink, &part);
}

/* Stores a part that is larger than job.back, half by half, and copies further halves
   meanwhile. The d2h stage has filled both halves of job.back with the first entries. */
static hybrid_status store_halves(const hy_slot *slot, const hy_part *part)
{
    const halves t            = {slot, slot->job.back_room / 2};
    const hy_backend_ops *ops = slot->site->backend->ops;
    const int64_t count       = (slot->job.nnz + t.half - 1) / t.half;

    for (int64_t k = 0; k < count; k++) {
        if (k >= 2)
            HY_TRY(ops->host_wait(slot->passage[HY_STEP_D2H].end));
        if (k >= 1 && k + 1 < count)
            HY_TRY(fetch_half(&t, k + 1));
        HY_TRY(store_half(&t, k, *part));
    }
    return HYBRID_OK;
}

static hybrid_status store(const hy_slot *slot)
{
    const hy_job *job = &slot->job;
    hy_sink *sink     = slot->sink;
    hy_part part      = hy_slot_part(slot, &job->back);

    part.counted = *job->out_nnz;
    if (!job->back.row_at && !job->direct && job->nnz > job->back_room)
        return store_halves(slot, &part);
    if (job->direct && !job->back.row_at) /* the copy d2h wrote the entries to the result
                                             already */
        part.count = 0;
    HY_TRY(sink->ops->store(sink, &part));
    return job->decodes ? hy_delta_columns_store(slot, &part) : HYBRID_OK;
}

static hybrid_status reserve(hy_slot *slot)
{
    hy_job *job  = &slot->job;
    hy_part part = hy_slot_part(slot, &job->out);

    if (slot->sink->counts) /* if the sink does not count, *out_nnz may not be set yet */
        part.counted = *job->out_nnz;
    HY_TRY(slot->sink->ops->reserve(slot->sink, &part));
    job->nnz    = part.nnz;
    job->offset = part.offset;
    return HYBRID_OK;
}

static hybrid_status do_step(hy_slot *slot, hy_step step, hy_lane *lane)
{
    hy_job *job          = &slot->job;
    hy_passage *passage  = &slot->passage[step];
    hybrid_status status = HYBRID_OK;

    passage->bytes = 0;
    switch (step) {
    case HY_STEP_PREPARE:
        status         = job->variant->prepare(job);
        passage->bytes = hy_up_bytes(job);
        break;
    case HY_STEP_H2D:
        status         = hy_copy_in(slot, lane);
        passage->bytes = job->reused ? 0 : hy_up_bytes(job);
        break;
    case HY_STEP_MULTIPLY:
        status = job->variant->multiply(lane, job);
        break;
    case HY_STEP_FINISH:
        status = job->variant->finish(lane, job);
        if (status == HYBRID_OK && !hy_pass_is_left(job))
            status = hy_delta_columns_make(slot, lane);
        break;
    case HY_STEP_RESERVE:
        return reserve(slot);
    case HY_STEP_D2H:
        status = copy_out(slot, lane);
        passage->bytes =
            slot->sink->ops->land ? 0 : out_bytes(slot) - hy_delta_columns_saved(slot);
        break;
    case HY_STEP_PLACE:
        status         = store(slot);
        passage->bytes = stored_bytes(slot);
        break;
    case HY_STEPS:
        break;
    }
    return status;
}

hybrid_status hy_step_run(hy_slot *slot, const hy_stage *stage, hy_lane *lane)
{
    const hy_backend_ops *ops = slot->site->backend->ops;

    if (ops->range_begin)
        ops->range_begin(stage->name);
    const hybrid_status status = do_step(slot, stage->step, lane);
    if (ops->range_end)
        ops->range_end();
    return status;
}
