/* engine/api/idle.c - frees pooled memory that no call uses. */
#include "engine/api/engine.h"

#include "base/data/min_max.h"
#include "base/memory/results.h"
#include "pipeline/site/lane_set.h"
#include "pipeline/site/tenant.h"

void hy_idle_free_workspaces(const hybrid_engine *engine, int64_t since)
{
    if (engine->host->ops->trim_scratch)
        engine->host->ops->trim_scratch(engine->host, since);
}

/* Frees the pooled memory that was allocated in call number `since` (hy_context.call) or
   later; 0: all. All lanes must be idle. */
static void give_back(hybrid_engine *engine, int64_t since)
{
    hy_lane_sets_trim(&engine->ctx, since);
    engine->host->ops->trim(engine->host, since);
    hy_idle_free_workspaces(engine, since);
    for (int i = 0; i < engine->device_count; i++)
        engine->devices[i]->ops->trim(engine->devices[i], since);
}

void hy_idle_undo(hybrid_engine *engine)
{
    give_back(engine, engine->ctx.call);
    hy_results_undo(&engine->ctx);
}

void hybrid_engine_trim(hybrid_engine *engine)
{
    if (!engine || hy_engine_barred(engine))
        return;
    give_back(engine, 0);
    hy_results_trim(&engine->ctx);
}

void hy_idle_relieve(hy_context *ctx)
{
    hybrid_engine *engine = (hybrid_engine *)ctx;
    hy_backend *host      = engine->host;

    if (!host)
        return;
    pthread_mutex_lock(&ctx->relief_lock);
    hy_tenants_leave(host);
    host->ops->trim(host, 0);
    for (int i = 0; i < engine->device_count; i++) /* pooled pinned memory */
        engine->devices[i]->ops->trim(engine->devices[i], 0);
    pthread_mutex_unlock(&ctx->relief_lock);
}

int64_t hy_idle_host_left(const hybrid_engine *engine)
{
    const hy_meter *meter = &engine->ctx.memory.meter;
    const int64_t cap     = hy_meter_cap(meter);

    if (cap == 0)
        return INT64_MAX;
    return hy_max(0, cap - hy_meter_used(meter) +
                         hy_results_pooled_bytes(engine->ctx.results));
}
