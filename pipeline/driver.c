/* pipeline/driver.c - issue, watch, collect; the first error stops all. */
#include "pipeline/driver.h"

#include "base/clock.h"
#include "pipeline/steps.h"

/* Whether the side is the host's that helps a device. */
static int is_host(const hy_side *side)
{
    return side != side->run->sides;
}

/* ---- one slot ------------------------------------------------------------------ */

void hy_run_stop(hy_run *run, hybrid_status status)
{
    if (run->status == HYBRID_OK)
        run->status = status;
    __atomic_store_n(&run->stopped, 1, __ATOMIC_RELEASE);
}

static int stopped(const hy_run *run)
{
    return __atomic_load_n(&run->stopped, __ATOMIC_ACQUIRE);
}

/* The calling thread does a stage. */
static hybrid_status do_timed(hy_slot *slot, const hy_stage *stage)
{
    hy_passage *passage = &slot->passage[stage->step];

    passage->worker            = hy_pool_worker(slot->site->ctx->pool);
    passage->begin_ns          = hy_now_ns();
    const hybrid_status status = hy_step_run(slot, stage, slot->run);
    passage->end_ns            = hy_now_ns();
    passage->done              = 1;
    return status;
}

/* A worker does a stage on the CPU. */
static void cpu_stage(hy_task *task, int worker)
{
    hy_slot *slot = (hy_slot *)task;
    hy_run *run   = slot->side->run;

    (void)worker;
    if (!stopped(run))
        slot->status = do_timed(slot, slot->stage);
    slot->stage++;
    hy_inbox_push(&run->inbox, &slot->task);
}

/* A time between two copies costs the bus some 5 us, a tenth of a copy of 4 MB: those
   down, of which the host sees the end anyway, and the stage of a pack that is there are
   timed for a trace alone. */
static int is_timed(const hy_slot *slot, hy_where where)
{
    const int matters = where == HY_ON_RUN || (where == HY_ON_IN && !slot->job.there);
    return matters || slot->side->run->tracer.fn ||
           !slot->site->backend->ops->mark_untimed;
}

/* Enqueue the slot's stage on its lane, after what the slot waits for. */
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
    HY_TRY(hy_step_run(slot, stage, lane));
    HY_TRY((passage->untimed ? ops->mark_untimed : ops->mark_set)(lane, passage->end));
    passage->done   = 1;
    slot->unseen    = hy_step_mark(slot, stage->step);
    slot->unseen_on = stage->where;
    return HYBRID_OK;
}

/* The first chunk that is not finished. */
static int64_t first_left(const hy_side *side)
{
    const hy_site *site = side->site;
    int64_t first       = side->next;

    for (int i = 0; i < site->depth; i++)
        if (site->slots[i].busy && site->slots[i].index < first)
            first = site->slots[i].index;
    return first;
}

int64_t hy_side_passed(const hy_side *side)
{
    const hy_chunk_list *list = &side->run->queue.list;
    const hy_image *image     = &side->run->problem->image;
    const int64_t first       = first_left(side);

    if (first >= list->count)
        return hy_image_blocks(image);
    const hy_chunk chunk = hy_chunk_at(list, first);
    return hy_image_block_of(image, chunk.first, chunk.col_begin);
}

/* Lanes may still read for a slot that is dropped: then nothing takes X's place. */
static void release(hy_slot *slot)
{
    hy_side *side = slot->side;

    slot->busy = slot->parked = 0;
    side->finished++;
    if (side->site->loader && !stopped(side->run))
        hy_loader_free(side->site->loader, hy_side_passed(side));
}

/* Chunks enter the lanes in order, behind the rows of B or X that they touch. */
static int may_enter(const hy_slot *slot)
{
    hy_loader *loader = slot->site->loader;

    return slot->index == slot->side->next_lane &&
           (!loader || hy_loader_reached(loader, slot->job.chunk));
}

/* Variants in place count their rows themselves, while they make them. */
static void count_rows(const hy_slot *slot)
{
    const hy_chunk *c  = &slot->chunk;
    const int64_t cols = slot->job.problem->op == HY_SPMM ? c->col_end - c->col_begin : 1;

    if (!hy_site_in_place(slot->site))
        hy_progress_add(&slot->site->ctx->progress, (c->row_end - c->row_begin) * cols);
}

static hybrid_status finish(hy_slot *slot)
{
    hy_run *run = slot->side->run;

    count_rows(slot);
    hy_trace_slot(&run->tracer, slot);
    hy_queue_done(&run->queue, &slot->chunk, is_host(slot->side), hy_now_ns());
    release(slot);
    return HYBRID_OK;
}

/* Nothing else is under way or to be begun. */
static int is_last(const hy_run *run)
{
    return run->side_count == 1 && run->queue.next == run->queue.end &&
           run->sides->next - run->sides->finished == 1;
}

/* Wait until the slot's lane is done with what it did last for it. */
static hybrid_status see(hy_slot *slot)
{
    const hybrid_status status = slot->site->backend->ops->host_wait(slot->unseen);

    slot->seen_ns = hy_now_ns();
    slot->unseen  = NULL;
    return status;
}

/* A watcher does so. */
static void watch(hy_task *task, int worker)
{
    hy_slot *slot = (hy_slot *)task;

    (void)worker;
    slot->status = see(slot);
    hy_inbox_push(&slot->side->run->inbox, task);
}

static hybrid_status advance(hy_slot *slot);

/* What the slot did last is to be seen finished, by the lane's watcher or, rather than
   wake two threads one after the other, by the driver if it has nothing else to do. */
static hybrid_status let_see(hy_slot *slot)
{
    if (is_last(slot->side->run) && !hy_progress_asked(&slot->site->ctx->progress)) {
        HY_TRY(see(slot));
        return advance(slot);
    }
    slot->task = (hy_task){.run = watch};
    hy_inbox_push(&slot->lane_set->watchers[slot->unseen_on].inbox, &slot->task);
    return HYBRID_OK;
}

/* What the device waits for goes first: operands, and slots that the bus is soon done
   with, as it is where columns come packed. */
static hy_urgency urgency(const hy_slot *slot)
{
    return slot->placing && !slot->job.unpacks ? HY_PLACE : HY_PACK;
}

/* Take the slot through its stages until somebody else has it or the chunk is done. */
static hybrid_status advance(hy_slot *slot)
{
    for (; slot->stage->name; slot->stage++) {
        const hy_stage *stage = slot->stage;
        const hy_where where  = hy_step_where(slot, stage);

        if (!hy_step_applies(slot, stage->step))
            continue;
        if (where < HY_LANES) {
            if (!slot->on_lanes && !may_enter(slot)) {
                slot->parked = 1;
                return HYBRID_OK;
            }
            slot->side->next_lane += !slot->on_lanes;
            slot->on_lanes = 1;
            HY_TRY(lane_stage(slot));
        } else if (slot->unseen && hy_step_waits(slot, stage->step)) {
            break;
        } else if (where == HY_ON_CPU) {
            slot->task    = (hy_task){.run = cpu_stage};
            slot->placing = stage->step == HY_STEP_PLACE;
            hy_pool_submit(slot->site->ctx->pool, urgency(slot), &slot->task);
            return HYBRID_OK;
        } else {
            HY_TRY(do_timed(slot, stage));
        }
    }
    return slot->unseen ? let_see(slot) : finish(slot);
}

/* ---- claiming ---------------------------------------------------------------------- */

/* Whether any side is at work on a chunk. */
static int in_flight(const hy_run *run)
{
    for (int i = 0; i < run->side_count; i++)
        if (run->sides[i].finished < run->sides[i].next)
            return 1;
    return 0;
}

/* While memory of the result is made ready by workers that have nothing better to do,
   they shall have nothing better to do. */
static int may_help(const hy_run *run)
{
    return run->queue.sharing->share >= 0 || !hy_sink_prepares(run->sink);
}

/* The chunk that the side computes next: to slot->chunk. 0: none, or not now. */
static int claim(hy_side *side, hy_slot *slot)
{
    hy_run *run = side->run;

    if (is_host(side))
        return may_help(run) && hy_queue_claim_piece(&run->queue, &slot->chunk);
    return hy_queue_claim(&run->queue, !in_flight(run), &slot->chunk);
}

static void begin(hy_slot *slot, hy_side *side)
{
    const hy_site *site = side->site;

    slot->side = side;
    slot->sink = side->run->sink;
    hy_slot_begin(slot, side->run->problem, &site->rates, &site->cache, side->next++);
}

/* ---- issuing ---------------------------------------------------------------------- */

static void drive(hy_slot *slot)
{
    const hybrid_status status = advance(slot);

    if (status != HYBRID_OK) {
        hy_run_stop(slot->side->run, status);
        release(slot);
    }
}

static hy_slot *find_parked(const hy_site *site)
{
    for (int i = 0; i < site->depth; i++)
        if (site->slots[i].parked && may_enter(&site->slots[i]))
            return &site->slots[i];
    return NULL;
}

static hy_slot *find_free(const hy_site *site)
{
    for (int i = 0; i < site->depth; i++)
        if (!site->slots[i].busy)
            return &site->slots[i];
    return NULL;
}

/* Parked slots whose turn it is, then one chunk if there is a free slot. 0: neither. */
static int issue_some(hy_side *side)
{
    hy_slot *slot;
    int some = 0;

    for (; !stopped(side->run) && (slot = find_parked(side->site)); some = 1) {
        slot->parked = 0;
        drive(slot);
    }
    slot = stopped(side->run) ? NULL : find_free(side->site);
    if (!slot || !claim(side, slot))
        return some;
    begin(slot, side);
    drive(slot);
    return 1;
}

/* The host first: of a chunk that the device has claimed nothing is left for it. */
static void issue(hy_run *run)
{
    int some = 1;

    while (some) {
        some = 0;
        for (int i = run->side_count - 1; i >= 0; i--)
            some = issue_some(&run->sides[i]) || some;
    }
}

static void drop_parked(hy_run *run)
{
    for (int k = 0; k < run->side_count; k++) {
        const hy_site *site = run->sides[k].site;
        for (int i = 0; i < site->depth; i++)
            if (site->slots[i].parked)
                release(&site->slots[i]);
    }
}

/* ---- by the calling thread alone ------------------------------------------------- */

static hybrid_status do_stage(hy_slot *slot, const hy_stage *stage)
{
    hy_pool *pool              = slot->site->ctx->pool;
    const hy_passage *passage  = &slot->passage[stage->step];
    const int64_t waited       = hy_pool_waited_ns(pool);
    const hybrid_status status = do_timed(slot, stage);

    hy_pool_worked(pool, passage->end_ns - passage->begin_ns -
                             (hy_pool_waited_ns(pool) - waited));
    return status;
}

static hybrid_status do_stages(hy_slot *slot)
{
    for (const hy_stage *stage = slot->stages; stage->name; stage++)
        if (hy_step_applies(slot, stage->step))
            HY_TRY(stage->where == HY_ON_DRIVER ? hy_step_run(slot, stage, NULL)
                                                : do_stage(slot, stage));
    return finish(slot);
}

static void drive_alone(hy_run *run)
{
    hy_side *side = run->sides;
    hy_slot *slot = side->site->slots;

    while (!stopped(run) && slot && claim(side, slot)) {
        begin(slot, side);
        const hybrid_status status = do_stages(slot);
        if (status == HYBRID_OK)
            continue;
        hy_run_stop(run, status);
        release(slot);
    }
}

/* ---- the run --------------------------------------------------------------------- */

void hy_drive(hy_run *run)
{
    hy_loader *loader = run->sides->site->loader;

    if (hy_site_by_caller(run->sides->site)) {
        drive_alone(run);
        return;
    }
    issue(run);
    while (in_flight(run)) {
        hy_task *task = hy_inbox_pop(&run->inbox);
        hy_slot *slot = loader && task == &loader->progress.tick ? NULL : (hy_slot *)task;
        hybrid_status status = slot ? slot->status : hy_loader_ticked(loader);
        if (status == HYBRID_OK)
            status = hy_progress_check(&run->ctx->progress);
        if (status != HYBRID_OK)
            hy_run_stop(run, status);
        if (slot && run->stopped)
            release(slot);
        else if (slot)
            drive(slot);
        issue(run);
        if (run->stopped)
            drop_parked(run);
    }
}
