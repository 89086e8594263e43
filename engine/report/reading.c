/* engine/report/reading.c - tells the caller's trace what happened outside runs. */
#include "engine/report/reading.h"

void hy_tell_reading(const hybrid_engine *engine, const hy_reading *r)
{
    if (r->begin_ns == 0 || !engine->trace)
        return;
    const hybrid_event event = {.stage      = "read",
                                .variant    = "",
                                .lane       = r->lane,
                                .chunk      = -1,
                                .row_begin  = r->row_begin,
                                .row_end    = r->row_end,
                                .begin_ns   = r->begin_ns,
                                .end_ns     = r->end_ns,
                                .bytes      = r->bytes,
                                .host_bytes = hy_meter_used(&engine->ctx.memory.meter),
                                .parts      = 1,
                                .pass       = engine->passes,
                                .bound      = HYBRID_RESOURCES};
    engine->trace(engine->trace_user, &event);
}

void hy_tell_pinning(const hybrid_engine *engine, const hy_site *site)
{
    const size_t ring = site->loader ? site->loader->ring.buffer.bytes : 0;

    if (!engine->trace || hy_site_in_place(site))
        return;
    const hybrid_event event = {.stage   = "pin",
                                .variant = "",
                                .lane  = hy_lane_name(HY_NAME_PIN, site->backend->index),
                                .chunk = -1,
                                .begin_ns     = site->pin_begin_ns,
                                .end_ns       = site->pin_end_ns,
                                .bytes        = (int64_t)(site->pinned.bytes + ring),
                                .device_bytes = hy_meter_used(&site->backend->device),
                                .host_bytes   = hy_meter_used(&engine->ctx.memory.meter),
                                .parts        = 1,
                                .pass         = engine->passes,
                                .bound        = HYBRID_RESOURCES};
    engine->trace(engine->trace_user, &event);
}
