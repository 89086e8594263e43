/* pipeline/run/driver_slot.c - takes one slot through the stages of its chunk. */
#include "base/threads/clock.h"
#include "base/data/csr.h"
#include "pipeline/run/driver.h"
#include "pipeline/run/pieces.h"
#include "pipeline/run/steps.h"
#include "pipeline/site/pass.h"

void hy_run_stop(hy_run *run, hybrid_status status)
{
    if (run->status == HYBRID_OK)
        run->status = status;
    __atomic_store_n(&run->stopped, 1, __ATOMIC_RELEASE);
}

/* Returns where the calling thread's work on a stage is recorded, if the run is
   traced. */
static hy_work_on work_on(hy_slot *slot, const hy_stage *stage)
{
    return (hy_work_on){slot->site->run->tracer.to.fn ? &slot->log : NULL,
                        (int)stage->step};
}

/* Runs the slot's stage in the calling thread. */
hybrid_status hy_slot_do(hy_slot *slot, const hy_stage *stage)
{
    hy_passage *passage = &slot->passage[stage->step];

    passage->worker   = hy_pool_worker(slot->site->ctx->pool);
    passage->begin_ns = hy_now_ns();
    hy_work_begin(work_on(slot, stage));
    const hybrid_status status = hy_step_run(slot, stage, slot->run);
    passage->end_ns            = hy_now_ns();
    hy_work_end(passage->worker, passage->begin_ns, passage->end_ns);
    passage->done = 1;
    return status;
}

/* Runs the slot's stage in a worker. */
static void cpu_stage(hy_task *task, int worker)
{
    hy_slot *slot = (hy_slot *)task;
    hy_run *run   = slot->site->run;

    (void)worker;
    if (!hy_run_stopped(run))
        slot->status = hy_slot_do(slot, slot->stage);
    slot->stage++;
    hy_inbox_push(&run->inbox, &slot->task);
}

/* Returns 1 if the marks of the stage have times. Timing a mark between two copies delays
   the second by about 5 us, a tenth of a copy of 4 MB. Two stages are therefore timed
   only for a trace: copies to the host, whose end the host sees anyway, and the copy
   stage of a cached pack, which copies nothing. */
static int is_timed(const hy_slot *slot, hy_where where)
{
    const int matters = where == HY_ON_RUN || (where == HY_ON_IN && !slot->job.reused);
    return matters || slot->site->run->tracer.to.fn ||
           !slot->site->backend->ops->mark_untimed;
}

/* If the backend computes in place, the workers that execute the enqueued work record it
   as theirs; the calling thread only enqueues. */
static hybrid_status enqueue(hy_slot *slot, const hy_stage *stage, hy_lane *lane)
{
    if (hy_site_in_place(slot->site))
        hy_work_begin(work_on(slot, stage));
    const hybrid_status status = hy_step_run(slot, stage, lane);
    hy_work_begin((hy_work_on){NULL, 0});
    return status;
}

/* Enqueues the slot's stage on its lane, behind the mark that the slot waits for. */
static hybrid_status lane_stage(hy_slot *slot)
{
    const hy_backend_ops *ops = slot->site->backend->ops;
    const hy_stage *stage     = slot->stage;
    hy_lane *lane             = hy_slot_lane(slot, stage->where);
    hy_passage *passage       = &slot->passage[stage->step];

    if (slot->unseen && slot->unseen_on != stage->where)
        HY_TRY(ops->lane_wait(lane, slot->unseen));
    passage->untimed = !is_timed(slot, stage->where);
    if (!passage->untimed)
        HY_TRY(ops->mark_set(lane, passage->begin));
    HY_TRY(enqueue(slot, stage, lane));
    HY_TRY((passage->untimed ? ops->mark_untimed : ops->mark_set)(lane, passage->end));
    passage->done   = 1;
    slot->unseen    = hy_step_mark(slot, stage->step);
    slot->unseen_on = stage->where;
    return HYBRID_OK;
}

/* Returns the smallest index, in the site's list of chunks, of a chunk that is not
   finished. */
static int64_t first_left(const hy_site *site)
{
    int64_t first = site->next;

    for (int i = 0; i < site->depth; i++)
        if (site->slots[i].busy && site->slots[i].claim.index < first)
            first = site->slots[i].claim.index;
    return first;
}

int64_t hy_site_passed(const hy_site *site)
{
    const hy_chunk_list *list = &site->list;
    const hy_image *image     = &site->problem.image;
    const int64_t first       = first_left(site);

    if (first >= list->count && !list->more)
        return hy_image_blocks(image);
    if (first >= list->count)
        return image->axis == HY_AXIS_ENTRIES
                   ? hy_offset(site->problem.source.csr, list->ring_begin)
                   : 0;
    const hy_chunk chunk = hy_chunk_at(list, first);
    if (image->axis == HY_AXIS_ENTRIES)
        return hy_offset(site->problem.source.csr, chunk.x_begin);
    return hy_image_block_of(image, chunk.x_begin, chunk.col_begin);
}

/* A slot that is dropped after an error frees no block of the image, since lanes may
   still read for it. */
void hy_slot_release(hy_slot *slot)
{
    hy_site *site = slot->site;

    slot->busy = slot->parked = 0;
    site->finished++;
    if (site->loader && !hy_run_stopped(site->run))
        hy_loader_free(site->loader, hy_site_passed(site));
}

/* Returns 1 if the slot's chunk may enter the lanes: chunks enter them in order, after
   the rows of B or X that they touch were sent. */
static int may_enter(const hy_slot *slot)
{
    hy_loader *loader = slot->site->loader;

    return slot->sequence == slot->site->next_lane &&
           (!loader || hy_loader_reached(loader, slot->job.chunk));
}

/* Returns 1 if the slot's part may be reserved: with a sink that is in order, only after
   all rows before it. Chunks of one site reach this stage in order; those of different
   sites may not. */
static int may_reserve(const hy_slot *slot)
{
    const hy_sink *sink = slot->sink;

    return !sink->in_order || slot->piece.row_begin == slot->site->run->reserved_rows;
}

static int may_store(const hy_slot *slot)
{
    return !slot->sink->ops->by_caller || slot->part == slot->site->run->stored;
}

/* Returns 1 if the slot's next stage may begin. It may have to wait for other chunks of
   the site or of the run. */
int hy_slot_may_go_on(const hy_slot *slot)
{
    const hy_stage *stage = slot->stage;

    if (stage->step == HY_STEP_RESERVE)
        return may_reserve(slot);
    if (stage->step == HY_STEP_PLACE)
        return may_store(slot);
    return stage->where >= HY_LANES || slot->on_lanes || may_enter(slot);
}

static void note_done(const hy_slot *slot)
{
    const hy_site *site = slot->site;

    hy_queue_done(&site->run->queue, site->index, &slot->claim.chunk, hy_now_ns());
}

/* Tells the queue that the chunk is computed: its size is known, or all its stages are
   done. The measured speed of a site then excludes waiting for the chunk's turn in the
   result. */
static void note_counted(hy_slot *slot)
{
    if (!slot->counted)
        note_done(slot);
    slot->counted = 1;
}

/* Adds the computed rows to the progress of the call. Variants that compute in place
   report their progress themselves. */
static void count_rows(const hy_slot *slot)
{
    const hy_chunk *c  = &slot->piece;
    const int64_t cols = slot->job.problem->op == HY_SPMM ? c->col_end - c->col_begin : 1;

    if (!hy_site_in_place(slot->site))
        hy_progress_add(&slot->site->ctx->progress, (c->row_end - c->row_begin) * cols);
}

hybrid_status hy_slot_finish(hy_slot *slot)
{
    count_rows(slot);
    HY_TRY(hy_trace_slot(&slot->site->run->tracer, slot));
    note_counted(slot);
    hy_slot_release(slot);
    return HYBRID_OK;
}

/* ---- pieces and passes ---------------------------------------------------------- */

/* Returns the slot to its stages from `step` on. The stages that are done are reported
   first, because stages that follow reuse their marks. */
static hybrid_status repeat(hy_slot *slot, hy_step step)
{
    HY_TRY(hy_trace_slot(&slot->site->run->tracer, slot));
    hy_work_log_clear(&slot->log);
    for (int k = 0; k < HY_STEPS; k++)
        slot->passage[k].done = 0;
    slot->stage = slot->stages;
    while (slot->stage->step != step)
        slot->stage++;
    return HYBRID_OK;
}

/* Lets the slot compute fewer rows, because the result of all has no room. */
static hybrid_status compute_less(hy_slot *slot)
{
    HY_TRY(repeat(slot, HY_STEP_MULTIPLY));
    HY_TRY(hy_piece_shrink(slot));
    return hy_slot_advance(slot);
}

/* Lets the slot compute the next pass of its chunk. */
static hybrid_status compute_pass(hy_slot *slot)
{
    HY_TRY(repeat(slot, HY_STEP_PREPARE));
    hy_pass_next(&slot->job);
    return hy_slot_advance(slot);
}

/* Lets the slot compute the rows of its chunk that are left, or finishes the chunk. */
static hybrid_status compute_rest(hy_slot *slot)
{
    if (slot->job.rows_after == 0)
        return hy_slot_finish(slot);
    count_rows(slot);
    HY_TRY(repeat(slot, HY_STEP_MULTIPLY));
    hy_piece_next(slot);
    return hy_slot_advance(slot);
}

/* ---- waiting ---------------------------------------------------------------------- */

/* Returns 1 if this chunk is the last: no other chunk is in flight or unclaimed. */
static int is_last(const hy_run *run)
{
    return run->queue.count == 1 && run->queue.left == 0 && !run->queue.more &&
           run->queue.of[0]->begun - run->queue.of[0]->finished == 1;
}

/* Waits until the slot's lane has finished the last work that was enqueued for the
   slot. */
static hybrid_status see(hy_slot *slot)
{
    const hybrid_status status = slot->site->backend->ops->host_wait(slot->unseen);

    slot->seen_ns = hy_now_ns();
    slot->unseen  = NULL;
    return status;
}

/* Waits for the slot's lane in the thread of its watcher. */
static void watch(hy_task *task, int worker)
{
    hy_slot *slot = (hy_slot *)task;

    (void)worker;
    slot->status = see(slot);
    hy_inbox_push(&slot->site->run->inbox, task);
}

/* Lets a thread wait for the slot's last enqueued work: the lane's watcher, or the driver
   if it has no other work. The latter avoids waking two threads one after the other. */
static hybrid_status let_see(hy_slot *slot)
{
    const int pieces = slot->job.rows_before + slot->job.rows_after > 0;

    if (is_last(slot->site->run) && !pieces &&
        !hy_progress_asked(&slot->site->ctx->progress)) {
        HY_TRY(see(slot));
        return hy_slot_advance(slot);
    }
    slot->task = (hy_task){.run = watch};
    hy_inbox_push(&slot->lane_set->watchers[slot->unseen_on].inbox, &slot->task);
    return HYBRID_OK;
}

/* Returns the urgency of the slot's work on the pool. Work that the device waits for
   comes first: packing operands, and storing chunks with delta-coded columns, whose slots
   become free soon. */
static hy_urgency urgency(const hy_slot *slot)
{
    return slot->placing && !slot->job.decodes ? HY_PLACE : HY_PACK;
}

/* After `reserve`, numbers the part and counts its rows as reserved; after `place`,
   counts the part as stored. Other slots may wait for both. */
static void note_order(hy_slot *slot, hy_step step)
{
    hy_run *run = slot->site->run;

    if (step == HY_STEP_PLACE)
        run->stored++;
    if (step != HY_STEP_RESERVE)
        return;
    slot->part         = run->reserved++;
    run->reserved_rows = slot->piece.row_end;
}

/* Takes the slot through its stages until another thread has it or the chunk is done. */
hybrid_status hy_slot_advance(hy_slot *slot)
{
    for (; slot->stage->name; slot->stage++) {
        const hy_stage *stage = slot->stage;
        const hy_where where  = hy_step_where(slot, stage);

        if (!hy_step_applies(slot, stage->step))
            continue;
        if (where >= HY_LANES && slot->unseen && hy_step_waits(slot, stage->step))
            break;
        if (stage->step == HY_STEP_RESERVE && hy_piece_overflows(slot))
            return compute_less(slot);
        if (stage->step == HY_STEP_RESERVE && hy_pass_is_left(&slot->job))
            return compute_pass(slot);
        if (stage->step == HY_STEP_RESERVE && slot->sink->in_order &&
            slot->job.rows_after == 0)
            note_counted(slot);
        if (!hy_slot_may_go_on(slot)) {
            slot->parked = 1;
            return HYBRID_OK;
        }
        if (where < HY_LANES) {
            slot->site->next_lane += !slot->on_lanes;
            slot->on_lanes = 1;
            HY_TRY(lane_stage(slot));
        } else if (where == HY_ON_CPU) {
            slot->task =
                (hy_task){.run = cpu_stage, .home = hy_backend_home(slot->backend)};
            slot->placing = stage->step == HY_STEP_PLACE;
            hy_pool_submit(slot->site->ctx->pool, urgency(slot), &slot->task);
            return HYBRID_OK;
        } else {
            HY_TRY(hy_slot_do(slot, stage));
            note_order(slot, stage->step);
        }
    }
    return slot->unseen ? let_see(slot) : compute_rest(slot);
}
