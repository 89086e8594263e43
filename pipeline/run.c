/* pipeline/run.c - the driver: issue, watch, collect; the first error stops all. */
#include "pipeline/run.h"

#include <string.h>

#include "base/clock.h"
#include "pipeline/claim.h"
#include "pipeline/steps.h"
#include "pipeline/turned.h"

/* ---- one slot ------------------------------------------------------------------ */

static void stop(hy_run *run, hybrid_status status)
{
    if (run->status == HYBRID_OK)
        run->status = status;
    __atomic_store_n(&run->stopped, 1, __ATOMIC_RELEASE);
}

static int stopped(const hy_run *run)
{
    return __atomic_load_n(&run->stopped, __ATOMIC_ACQUIRE);
}

/* A worker does a stage on the CPU. */
static void cpu_stage(hy_task *task, int worker)
{
    hy_slot *slot       = (hy_slot *)task;
    hy_run *run         = slot->side->run;
    hy_passage *passage = &slot->passage[slot->stage->step];

    if (!stopped(run)) {
        passage->worker   = worker;
        passage->begin_ns = hy_now_ns();
        slot->status      = hy_step_run(slot, slot->stage, NULL);
        passage->end_ns   = hy_now_ns();
        passage->done     = 1;
    }
    slot->stage++;
    hy_inbox_push(&run->inbox, slot);
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

/* Panels, or rows of a window, that no chunk needs any more. */
static int64_t not_needed(const hy_side *side)
{
    const hy_chunk_list *list = &side->run->queue.list;
    const hy_problem *problem = side->run->problem;
    const int64_t first       = first_left(side);

    if (problem->window == 0)
        return first / list->ranges;
    return first < list->count ? hy_chunk_at(list, first).first : problem->X->rows;
}

/* Lanes may still read for a slot that is dropped: then nothing takes X's place. */
static void release(hy_slot *slot)
{
    hy_side *side = slot->side;

    slot->busy = slot->parked = 0;
    side->finished++;
    if (side->site->loader && !stopped(side->run))
        hy_loader_free(side->site->loader, not_needed(side));
}

/* Chunks enter the lanes in order, behind the rows of B or X that they touch. */
static int may_enter(const hy_slot *slot)
{
    hy_loader *loader = slot->site->loader;

    return slot->index == slot->side->next_lane &&
           (!loader || hy_loader_reached(loader, slot->job.chunk));
}

static hybrid_status finish(hy_slot *slot)
{
    hy_run *run = slot->side->run;

    hy_trace_slot(&run->tracer, slot);
    hy_queue_done(&run->queue, &slot->chunk, hy_side_helps(slot->side), hy_now_ns());
    release(slot);
    return HYBRID_OK;
}

/* Nothing else is under way or to be begun. */
static int is_last(const hy_run *run)
{
    return run->side_count == 1 && run->queue.next == run->queue.end &&
           run->sides->next - run->sides->finished == 1;
}

static hybrid_status advance(hy_slot *slot);

/* What the slot did last is to be seen finished, by the lane's watcher or, rather than
   wake two threads one after the other, by the driver that has nothing else to do. */
static hybrid_status watch(hy_slot *slot)
{
    if (!is_last(slot->side->run)) {
        hy_inbox_push(&slot->site->lane_set->watchers[slot->unseen_on].inbox, slot);
        return HYBRID_OK;
    }
    const hybrid_status status = slot->site->backend->ops->host_wait(slot->unseen);
    slot->seen_ns              = hy_now_ns();
    slot->unseen               = NULL;
    return status == HYBRID_OK ? advance(slot) : status;
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

        if (!hy_step_applies(slot, stage->step))
            continue;
        if (stage->where < HY_LANES) {
            if (!slot->on_lanes && !may_enter(slot)) {
                slot->parked = 1;
                return HYBRID_OK;
            }
            slot->side->next_lane += !slot->on_lanes;
            slot->on_lanes = 1;
            HY_TRY(lane_stage(slot));
        } else if (slot->unseen && hy_step_waits(slot, stage->step)) {
            break;
        } else if (stage->where == HY_ON_CPU) {
            slot->task    = (hy_task){.run = cpu_stage};
            slot->placing = stage->step == HY_STEP_PLACE;
            hy_pool_submit(slot->site->ctx->pool, urgency(slot), &slot->task);
            return HYBRID_OK;
        } else {
            HY_TRY(hy_step_run(slot, stage, NULL));
        }
    }
    return slot->unseen ? watch(slot) : finish(slot);
}

/* ---- the run ---------------------------------------------------------------------- */

static void drive(hy_slot *slot)
{
    const hybrid_status status = advance(slot);

    if (status != HYBRID_OK) {
        stop(slot->side->run, status);
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
    if (!slot || !hy_claim(side, slot))
        return some;
    hy_slot_begin(slot, side, side->next++);
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

/* Lanes may still work on the buffers of slots that were dropped. */
static void drain_lanes(hy_site *site)
{
    site->failed = 1;
    for (int i = 0; i < site->depth; i++)
        for (const hy_stage *s = site->stages; s->name; s++) {
            hy_mark *mark = site->slots[i].passage[s->step].end;
            hy_lane *lane =
                s->where < HY_LANES ? hy_slot_lane(&site->slots[i], s->where) : NULL;
            if (lane && site->backend->ops->mark_set(lane, mark) == HYBRID_OK)
                site->backend->ops->host_wait(mark);
        }
}

static void run_chunks(hy_run *run)
{
    hy_loader *loader = run->sides->site->loader;

    issue(run);
    while (hy_run_in_flight(run)) {
        hy_slot *slot              = hy_inbox_pop(&run->inbox);
        const int chunk            = !loader || slot != &loader->tick;
        const hybrid_status status = chunk ? slot->status : hy_loader_ticked(loader);
        if (status != HYBRID_OK)
            stop(run, status);
        if (chunk && run->stopped)
            release(slot);
        else if (chunk)
            drive(slot);
        issue(run);
        if (run->stopped)
            drop_parked(run);
    }
}

static void add_side(hy_run *run, hy_site *site)
{
    if (!site)
        return;
    run->sides[run->side_count++] = (hy_side){.run = run, .site = site};
    hy_pack_cache_begin(&site->cache);
}

static void begin_run(hy_run *run, const hy_sites *sites, const hy_chunk_list *list,
                      const hy_problem *problem, hy_place *place)
{
    memset(run, 0, sizeof *run);
    run->ctx     = sites->device->ctx;
    run->problem = problem;
    run->place   = place;
    add_side(run, sites->device);
    add_side(run, sites->host);
    hy_inbox_open(&run->inbox, hy_pool_leaves_cores(run->ctx->pool));
    hy_queue_open(&run->queue, problem->profile, list, sites->sharing);
    if (problem->panels.wraps) /* the host knows no rows in two places */
        run->queue.devices = list->ranges;
}

/* B or X, if the device holds it. */
static void begin_load(hy_run *run)
{
    hy_side *device            = run->sides;
    hy_loader *loader          = device->site->loader;
    const hybrid_status status = hy_turned_begin(device);

    if (status != HYBRID_OK)
        stop(run, status);
    else if (loader)
        hy_loader_start(loader, run->problem, not_needed(device), &run->inbox,
                        run->tracer.fn != NULL);
}

/* No chunk needs more of B or X. */
static void finish_load(hy_run *run)
{
    hy_loader *loader = run->sides->site->loader;

    if (!loader)
        return;
    const hybrid_status status = hy_loader_finish(loader);
    if (status != HYBRID_OK)
        stop(run, status);
    else
        hy_trace_load(&run->tracer, run);
}

static void end_run(hy_run *run)
{
    for (int i = 0; run->stopped && i < run->side_count; i++)
        drain_lanes(run->sides[i].site);
    if (!run->stopped)
        run->tracer.report->chunks = run->queue.claimed;
    hy_pack_cache_end(&run->sides->site->cache, run->status, run->queue.host_work > 0);
    hy_inbox_destroy(&run->inbox);
}

hybrid_status hy_run_product(const hy_sites *sites, const hy_chunk_list *list,
                             hy_problem *problem, hy_place *place, hybrid_trace_fn trace,
                             void *user, hybrid_report *report)
{
    const hy_site *first = sites->device;
    hy_pool *pool        = first->ctx->pool;
    hy_run run;

    if (hy_site_in_place(first)) /* no device is to be fed */
        hy_pool_call_reserve(pool);
    if (first->loader)
        problem->shared = first->loader->shared;
    begin_run(&run, sites, list, problem, place);
    run.tracer = (hy_tracer){.fn = trace, .user = user, .report = report};
    begin_load(&run);
    run_chunks(&run);
    finish_load(&run);
    end_run(&run);
    if (hy_site_in_place(first))
        hy_pool_dismiss_reserve(pool);
    return run.status;
}
