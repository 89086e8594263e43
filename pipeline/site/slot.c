/* pipeline/site/slot.c - buffers, marks and state of one chunk in flight. */
#include "pipeline/site/slot.h"

#include <string.h>

#include "base/data/csr.h"
#include "partition/format/pack.h"
#include "pipeline/site/pass.h"

enum {
    WORD_BYTES    = 256, /* bytes of pinned memory for out_nnz and units */
    SPARE_ENTRIES = 1024,
    BACK_BYTES    = 8 << 20
};

/* Returns the chunk's features with out_bound limited to the entries that pinned memory
   receives at a time. For SpGEMM this is the expected number of entries, not the bound,
   and they take at most BACK_BYTES: pinned memory is slow to allocate, and workers can
   read a small buffer from the last-level cache. More entries arrive in several
   copies. */
static hy_features back_features(const hy_features *f)
{
    const int64_t most    = BACK_BYTES / (4 + (int64_t)hy_value_size(f->type));
    const double expected = 1.25 * (double)f->products / f->out_ratio;
    hy_features back      = *f;

    back.out_room = 0;
    if (f->out_ratio > 1 && expected + SPARE_ENTRIES < (double)f->out_bound)
        back.out_bound = (int64_t)expected + SPARE_ENTRIES;
    if (back.out_bound > most)
        back.out_bound = most;
    return back;
}

static size_t back_bytes(hy_op op, const hy_features *f)
{
    const hy_features back = back_features(f);
    return hy_align(hy_rows_bytes(op, op == HY_SPGEMM ? &back : f, 0));
}

size_t hy_slot_pinned_bytes(const hy_variant *variant, const hy_features *f,
                            const hy_rates *rates)
{
    const hy_cost cost = variant->cost(f, rates);

    return WORD_BYTES + hy_align(cost.pack_bytes) + back_bytes(variant->op, f);
}

void hy_slot_sizes(const hy_backend *backend, const hy_rates *rates,
                   const hy_chunk *chunks, int64_t count, int lands, size_t *device,
                   size_t *pinned)
{
    *device = 0;
    *pinned = WORD_BYTES;
    for (int64_t i = 0; i < count; i++) {
        const hy_cost cost  = chunks[i].variant->cost(&chunks[i].features, rates);
        const size_t cached = chunks[i].cached ? hy_align(cost.pack_bytes) : 0;
        *device             = hy_larger(*device, hy_cost_bytes(&cost) - cached);
        if (!backend->ops->copy)
            continue;
        const size_t all =
            hy_slot_pinned_bytes(chunks[i].variant, &chunks[i].features, rates);
        const size_t back =
            lands ? back_bytes(chunks[i].variant->op, &chunks[i].features) : 0;
        *pinned = hy_larger(*pinned, all - back);
    }
}

static hybrid_status open_marks(hy_slot *slot)
{
    hy_lane_set *lane_set = slot->lane_set;

    for (const hy_stage *s = slot->stages; s->name; s++) {
        if (s->where >= HY_LANES)
            continue;
        HY_TRY(hy_lane_set_mark(lane_set, &slot->passage[s->step].begin));
        HY_TRY(hy_lane_set_mark(lane_set, &slot->passage[s->step].end));
    }
    if (lane_set->backend->ops->code_deltas && slot->stages == hy_spgemm_stages)
        HY_TRY(hy_lane_set_mark(lane_set, &slot->columns));
    return HYBRID_OK;
}

hybrid_status hy_slot_open(hy_backend *backend, hy_lane_set *lane_set,
                           const hy_stage *stages, hy_slot *slot)
{
    hybrid_status status;

    memset(slot, 0, sizeof *slot);
    hy_work_log_open(backend->ctx, &slot->log);
    slot->backend  = backend;
    slot->lane_set = lane_set;
    slot->stages   = stages;
    if (!lane_set) {
        slot->run = backend->caller_lane;
        return HYBRID_OK;
    }
    HY_TRY_ELSE_DONE(open_marks(slot));
    if (!backend->ops->copy) /* the backend computes in place */
        HY_TRY_ELSE_DONE(hy_lane_set_run_lane(lane_set, &slot->run));
done:
    if (status != HYBRID_OK)
        hy_slot_close(backend, slot);
    return status;
}

void hy_slot_close(hy_backend *backend, hy_slot *slot)
{
    backend->ops->free(backend, &slot->coded);
    hy_work_log_close(&slot->log);
    memset(slot, 0, sizeof *slot);
}

hy_lane *hy_slot_lane(const hy_slot *slot, hy_where where)
{
    const int own = slot->run && (where == HY_ON_RUN || !slot->backend->ops->copy);

    return own ? slot->run : slot->lane_set->lanes[where];
}

hy_buffer hy_buffer_part(const hy_buffer *block, size_t at, size_t bytes)
{
    hy_buffer b = {block->ptr ? (char *)block->ptr + at : NULL, bytes, block->space};
    return b;
}

/* Places the room for the result in pinned memory behind `pack_room` bytes for the
   pack. */
static void begin_back(hy_slot *slot, hy_op op, size_t pack_room)
{
    hy_job *job            = &slot->job;
    const hy_features back = back_features(&job->chunk->features);

    job->back =
        hy_rows_in((char *)slot->pinned.ptr + WORD_BYTES + pack_room, op, &back, 0);
    job->back_room = op == HY_SPGEMM ? back.out_bound : INT64_MAX;
}

void hy_slot_begin(hy_slot *slot, const hy_problem *problem, const hy_rates *rates,
                   const hy_pack_cache *cache)
{
    const hy_backend_ops *ops = slot->backend->ops;
    const hy_chunk *chunk     = &slot->claim.chunk;
    const hy_features *f      = &chunk->features;
    const hy_cost cost        = chunk->variant->cost(f, rates);
    const int in_host         = ops->copy == NULL;
    const size_t room         = hy_align(cost.pack_bytes);
    const size_t work_at      = chunk->cached ? 0 : room;
    const size_t out_at       = work_at + hy_align(cost.work_bytes);
    hy_job *job               = &slot->job;

    slot->piece = *chunk;
    *job        = (hy_job){
               .problem = problem, .chunk = chunk, .variant = chunk->variant, .rates = rates};
    job->in      = chunk->cached
                       ? hy_buffer_part(&cache->block, chunk->cached_at, cost.pack_bytes)
                       : hy_buffer_part(&slot->device, 0, cost.pack_bytes);
    job->work    = hy_buffer_part(&slot->device, work_at, cost.work_bytes);
    job->out_nnz = slot->pinned.ptr;
    job->units   = job->out_nnz + 1;
    if (cost.out_bytes > 0)
        job->out = hy_rows_in((char *)slot->device.ptr + out_at, problem->op, f, in_host);
    if (in_host) {
        job->back      = job->out;
        job->back_room = INT64_MAX;
    } else {
        job->pack.mem = hy_buffer_part(&slot->pinned, WORD_BYTES, cost.pack_bytes);
        if (!slot->lands)
            begin_back(slot, problem->op, room);
    }
    job->reused = hy_pack_cache_has(cache, chunk, slot->claim.index);
    job->a_on_device =
        problem->a_source.on_device.csr || (ops->rebase && hy_pack_csr_shares(job));
    hy_pass_first(job);
    *job->out_nnz = 0;
    slot->stage   = slot->stages;
    slot->unseen  = NULL;
    slot->status  = HYBRID_OK;
    hy_work_log_clear(&slot->log);
    slot->busy   = 1;
    slot->parked = slot->on_lanes = slot->placing = 0;
    for (int step = 0; step < HY_STEPS; step++)
        slot->passage[step].done = 0;
}

hy_part hy_slot_part(const hy_slot *slot, const hy_rows *rows)
{
    const hy_job *job     = &slot->job;
    const hy_image *image = &job->problem->image;

    return (hy_part){.chunk  = &slot->piece,
                     .home   = hy_backend_home(slot->backend),
                     .nnz    = job->nnz,
                     .offset = job->offset,
                     .rows   = *rows,
                     .count  = job->nnz,
                     .order =
                         job->transposed ? HYBRID_COL_MAJOR : hy_form_order(image->form),
                     .by_lines = image->axis == HY_AXIS_COLS || job->transposed};
}
