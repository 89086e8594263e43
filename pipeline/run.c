/* pipeline/run.c - one product on one or two sites. */
#include "pipeline/run.h"

#include <string.h>

#include "pipeline/driver.h"
#include "pipeline/turned.h"

static void add_side(hy_run *run, hy_site *site)
{
    if (!site)
        return;
    run->sides[run->side_count++] = (hy_side){.run = run, .site = site};
    hy_pack_cache_begin(&site->cache);
}

static void begin_run(hy_run *run, const hy_sites *sites, const hy_chunk_list *list,
                      const hy_problem *problem, hy_sink *sink)
{
    memset(run, 0, sizeof *run);
    run->ctx     = sites->device->ctx;
    run->problem = problem;
    run->sink    = sink;
    add_side(run, sites->device);
    add_side(run, sites->host);
    if (!hy_site_by_caller(sites->device))
        hy_inbox_open(&run->inbox, &run->ctx->progress,
                      hy_pool_leaves_cores(run->ctx->pool));
    hy_queue_open(&run->queue, problem->profile, list, sites->sharing);
    if (problem->image.wraps) /* the host knows no rows in two places */
        run->queue.devices = list->ranges;
}

/* B or X, if the device holds it. */
static void begin_load(hy_run *run)
{
    hy_side *device      = run->sides;
    hy_loader *loader    = device->site->loader;
    const size_t room    = device->site->turned.room;
    hybrid_status status = hy_turned_begin(device->site, run->problem, run->sink);

    if (status == HYBRID_OK && loader)
        status = hy_loader_start(loader, run->problem, hy_side_passed(device),
                                 &run->inbox, run->tracer.fn != NULL, room);
    if (status != HYBRID_OK)
        hy_run_stop(run, status);
}

/* No chunk needs more of B or X. */
static void finish_load(hy_run *run)
{
    hy_loader *loader = run->sides->site->loader;

    if (!loader)
        return;
    const hybrid_status status = hy_loader_finish(loader);
    if (status != HYBRID_OK)
        hy_run_stop(run, status);
    else
        hy_trace_load(&run->tracer, &loader->times);
}

static void end_run(hy_run *run)
{
    for (int i = 0; run->stopped && i < run->side_count; i++)
        hy_site_drain(run->sides[i].site);
    if (!run->stopped)
        run->tracer.report->chunks = run->queue.claimed;
    hy_pack_cache_end(&run->sides->site->cache, run->status, run->queue.host_work > 0);
    if (!hy_site_by_caller(run->sides->site))
        hy_inbox_destroy(&run->inbox);
}

/* All parts of the result are there, or it is not to be had. */
static hybrid_status end_sink(hy_sink *sink, hybrid_status status)
{
    if (status == HYBRID_OK)
        status = sink->ops->finish(sink);
    if (status != HYBRID_OK)
        sink->ops->abort(sink);
    return status;
}

hybrid_status hy_run_product(const hy_sites *sites, const hy_chunk_list *list,
                             hy_problem *problem, hy_sink *sink, hybrid_trace_fn trace,
                             void *user, hybrid_report *report)
{
    const hy_site *first = sites->device;
    hy_pool *pool        = first->ctx->pool;
    hy_run run;

    if (hy_site_in_place(first)) /* no device is to be fed */
        hy_pool_call_reserve(pool);
    if (first->loader)
        problem->shared = first->loader->shared;
    begin_run(&run, sites, list, problem, sink);
    run.tracer = (hy_tracer){
        .fn = trace, .user = user, .report = report, .backend = first->backend};
    begin_load(&run);
    hy_drive(&run);
    finish_load(&run);
    end_run(&run);
    if (hy_site_in_place(first))
        hy_pool_dismiss_reserve(pool);
    report->host_bytes += sink->own_bytes;
    if (run.status == HYBRID_OK) /* else the result would be handed out all the same */
        run.status = hy_progress_check(&first->ctx->progress);
    return end_sink(sink, run.status);
}
