/* pipeline/run/run.c - one product on one or more sites. */
#include "pipeline/run/run.h"

#include <string.h>

#include "pipeline/run/driver.h"
#include "pipeline/run/on_device.h"
#include "pipeline/sink/transposed.h"

/* ---- begin ----------------------------------------------------------------------- */

static void add_site(hy_run *run, hy_site *site, const hy_problem *problem)
{
    if (run->sink->in_order) { /* all sites claim from one front, so no site has a range
                                  of its own */
        site->begin = 0;
        site->end   = problem->A->rows;
    }
    hy_queue_add(&run->queue, site);
    site->run   = run;
    site->begun = site->next_lane = site->finished = 0;
    site->problem                                  = *problem;
    site->problem.image                            = site->image;
    if (site->loader)
        site->problem.image_memory = site->loader->image_memory;
    site->gathering       = *problem;
    site->gathering.image = hy_image_gathered(&site->image);
    site->down_ns         = 0;
    hy_pack_cache_begin(&site->cache);
}

static void begin_run(hy_run *run, const hy_sites *sites, const hy_problem *problem,
                      hy_sink *sink)
{
    run->ctx           = problem->ctx;
    run->sink          = sink;
    run->reserved_rows = run->reserved = run->stored = 0;
    run->status                                      = HYBRID_OK;
    run->stopped                                     = 0;
    hy_queue_open(&run->queue, problem->profile, sink->in_order);
    for (int i = 0; i < sites->count; i++)
        add_site(run, sites->of[i], problem);
    run->refine = (hy_refine){.count = 0};
    if (!hy_site_by_caller(sites->of[0]))
        hy_inbox_open(&run->inbox, &run->ctx->progress, run->ctx->pool,
                      hy_pool_leaves_cores(run->ctx->pool));
}

static void begin_refining(hy_run *run)
{
    const hybrid_status status =
        hy_refine_begin(&run->refine, &run->queue, &run->inbox, &run->stopped);

    if (status != HYBRID_OK)
        hy_run_stop(run, status);
}

/* Enqueues the copies that kernels need of operands in device memory. */
static hybrid_status begin_on_device(hy_site *site)
{
    if (hy_site_in_place(site))
        return HYBRID_OK;
    return hy_on_device_begin(site->lane_set->lanes[HY_ON_IN], &site->converted,
                              &site->problem);
}

/* Prepares the site for transposing X and Y and for operands in device memory, then
   begins to load B or X if the site has a loader. */
static hybrid_status begin_load(hy_run *run, hy_site *site)
{
    hy_loader *loader = site->loader;
    const size_t room = site->transposed.room;

    HY_TRY(hy_transposed_begin(site, &site->problem, run->sink));
    if (site->list.count > 0) /* only a site with chunks of its own needs copies of
                                 operands in device memory */
        HY_TRY(begin_on_device(site));
    return loader ? hy_loader_start(loader, &site->problem, hy_site_passed(site),
                                    &run->inbox, run->tracer.to.fn != NULL, room)
                  : HYBRID_OK;
}

/* Lets devices that load the same image share the copies from host memory. */
static void begin_relay(hy_run *run)
{
    hy_relay_open(&run->relay);
    for (int i = 0; i < run->queue.count; i++) {
        const hy_site *site = run->queue.of[i];
        if (site->loader)
            hy_relay_add(&run->relay, site->loader, &site->image);
    }
    const hybrid_status status = hy_relay_begin(&run->relay);
    if (status != HYBRID_OK)
        hy_run_stop(run, status);
}

static void begin_loads(hy_run *run)
{
    begin_relay(run);
    for (int i = 0; i < run->queue.count && !run->stopped; i++) {
        const hybrid_status status = begin_load(run, run->queue.of[i]);
        if (status != HYBRID_OK)
            hy_run_stop(run, status);
    }
}

/* ---- end ------------------------------------------------------------------------- */

/* Finishes all loaders and the relay, when no chunk needs more of B or X. */
static void finish_loads(hy_run *run)
{
    for (int i = 0; i < run->queue.count; i++) {
        const hy_site *site = run->queue.of[i];
        if (!site->loader)
            continue;
        const hybrid_status status = hy_loader_finish(site->loader);
        if (status != HYBRID_OK)
            hy_run_stop(run, status);
        else
            hy_trace_load(&run->tracer, site);
    }
    hy_relay_close(&run->relay);
}

static void end_run(hy_run *run)
{
    for (int i = 0; run->stopped && i < run->queue.count; i++)
        hy_site_drain(run->queue.of[i]);
    if (!run->stopped)
        run->tracer.report->chunks = run->queue.claimed;
    if (!run->stopped && run->refine.count > 0)
        run->tracer.report->flops = 2 * run->refine.products;
    hy_refine_end(&run->refine);
    for (int i = 0; i < run->queue.count; i++)
        hy_pack_cache_end(&run->queue.of[i]->cache, run->status,
                          run->queue.of[i]->ceded > 0);
    if (!hy_site_by_caller(run->queue.of[0]))
        hy_inbox_destroy(&run->inbox);
}

/* Finishes the sink if the run has succeeded, else, or if finishing fails, aborts it. */
static hybrid_status end_sink(hy_sink *sink, hybrid_status status)
{
    if (status == HYBRID_OK)
        status = sink->ops->finish(sink);
    if (status != HYBRID_OK)
        sink->ops->abort(sink);
    return status;
}

/* ---- the sites --------------------------------------------------------------------- */

/* Lets sites allocate the device memory again that they gave back while they were
   idle. */
static hybrid_status wake_sites(const hy_sites *sites)
{
    for (int i = 0; i < sites->count; i++)
        HY_TRY(hy_site_work(sites->of[i]));
    return HYBRID_OK;
}

static void rest_sites(const hy_sites *sites, hybrid_status status)
{
    for (int i = 0; i < sites->count; i++)
        hy_site_rest(sites->of[i], status);
}

static hybrid_status run_sites(const hy_sites *sites, const hy_problem *problem,
                               hy_sink *sink, const hy_listener *listener,
                               hybrid_report *report)
{
    const hy_site *first = sites->of[0];
    hy_pool *pool        = first->ctx->pool;
    hy_run run;

    if (hy_site_in_place(first)) /* no device waits for the cores on which reserve workers
                                    would run */
        hy_pool_call_reserve(pool);
    begin_run(&run, sites, problem, sink);
    run.tracer =
        (hy_tracer){.to = *listener, .report = report, .backend = first->backend};
    begin_refining(&run);
    begin_loads(&run);
    hy_drive(&run);
    finish_loads(&run);
    end_run(&run);
    if (hy_site_in_place(first))
        hy_pool_dismiss_reserve(pool);
    report->host_bytes += sink->own_bytes;
    if (run.status == HYBRID_OK) /* last chance to cancel the call: next, the sink hands
                                    out the result */
        run.status = hy_progress_check(&first->ctx->progress);
    return run.status;
}

hybrid_status hy_run_product(const hy_sites *sites, const hy_problem *problem,
                             hy_sink *sink, const hy_listener *listener,
                             hybrid_report *report)
{
    hybrid_status status = wake_sites(sites);

    if (status == HYBRID_OK)
        status = run_sites(sites, problem, sink, listener, report);
    rest_sites(sites, status);
    return end_sink(sink, status);
}
