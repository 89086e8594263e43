/* pipeline/trace.c - what the stages of a finished chunk become: events and sums. */
#include "pipeline/trace.h"

#include "base/csr.h"
#include "pipeline/packed.h"
#include "pipeline/site.h"

/* The field of the report that a step's busy time is added to. */
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

/* Of the host's part: the memory of the run's first device. */
static void emit(const hy_tracer *tracer, const hy_site *site, hybrid_event *event)
{
    const hy_backend *backend = hy_site_in_place(site) ? tracer->backend : site->backend;

    if (!tracer->fn)
        return;
    event->device_bytes = hy_meter_used(&backend->device);
    event->host_bytes =
        hy_meter_used(&backend->ctx->memory.meter) + hy_meter_used(&backend->pinned);
    tracer->fn(tracer->user, event);
}

/* Whether the host computed it as its part of a device's product. */
static int is_hosts_part(const hy_tracer *tracer, const hy_slot *slot)
{
    return slot->site->backend != tracer->backend && hy_site_in_place(slot->site);
}

/* When the chunk was computed. */
static int64_t computed_ns(const hy_slot *slot)
{
    const int finished  = slot->passage[HY_STEP_FINISH].done;
    const hy_step last  = finished ? HY_STEP_FINISH : HY_STEP_MULTIPLY;
    const hy_mark *mark = slot->passage[last].end;
    return slot->site->backend->ops->mark_ns(mark);
}

/* A copy down without times: from when the chunk was computed, and the copy before was
   over, until the host saw the end; of columns that were unpacked meanwhile and of
   values, until they were in their place. */
static void time_down(const hy_slot *slot, hybrid_event *event)
{
    const int64_t computed = computed_ns(slot), before = slot->site->down_ns;
    const int64_t end =
        slot->job.unpacks ? slot->passage[HY_STEP_PLACE].end_ns : slot->seen_ns;

    event->begin_ns     = computed > before ? computed : before;
    event->end_ns       = end > event->begin_ns ? end : event->begin_ns;
    slot->site->down_ns = event->end_ns;
}

static void trace_stage(const hy_tracer *tracer, const hy_slot *slot,
                        const hy_stage *stage)
{
    const hy_backend_ops *ops = slot->site->backend->ops;
    const hy_passage *passage = &slot->passage[stage->step];
    const hy_chunk *chunk     = slot->job.chunk;
    const hy_problem *problem = slot->job.problem;
    const int on_lane         = stage->where < HY_LANES;
    const int hosts           = is_hosts_part(tracer, slot);
    hybrid_event event        = {.stage     = stage->name,
                                 .variant   = chunk->variant->name,
                                 .chunk     = chunk->id,
                                 .row_begin = hy_row_of(problem, chunk->row_begin),
                                 .row_end   = hy_row_of(problem, chunk->row_end - 1) + 1,
                                 .bytes     = passage->bytes};

    if (on_lane && passage->untimed && stage->where == HY_ON_OUT) {
        time_down(slot, &event);
    } else if (on_lane && passage->untimed) {
        event.begin_ns = event.end_ns = 0; /* nothing was copied */
    } else if (on_lane && passage->begin) {
        event.lane     = hosts ? "host" : hy_slot_lane(slot, stage->where)->name;
        event.begin_ns = ops->mark_ns(passage->begin);
        event.end_ns   = ops->mark_ns(passage->end);
    } else {
        event.lane     = hy_pool_worker_name(slot->site->ctx->pool, passage->worker);
        event.begin_ns = passage->begin_ns;
        event.end_ns   = passage->end_ns;
    }
    if (stage->step == HY_STEP_MULTIPLY)
        event.flops = 2 * chunk->features.products;
    *(on_lane && hosts ? &tracer->report->host_s
                       : report_field(tracer->report, stage->step)) +=
        (double)(event.end_ns - event.begin_ns) * 1e-9;
    emit(tracer, slot->site, &event);
}

static int64_t bytes_of(const hy_slot *slot, hy_step step)
{
    return slot->passage[step].done ? slot->passage[step].bytes : 0;
}

/* Bytes of the result that are stored and, if it is added to, read before. */
static int64_t result_bytes(const hy_slot *slot, int64_t stored)
{
    return slot->sink->reads ? 2 * stored : stored;
}

/* Rows of A that the host computes with, where they are; and of Y if it stores these. */
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

/* On the device: up written, what stayed read, the result written, and read as it goes
   down. */
static int64_t bytes_on_device(const hy_slot *slot)
{
    const int64_t there = slot->job.there ? (int64_t)slot->job.pack.bytes : 0;
    const int64_t down  = bytes_of(slot, HY_STEP_D2H);

    return bytes_of(slot, HY_STEP_H2D) + there + down + hy_packed_saved(slot) + down;
}

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

void hy_trace_slot(const hy_tracer *tracer, const hy_slot *slot)
{
    count_bytes(tracer->report, slot);
    if (is_hosts_part(tracer, slot)) {
        tracer->report->host_chunks++;
        tracer->report->host_products += slot->claim.chunk.features.products;
    }
    for (const hy_stage *s = slot->stages; s->name; s++)
        if (slot->passage[s->step].done && s->where != HY_ON_DRIVER)
            trace_stage(tracer, slot, s);
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
                                  .bytes    = times->bytes};

    tracer->report->load_s += (double)times->busy_ns * 1e-9;
    tracer->report->h2d_bytes += times->bytes;
    tracer->report->host_bytes += times->ring_bytes;
    tracer->report->device_bytes += times->bytes;
    emit(tracer, site, &event);
}
