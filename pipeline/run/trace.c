/* pipeline/run/trace.c - turns the stages of a finished chunk into events and sums. */
#include "pipeline/run/trace.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/shortage.h"
#include "pipeline/sink/delta_columns.h"
#include "pipeline/site/site.h"

/* Returns the field of the report to which a step's time is added. */
static double *report_field(hybrid_report *report, hy_step step)
{
    switch (step) {
    case HY_STEP_PREPARE:
        return &report->prepare_s;
    case HY_STEP_H2D:
        return &report->h2d_s;
    case HY_STEP_MULTIPLY:
        return &report->multiply_s;
    case HY_STEP_FINISH:
        return &report->finish_s;
    case HY_STEP_D2H:
        return &report->d2h_s;
    case HY_STEP_PLACE:
        return &report->place_s;
    case HY_STEP_RESERVE:
    case HY_STEPS:
        break;
    }
    return NULL;
}

/* Emits the event, with the device memory that is in use now: of the event's device, or
   of the run's first device if the event is the host's. */
static void emit(const hy_tracer *tracer, const hy_site *site, hybrid_event *event)
{
    const hy_backend *backend = hy_site_in_place(site) ? tracer->backend : site->backend;

    if (!tracer->to.fn)
        return;
    event->pass         = tracer->to.pass;
    event->device_bytes = hy_meter_used(&backend->device);
    event->host_bytes   = hy_meter_used(&backend->ctx->memory.meter);
    tracer->to.fn(tracer->to.user, event);
}

/* Returns 1 if the host computed the chunk as its share of a device's product. */
static int is_hosts_part(const hy_tracer *tracer, const hy_slot *slot)
{
    return slot->site->backend != tracer->backend && hy_site_in_place(slot->site);
}

/* Returns the time, as from hy_now_ns(), at which the device had computed the chunk. */
static int64_t computed_ns(const hy_slot *slot)
{
    const int finished  = slot->passage[HY_STEP_FINISH].done;
    const hy_step last  = finished ? HY_STEP_FINISH : HY_STEP_MULTIPLY;
    const hy_mark *mark = slot->passage[last].end;
    return slot->site->backend->ops->mark_ns(mark);
}

/* Sets begin and end of a copy to the host whose marks have no times. The copy begins
   when the chunk is computed and the copy before has ended. It ends when the host has
   seen its end or, with delta-coded columns, when columns and values are stored. */
static void time_down(const hy_slot *slot, hybrid_event *event)
{
    const int64_t computed = computed_ns(slot), before = slot->site->down_ns;
    const int64_t end =
        slot->job.decodes ? slot->passage[HY_STEP_PLACE].end_ns : slot->seen_ns;

    event->begin_ns     = computed > before ? computed : before;
    event->end_ns       = end > event->begin_ns ? end : event->begin_ns;
    slot->site->down_ns = event->end_ns;
}

/* ---- bytes ------------------------------------------------------------------------- */

static int64_t bytes_of(const hy_slot *slot, hy_step step)
{
    return slot->passage[step].done ? slot->passage[step].bytes : 0;
}

/* Returns the bytes of the result that are stored and, if beta is not 0, read before. */
static int64_t result_bytes(const hy_slot *slot, int64_t stored)
{
    return slot->sink->reads ? 2 * stored : stored;
}

/* Returns the bytes of rows of A that the host reads in place, and of the rows of Y if
   the variant stores Y itself. */
static int64_t bytes_in_place(const hy_slot *slot)
{
    const hy_problem *problem = slot->job.problem;
    const hybrid_csr *A       = problem->A;
    const hy_chunk *chunk     = slot->job.chunk;
    const hy_features *f      = &chunk->features;
    const int64_t size        = (int64_t)hy_value_size(A->type);
    const int64_t offset      = A->offset_type == HYBRID_I64 ? 8 : 4;
    const int64_t cols =
        slot->job.variant->in_place ? chunk->col_end - chunk->col_begin : 0;
    const int64_t stored = f->rows * cols * size;

    return f->rows * offset + f->nnz * (4 + size) + result_bytes(slot, stored);
}

/* Returns the bytes that the chunk moves in device memory: the pack as it arrives, or as
   it is read if it is cached; the result as it is written; the result again as it is
   copied to the host. */
static int64_t bytes_on_device(const hy_slot *slot)
{
    const int64_t reused = slot->job.reused ? (int64_t)slot->job.pack.bytes : 0;
    const int64_t down   = bytes_of(slot, HY_STEP_D2H);

    return bytes_of(slot, HY_STEP_H2D) + reused + down + hy_delta_columns_saved(slot) +
           down;
}

/* ---- one stage -------------------------------------------------------------------- */

/* Returns the bytes that the stage moves over the bus or in host memory. */
static int64_t stage_bytes(const hy_slot *slot, hy_step step)
{
    if (step == HY_STEP_MULTIPLY && hy_site_in_place(slot->site))
        return bytes_in_place(slot);
    return slot->passage[step].bytes;
}

/* Makes the fields that the events of a stage have in common. */
static hybrid_event event_of(const hy_slot *slot, const hy_stage *stage)
{
    const hy_chunk *chunk = slot->job.chunk, *rows = &slot->piece;
    const hy_problem *problem = slot->job.problem;
    hybrid_event event        = {.stage     = stage->name,
                                 .variant   = chunk->variant->name,
                                 .chunk     = chunk->id,
                                 .row_begin = hy_row_of(problem, rows->row_begin),
                                 .row_end   = hy_row_of(problem, rows->row_end - 1) + 1,
                                 .bytes     = stage_bytes(slot, stage->step),
                                 .parts     = 1};

    /* pieces compute again what was computed when the result of the chunk had no room */
    if (stage->step == HY_STEP_MULTIPLY &&
        slot->job.rows_before + slot->job.rows_after == 0)
        event.flops = 2 * (chunk->features.products - slot->job.pass.carried);
    return event;
}

/* Returns the resource that bounds a stage on a lane of the device. */
static hybrid_resource lane_bound(const hy_slot *slot, hy_where where)
{
    if (where == HY_ON_IN)
        return HYBRID_BUS_UP;
    return where == HY_ON_OUT && !slot->sink->ops->land ? HYBRID_BUS_DOWN : HYBRID_DEVICE;
}

/* Emits the single event of a stage on a lane of the device, and returns its seconds. */
static double trace_lane(const hy_tracer *tracer, const hy_slot *slot,
                         const hy_stage *stage)
{
    const hy_backend_ops *ops = slot->site->backend->ops;
    const hy_passage *passage = &slot->passage[stage->step];
    hybrid_event event        = event_of(slot, stage);

    event.lane  = hy_slot_lane(slot, stage->where)->name;
    event.bound = lane_bound(slot, stage->where);
    if (passage->untimed && stage->where == HY_ON_OUT) {
        time_down(slot, &event);
    } else if (!passage->untimed) {
        /* both times stay 0 if the stage is untimed, because nothing was copied then */
        event.begin_ns = ops->mark_ns(passage->begin);
        event.end_ns   = ops->mark_ns(passage->end);
    }
    emit(tracer, slot->site, &event);
    return (double)(event.end_ns - event.begin_ns) * 1e-9;
}

/* ---- the threads that worked on a stage -------------------------------------------- */

/* Sums for dividing the work of a stage among its threads in proportion to their
   times. */
typedef struct shares {
    int64_t all_ns, ns; /* times of all threads, and times of the threads that have
                           received their share */
    int64_t bytes, flops;
} shares;

/* Returns the thread's share of `count`: the difference of two cumulative shares, so that
   shares add up to the whole. */
static int64_t share_of(int64_t count, const shares *s, int64_t ns)
{
    const double all = (double)hy_max(s->all_ns, 1);
    const double to = (double)(s->ns + ns) / all, from = (double)s->ns / all;

    return (int64_t)((double)count * to) - (int64_t)((double)count * from);
}

/* Returns HYBRID_HOST_MEMORY if the thread moved more than half of the bytes that each
   worker can move while all workers are busy, else HYBRID_CORES. */
static hybrid_resource worker_bound(const hy_tracer *tracer, const hybrid_event *event)
{
    const double s = (double)(event->end_ns - event->begin_ns) * 1e-9;

    return 2 * (double)event->bytes > tracer->to.worker_Bps * s ? HYBRID_HOST_MEMORY
                                                                : HYBRID_CORES;
}

static void trace_work(const hy_tracer *tracer, const hy_slot *slot, const hy_work *work,
                       shares *all, hybrid_event *event)
{
    const int64_t ns = work->end_ns - work->begin_ns;

    event->lane     = hy_pool_worker_name(slot->site->ctx->pool, work->worker);
    event->begin_ns = work->begin_ns;
    event->end_ns   = work->end_ns;
    event->bytes    = share_of(all->bytes, all, ns);
    event->flops    = share_of(all->flops, all, ns);
    event->bound    = worker_bound(tracer, event);
    all->ns += ns;
    emit(tracer, slot->site, event);
    event->part++;
}

static void trace_workers(const hy_tracer *tracer, const hy_slot *slot,
                          const hy_stage *stage)
{
    const hy_work_log *log = &slot->log;
    hybrid_event event     = event_of(slot, stage);
    shares all             = {.bytes = event.bytes, .flops = event.flops};

    event.parts = 0;
    for (int64_t i = 0; i < log->count; i++)
        if (log->of[i].stage == (int)stage->step) {
            all.all_ns += log->of[i].end_ns - log->of[i].begin_ns;
            event.parts++;
        }
    /* goes backwards, because the thread that began the stage ends last: it waits for its
       helpers */
    for (int64_t i = log->count - 1; i >= 0; i--)
        if (log->of[i].stage == (int)stage->step)
            trace_work(tracer, slot, &log->of[i], &all, &event);
}

/* Returns the seconds from the first thread's begin to the last thread's end in the
   stage. */
static double stage_s(const hy_slot *slot, const hy_stage *stage)
{
    const hy_backend_ops *ops = slot->site->backend->ops;
    const hy_passage *passage = &slot->passage[stage->step];

    if (stage->where < HY_LANES && passage->begin)
        return (double)(ops->mark_ns(passage->end) - ops->mark_ns(passage->begin)) * 1e-9;
    return (double)(passage->end_ns - passage->begin_ns) * 1e-9;
}

static void trace_stage(const hy_tracer *tracer, const hy_slot *slot,
                        const hy_stage *stage)
{
    const int on_lane = stage->where < HY_LANES;
    double *sum       = on_lane && is_hosts_part(tracer, slot)
                            ? &tracer->report->host_s
                            : report_field(tracer->report, stage->step);

    if (on_lane && !hy_site_in_place(slot->site)) {
        *sum += trace_lane(tracer, slot, stage);
        return;
    }
    *sum += stage_s(slot, stage);
    if (tracer->to.fn)
        trace_workers(tracer, slot, stage);
}

/* ---- a chunk ------------------------------------------------------------------- */

static void count_bytes(hybrid_report *report, const hy_slot *slot)
{
    report->h2d_bytes += bytes_of(slot, HY_STEP_H2D);
    report->d2h_bytes += bytes_of(slot, HY_STEP_D2H);
    report->host_bytes += bytes_of(slot, HY_STEP_PREPARE) +
                          result_bytes(slot, bytes_of(slot, HY_STEP_PLACE));
    if (hy_site_in_place(slot->site))
        report->host_bytes += bytes_in_place(slot);
    else
        report->device_bytes += bytes_on_device(slot);
}

hybrid_status hy_trace_slot(const hy_tracer *tracer, const hy_slot *slot)
{
    count_bytes(tracer->report, slot);
    if (is_hosts_part(tracer, slot)) {
        tracer->report->host_chunks++;
        tracer->report->host_products += slot->claim.chunk.features.products;
    }
    for (const hy_stage *s = slot->stages; s->name; s++)
        if (slot->passage[s->step].done && s->where != HY_ON_DRIVER)
            trace_stage(tracer, slot, s);
    if (slot->log.status == HYBRID_NO_MEMORY)
        return hy_memory_full(slot->site->ctx, "the trace of a chunk",
                              2 * slot->log.room * (int64_t)sizeof(hy_work), "");
    return slot->log.status;
}

/* Reports the copies of B or X that the site's device received from other devices. */
static void trace_peer(const hy_tracer *tracer, const hy_site *site)
{
    const hy_load_times *times = &site->loader->times;
    hybrid_event event         = {.stage    = "peer",
                                  .variant  = "",
                                  .lane     = hy_lane_name(HY_NAME_PEER, site->backend->index),
                                  .chunk    = -1,
                                  .begin_ns = times->peer_begin_ns,
                                  .end_ns   = times->peer_end_ns,
                                  .bytes    = times->peer_bytes,
                                  .parts    = 1,
                                  .bound    = HYBRID_DEVICE};

    if (times->peer_bytes == 0)
        return;
    tracer->report->device_bytes += 2 * times->peer_bytes;
    emit(tracer, site, &event);
}

void hy_trace_load(const hy_tracer *tracer, const hy_site *site)
{
    const hy_load_times *times = &site->loader->times;
    hybrid_event event         = {.stage    = "load",
                                  .variant  = "",
                                  .lane     = hy_lane_name(HY_NAME_LOAD, site->backend->index),
                                  .chunk    = -1,
                                  .begin_ns = times->begin_ns,
                                  .end_ns   = times->end_ns,
                                  .bytes    = times->bytes,
                                  .parts    = 1,
                                  .bound    = HYBRID_BUS_UP};

    tracer->report->load_s += (double)times->busy_ns * 1e-9;
    tracer->report->h2d_bytes += times->bytes;
    tracer->report->host_bytes += times->ring_bytes;
    tracer->report->device_bytes += times->bytes;
    emit(tracer, site, &event);
    trace_peer(tracer, site);
}
