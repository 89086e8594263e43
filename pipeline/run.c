/* pipeline/run.c - the driver: issue, watch, collect; the first error stops all. */
#include "pipeline/run.h"

#include "base/clock.h"
#include "pipeline/crew.h"
#include "pipeline/load.h"
#include "pipeline/steps.h"
#include "pipeline/turned.h"

/* ---- one slot ------------------------------------------------------------------ */

static void stop(hy_pipeline *p, hybrid_status status)
{
    if (p->lead->status == HYBRID_OK)
        p->lead->status = status;
    __atomic_store_n(&p->lead->stopped, 1, __ATOMIC_RELEASE);
}

static int stopped(const hy_pipeline *p)
{
    return __atomic_load_n(&p->lead->stopped, __ATOMIC_ACQUIRE);
}

/* A worker does a stage on the CPU. */
static void cpu_stage(hy_task *task, int worker)
{
    hy_slot *slot       = (hy_slot *)task;
    hy_pipeline *p      = slot->pipeline;
    hy_passage *passage = &slot->passage[slot->stage->step];

    if (!stopped(p)) {
        passage->worker   = worker;
        passage->begin_ns = hy_now_ns();
        slot->status      = hy_step_run(slot, slot->stage, NULL);
        passage->end_ns   = hy_now_ns();
        passage->done     = 1;
    }
    slot->stage++;
    hy_slot_push(&p->lead->inbox, slot);
}

/* A time between two copies costs the bus some 5 us, a tenth of a copy of 4 MB: those
   down, of which the host sees the end anyway, and the stage of a pack that is there are
   timed for a trace alone. */
static int is_timed(const hy_slot *slot, hy_where where)
{
    const hy_pipeline *p = slot->pipeline;
    const int matters    = where == HY_ON_RUN || (where == HY_ON_IN && !slot->job.there);
    return matters || p->tracer.fn || !p->backend->ops->mark_untimed;
}

/* Enqueue the slot's stage on its lane, after what the slot waits for. */
static hybrid_status lane_stage(hy_pipeline *p, hy_slot *slot)
{
    const hy_backend_ops *ops = p->backend->ops;
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
static int64_t first_left(const hy_pipeline *p)
{
    int64_t first = p->next;

    for (int i = 0; i < p->depth; i++)
        if (p->slots[i].busy && p->slots[i].index < first)
            first = p->slots[i].index;
    return first;
}

/* Panels, or rows of a window, that no chunk needs any more. */
static int64_t not_needed(const hy_pipeline *p)
{
    const int64_t first = first_left(p);

    if (p->problem->window == 0)
        return first / p->ranges;
    return first < p->count ? p->chunks[first].first : p->problem->X->rows;
}

/* Lanes may still read for a slot that is dropped: then nothing takes X's place. */
static void release(hy_pipeline *p, hy_slot *slot)
{
    slot->busy = slot->parked = 0;
    p->finished++;
    if (p->loader && !stopped(p))
        hy_loader_free(p->loader, not_needed(p));
}

/* Chunks enter the lanes in order, behind the rows of B or X that they touch. */
static int may_enter(hy_pipeline *p, const hy_slot *slot)
{
    return slot->index == p->next_lane &&
           (!p->loader || hy_loader_reached(p->loader, slot->job.chunk));
}

/* Whether a parked slot's turn has come. */
static int may_go_on(hy_pipeline *p, const hy_slot *slot)
{
    return slot->on_lanes ? hy_place_turn(p->place, &slot->job) : may_enter(p, slot);
}

static hybrid_status finish(hy_pipeline *p, hy_slot *slot)
{
    hy_trace_slot(&p->tracer, slot);
    hy_deck_done(&p->lead->deck, &slot->chunk, p != p->lead, hy_now_ns());
    release(p, slot);
    return HYBRID_OK;
}

/* Nothing else is under way or to be begun. */
static int is_last(const hy_pipeline *p)
{
    return !p->crew && p == p->lead && !hy_deck_front(&p->deck) &&
           p->next - p->finished == 1;
}

static hybrid_status advance(hy_pipeline *p, hy_slot *slot);

/* What the slot did last is to be seen finished, by the lane's watcher or, rather than
   wake two threads one after the other, by the driver that has nothing else to do. */
static hybrid_status watch(hy_pipeline *p, hy_slot *slot)
{
    if (!is_last(p)) {
        hy_slot_push(&p->gear->watchers[slot->unseen_on].queue, slot);
        return HYBRID_OK;
    }
    const hybrid_status status = p->backend->ops->host_wait(slot->unseen);
    slot->seen_ns              = hy_now_ns();
    slot->unseen               = NULL;
    return status == HYBRID_OK ? advance(p, slot) : status;
}

/* What the device waits for goes first: operands, and slots that the bus is soon done
   with, as it is where columns come packed. */
static hy_urgency urgency(const hy_slot *slot)
{
    return slot->placing && !slot->job.unpacks ? HY_PLACE : HY_PACK;
}

/* Take the slot through its stages until somebody else has it or the chunk is done. */
static hybrid_status advance(hy_pipeline *p, hy_slot *slot)
{
    for (; slot->stage->name; slot->stage++) {
        const hy_stage *stage = slot->stage;

        if (!hy_step_applies(slot, stage->step))
            continue;
        if (stage->where < HY_LANES) {
            if (!slot->on_lanes && !may_enter(p, slot)) {
                slot->parked = 1;
                return HYBRID_OK;
            }
            p->next_lane += !slot->on_lanes;
            slot->on_lanes = 1;
            HY_TRY(lane_stage(p, slot));
        } else if (slot->unseen && hy_step_waits(slot, stage->step)) {
            break;
        } else if (stage->where == HY_ON_CPU) {
            slot->task    = (hy_task){.run = cpu_stage};
            slot->placing = stage->step == HY_STEP_PLACE;
            hy_pool_submit(p->ctx->pool, urgency(slot), &slot->task);
            return HYBRID_OK;
        } else if (stage->step == HY_STEP_RESERVE && !may_go_on(p, slot)) {
            slot->parked = 1;
            return HYBRID_OK;
        } else {
            HY_TRY(hy_step_run(slot, stage, NULL));
        }
    }
    return slot->unseen ? watch(p, slot) : finish(p, slot);
}

/* ---- the run ---------------------------------------------------------------------- */

static void drive(hy_pipeline *p, hy_slot *slot)
{
    const hybrid_status status = advance(p, slot);

    if (status != HYBRID_OK) {
        stop(p, status);
        release(p, slot);
    }
}

/* ---- whose chunk is next --------------------------------------------------------------
 */

static hy_slot *find_parked(hy_pipeline *p)
{
    for (int i = 0; i < p->depth; i++)
        if (p->slots[i].parked && may_go_on(p, &p->slots[i]))
            return &p->slots[i];
    return NULL;
}

static hy_slot *find_free(hy_pipeline *p)
{
    for (int i = 0; i < p->depth; i++)
        if (!p->slots[i].busy)
            return &p->slots[i];
    return NULL;
}

/* Parked slots whose turn it is, then one chunk if there is a free slot. 0: neither. */
static int issue_some(hy_pipeline *p)
{
    hy_slot *slot;
    int some = 0;

    for (; !stopped(p) && (slot = find_parked(p)); some = 1) {
        slot->parked = 0;
        drive(p, slot);
    }
    slot = stopped(p) ? NULL : find_free(p);
    if (!slot || !hy_crew_take(p, slot))
        return some;
    hy_slot_begin(slot, p->problem, &slot->chunk, p->next++);
    drive(p, slot);
    return 1;
}

/* The host first: what it takes from the front is computed at once, a device's chunk is
   some way from having its place. */
static void issue(hy_pipeline *p)
{
    int some = 1;

    while (some) {
        some = p->crew && issue_some(p->crew);
        some = issue_some(p) || some;
    }
}

static void drop_parked(hy_pipeline *p)
{
    for (int i = 0; i < p->depth; i++)
        if (p->slots[i].parked)
            release(p, &p->slots[i]);
    if (p->crew)
        drop_parked(p->crew);
}

/* Lanes may still work on the buffers of slots that were dropped. */
static void drain_lanes(hy_pipeline *p)
{
    for (int i = 0; i < p->depth; i++)
        for (const hy_stage *s = p->stages; s->name; s++) {
            hy_mark *mark = p->slots[i].passage[s->step].end;
            hy_lane *lane =
                s->where < HY_LANES ? hy_slot_lane(&p->slots[i], s->where) : NULL;
            if (lane && p->backend->ops->mark_set(lane, mark) == HYBRID_OK)
                p->backend->ops->host_wait(mark);
        }
    if (p->crew)
        drain_lanes(p->crew);
}

static void run_chunks(hy_pipeline *p)
{
    issue(p);
    while (hy_crew_in_flight(p)) {
        hy_slot *slot              = hy_slot_pop(&p->inbox);
        const int chunk            = !p->loader || slot != &p->loader->tick;
        const hybrid_status status = chunk ? slot->status : hy_loader_ticked(p->loader);
        if (status != HYBRID_OK)
            stop(p, status);
        if (chunk && p->stopped)
            release(slot->pipeline, slot);
        else if (chunk)
            drive(slot->pipeline, slot);
        issue(p);
        if (p->stopped)
            drop_parked(p);
    }
}

static void begin_run(hy_pipeline *p, const hy_problem *problem, hy_place *place,
                      const hy_tracer *tracer)
{
    p->problem = problem;
    p->place   = place;
    p->tracer  = *tracer;
    p->next = p->next_lane = p->finished = 0;
    p->status                            = HYBRID_OK;
    p->stopped                           = 0;
    hy_keeper_begin(&p->keeper);
    if (p->crew)
        begin_run(p->crew, problem, place, tracer);
}

/* No chunk needs more of B or X. */
static hybrid_status finish_load(hy_pipeline *p)
{
    if (!p->loader)
        return HYBRID_OK;
    HY_TRY(hy_loader_finish(p->loader));
    hy_trace_load(&p->tracer, p);
    return HYBRID_OK;
}

hybrid_status hy_pipeline_run(hy_pipeline *p, hy_problem *problem, hy_place *place,
                              hybrid_trace_fn trace, void *user, hybrid_report *report)
{
    const hy_tracer tracer = {.fn = trace, .user = user, .report = report};

    if (!p->backend->ops->copy) /* no device is to be fed */
        hy_pool_call_reserve(p->ctx->pool);
    if (p->loader)
        problem->shared = p->loader->shared;
    begin_run(p, problem, place, &tracer);
    hy_deck_open(&p->deck, problem->profile, p->chunks, p->count, p->sharing,
                 place && !place->known);
    if (problem->panels.wraps) /* the host knows no rows in two places */
        p->deck.devices = p->ranges;

    hybrid_status status = hy_turned_begin(p);
    if (status != HYBRID_OK)
        stop(p, status);
    else if (p->loader)
        hy_loader_start(p->loader, problem, not_needed(p), &p->inbox, trace != NULL);
    run_chunks(p);
    status = finish_load(p);
    if (status != HYBRID_OK)
        stop(p, status);
    p->inbox.first = p->inbox.last = NULL; /* a tick that nobody waits for any more */
    p->failed |= p->stopped;
    if (p->stopped)
        drain_lanes(p);
    else
        report->chunks = p->deck.dealt;
    hy_keeper_end(&p->keeper, p->status, p->deck.host_work > 0);
    if (!p->backend->ops->copy)
        hy_pool_dismiss_reserve(p->ctx->pool);
    return p->status;
}
